"""Prompts of well-known models, by the names that servers give them."""

import pytest

from sat_retriever.encoder.served import Prompts, prompts_of

PASSAGES = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("model", "query", "sheet"),
    [
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("nomic-embed-text-v2-moe:latest", "search_query: ", "search_document: "),
        ("bge-large", PASSAGES, ""),
        ("bge-large:335m", PASSAGES, ""),
        ("hf.co/CompendiumLabs/bge-base-en-v1.5-gguf:Q8_0", PASSAGES, ""),
        ("mxbai-embed-large:335m", PASSAGES, ""),
        ("snowflake-arctic-embed:33m", PASSAGES, ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("jeffh/intfloat-multilingual-e5-large:f16", "query: ", "passage: "),
        ("embeddinggemma:300m", "task: search result | query: ", "title: none | text: "),
    ],
)
def test_a_model_gets_the_prompts_of_its_card(model, query, sheet):
    assert prompts_of(model) == Prompts(query, sheet)


@pytest.mark.parametrize("model", ["bge-m3", "all-minilm:33m", "granite-embedding", "mine"])
def test_other_models_get_none(model):
    assert prompts_of(model) == Prompts()


def test_an_instruction_is_given_to_queries_of_models_that_follow_one():
    found = prompts_of("hf.co/Qwen/Qwen3-Embedding-0.6B-GGUF:Q8_0")
    assert found.query.startswith("Instruct: ")
    assert found.query.endswith("\nQuery:")
    assert found.sheet == ""
