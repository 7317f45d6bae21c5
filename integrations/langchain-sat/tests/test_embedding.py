"""An index in the vectors of LangChain's own embedding model."""

from __future__ import annotations

import asyncio
import pickle

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_sat import SheetGraphReranker, SheetTokenRetriever, retriever_chain

from sat_retriever import EncoderError, SheetIndex
from tests.embedding_models import HashedEmbeddings

QUESTION = "salary of people"


@pytest.fixture
def folder(tmp_path):
    books = tmp_path / "books"
    books.mkdir()
    (books / "people.csv").write_text("Name,Salary\nAda,1\n")
    (books / "rates.csv").write_text("Currency,Rate\nEUR,1\n")
    return books


def ids(documents):
    return [document.id for document in documents]


def test_both_stages_answer_from_it(folder, tmp_path):
    retriever = SheetTokenRetriever.from_paths(
        folder, tmp_path / "a.sat", encoder=HashedEmbeddings()
    )
    with retriever.index as index:
        chain = retriever_chain(retriever, SheetGraphReranker(index=index, top_n=1))
        assert ids(chain.invoke(QUESTION)) == ["people.csv#people"]
        answers = asyncio.run(chain.abatch([QUESTION] * 4))
        assert [ids(each) for each in answers] == [["people.csv#people"]] * 4


def test_opened_by_its_path_alone_it_says_that_it_needs_its_model(folder, tmp_path):
    file = tmp_path / "a.sat"
    made = SheetTokenRetriever.from_paths(folder, file, encoder=HashedEmbeddings())
    with made.index, pytest.raises(EncoderError, match="encoder=OBJECT"):
        pickle.dumps(made)
    copy = SheetTokenRetriever(str(file))
    with copy.index, pytest.raises(EncoderError, match="encoder=OBJECT"):
        copy.invoke(QUESTION)
    with SheetIndex.open(file, HashedEmbeddings()) as index:
        assert ids(SheetTokenRetriever(index, k=1).invoke(QUESTION)) == ["people.csv#people"]


def test_the_frameworks_own_model_encodes_the_sheets(folder, tmp_path):
    model = DeterministicFakeEmbedding(size=24)
    made = SheetTokenRetriever.from_paths(folder, tmp_path / "a.sat", encoder=model)
    with made.index as index:
        assert (index.width, index.encoder_name) == (24, "langchain:DeterministicFakeEmbedding")
        assert ids(made.invoke(QUESTION))[0] == "people.csv#people"  # by its words
