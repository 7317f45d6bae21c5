"""The lower bound against how tokenizers of language models cut texts into pieces."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

from sat_retriever.evaluation.llm.prompt import fewest_tokens, prompt_of

# What byte-level tokenizers never join: Qwen cuts every digit off, Llama 3 groups of three.
_CUTS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,{digits}}}"
    r"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
names = st.text(st.characters(codec="utf-8", categories=["L", "Nd", "P", "S", "Zs"]), max_size=30)


def pieces(text, digits):
    split = Split(Regex(_CUTS.format(digits=digits)), behavior="isolated")
    return len(split.pre_tokenize_str(text))


@pytest.mark.parametrize("digits", [1, 3])
@given(texts=st.lists(names, min_size=1, max_size=5), query=names)
@example(texts=["Stock_Market__Stock_2025-06_Q1_source", "a (b) [c] ##"], query="what's in __x?")
def test_no_prompt_has_fewer_tokens_than_the_bound(digits, texts, query):
    prompt = prompt_of(query, [str(n) for n in range(len(texts))], texts)
    assert fewest_tokens(prompt) <= pieces(prompt, digits)


def test_the_bound_of_usual_names_is_above_half_of_what_tokenizers_make_of_them():
    texts = [f"Finance_Everbright_Securities_{n}-06_target" for n in range(1000, 2000)]
    prompt = prompt_of("q", [str(n) for n in range(1000)], texts)
    assert fewest_tokens(prompt) > 0.5 * pieces(prompt, 1)
