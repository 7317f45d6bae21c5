"""An index in the vectors of LlamaIndex's own embedding model."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.schema import Document, QueryBundle
from llama_index.postprocessor.sat import SheetGraphReranker
from llama_index.retrievers.sat import SheetTokenRetriever

from sat_retriever import SheetIndex
from tests.embedding_models import HashedEmbedding

QUESTION = "salary of the staff"


@pytest.fixture
def file(workbooks, tmp_path):
    path = tmp_path / "own.sat"
    SheetTokenRetriever.from_paths([workbooks], path, encoder=HashedEmbedding()).index.close()
    return path


def sheets(nodes):
    return [node.node.metadata["sheet_id"] for node in nodes]


def test_both_stages_answer_from_it(file):
    with SheetIndex.open(file, HashedEmbedding()) as index:
        found = SheetTokenRetriever(index, similarity_top_k=5).retrieve(QUESTION)
        ranked = SheetGraphReranker(index=index).postprocess_nodes(found, QueryBundle(QUESTION))
    assert sheets(found)[0] == sheets(ranked)[0] == "staff.csv#staff"


def test_async_questions_give_the_same(file):
    with SheetIndex.open(file, HashedEmbedding()) as index:
        retriever = SheetTokenRetriever(index, similarity_top_k=5)

        async def together():
            return await asyncio.gather(*(retriever.aretrieve(QUESTION) for _ in range(4)))

        expected = [(node.node_id, node.score) for node in retriever.retrieve(QUESTION)]
        for nodes in asyncio.run(together()):
            assert [(node.node_id, node.score) for node in nodes] == expected


def test_a_question_that_the_same_model_embedded_is_not_encoded_again(file):
    model = HashedEmbedding()
    with SheetIndex.open(file, model) as index:
        query = QueryBundle("x", embedding=model.get_query_embedding(QUESTION))
        asked = index.encoder.cost.texts
        nodes = SheetTokenRetriever(index).retrieve(query)
        SheetGraphReranker(index).postprocess_nodes(nodes, query)
        assert nodes
        assert index.encoder.cost.texts == asked


def test_the_model_that_embeds_other_documents_encodes_the_sheets(workbooks, tmp_path):
    model = MockEmbedding(embed_dim=16)
    other = VectorStoreIndex.from_documents([Document(text="rates")], embed_model=model)
    made = SheetTokenRetriever.from_paths([workbooks], tmp_path / "mock.sat", encoder=model)
    with made.index:
        assert made.index.width == 16
        assert len(made.retrieve("currency rate")) == 5
    assert len(other.as_retriever().retrieve("rates")) == 1
