"""Sheets in LangChain's own vector stores."""

import asyncio
import uuid

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_sat import (
    SheetEmbeddings,
    SheetGraphReranker,
    SheetTokenRetriever,
    retriever_chain,
    sheet_documents,
)
from langchain_tests.integration_tests import EmbeddingsIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests

from sat_retriever import OWNER, PermissionsError, SheetIndex, SheetRecord
from tests.fakes import HashedEncoder, HeldEncoder

QUESTION = "revenue by region in January"


class Given:
    @property
    def embeddings_class(self) -> type[Embeddings]:
        return SheetEmbeddings

    @property
    def embedding_model_params(self) -> dict:
        return {"encoder": HashedEncoder()}


class TestEmbeddingsUnit(Given, EmbeddingsUnitTests):
    pass


class TestEmbeddings(Given, EmbeddingsIntegrationTests):
    pass


def sheets(documents):
    return [document.metadata["sheet_id"] for document in documents]


@pytest.fixture
def store(index):
    made = InMemoryVectorStore(SheetEmbeddings(index.encoder))
    made.add_documents(list(sheet_documents(index)))
    return made


def test_the_store_finds_sheets_by_meaning_alone(index, store):
    found = store.as_retriever(search_kwargs={"k": 99}).invoke(QUESTION)
    assert sorted(sheets(found)) == sorted(index.sheet_ids())
    tokens = index.encoder.encode_sheets([document.page_content for document in found])
    cosines = tokens @ index.encoder.encode_queries([QUESTION]).ravel()
    assert cosines.tolist() == sorted(cosines.tolist(), reverse=True)


def test_a_document_tells_the_place_that_the_retriever_tells(index, store):
    own = {d.id: d for d in SheetTokenRetriever(index, k=99, content="record").invoke(QUESTION)}
    found = store.as_retriever(search_kwargs={"k": 99}).invoke(QUESTION)
    for document in found:
        twin = own[document.metadata["sheet_id"]]
        assert twin.page_content.endswith(document.page_content)
        shared = document.metadata.keys() & twin.metadata.keys()
        assert {"sheet_id", "citation", "path", "sheet", "columns", "source"} <= shared
        assert all(twin.metadata[key] == document.metadata[key] for key in shared)
        assert not {"words", "links", "period", "confidence"} & document.metadata.keys()


def test_a_reranker_with_the_index_ranks_what_the_store_found(index, store):
    reranker = SheetGraphReranker(index, top_n=3)
    chain = retriever_chain(store.as_retriever(search_kwargs={"k": 99}), reranker)
    own = retriever_chain(SheetTokenRetriever(index), reranker, candidates=99)
    assert sheets(chain.invoke(QUESTION)) == sheets(own.invoke(QUESTION))


def test_ids_are_uuids_as_some_stores_demand_and_the_same_each_time(index, tmp_path):
    documents, again = list(sheet_documents(index)), list(sheet_documents(index))
    ids = [uuid.UUID(document.id) for document in documents]
    assert len(set(ids)) == len(index)
    assert [uuid.UUID(document.id) for document in again] == ids
    with SheetIndex.create(tmp_path / "other.sat", HashedEncoder()) as other:
        other.add_records(index.records(index.sheet_ids()).values())
        assert not {uuid.UUID(document.id) for document in sheet_documents(other)} & set(ids)


def test_another_embedding_model_does_as_well(index):
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
    store.add_documents(list(sheet_documents(index, content="markdown")))
    [found] = store.similarity_search(QUESTION, k=1)
    assert found.metadata["sheet_id"] in index.sheet_ids()
    assert found.page_content.startswith(found.metadata["citation"])


def test_a_store_is_filled_for_an_audience(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records([SheetRecord("sales", "Sales"), SheetRecord("wages", "Wages")])
        index.permit(lambda record: ["*"] if record.sheet_id == "sales" else ["hr"])
        with pytest.raises(PermissionsError, match="say who asks"):
            list(sheet_documents(index))
        for principals, seen in (
            ([], ["sales"]),
            (["hr"], ["sales", "wages"]),
            (OWNER, ["sales", "wages"]),
        ):
            assert sheets(sheet_documents(index, principals=principals)) == seen


def test_embedding_leaves_the_event_loop_free():
    async def embed():
        encoder = HeldEncoder()
        return await encoder.beside(SheetEmbeddings(encoder).aembed_query(QUESTION))

    assert len(asyncio.run(embed())) == 64
