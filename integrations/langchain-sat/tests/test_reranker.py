"""The reranker, alone and behind retrievers."""

import asyncio
import json
import pickle
import threading
from datetime import date

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.load import dumps
from langchain_core.runnables import RunnableLambda
from langchain_sat import SheetGraphReranker, SheetTokenRetriever, retriever_chain

from sat_retriever import (
    EmptyInputError,
    IndexNotFoundError,
    InputError,
    SheetIndex,
    SheetRetriever,
    load_reranker,
)
from tests.fakes import HeldEncoder
from tests.integrations.reads import count_reads
from tests.rank.graph.small_model import save_small_model, small_spec

QUESTION = "total revenue of January by region"
FOREIGN = [
    Document("Revenue of January by region, in total.", metadata={"source": "report.pdf"}, id="7"),
    Document("Weather of the week.", metadata={"source": "web"}),
    Document("name: Lost__Total revenue", metadata={"sheet_id": "Lost.xlsx#Total"}),
    Document("A page with a number.", metadata={"sheet_id": 12}),
]


@pytest.fixture
def documents(index):
    return SheetTokenRetriever(index, k=50).invoke(QUESTION)


@pytest.fixture
def checkpoint(index, tmp_path):
    return save_small_model(tmp_path / "model", small_spec(index))


def ids(found):
    return [document.id for document in found]


def test_sheets_come_in_the_order_of_the_whole_online_path(index, documents):
    expected = SheetRetriever(index).retrieve(QUESTION, 5)
    found = SheetGraphReranker(index).compress_documents(documents, QUESTION)
    assert ids(found) == [hit.sheet_id for hit in expected]
    scores = [each.metadata["relevance_score"] for each in found]
    assert scores == [round(hit.score, 6) for hit in expected]


def test_a_sheet_that_links_lead_to_rises_above_one_of_more_words(index):
    question = "summary of revenue, employee February"
    # February is only a word here.
    index = SheetIndex.open(index.path, index.encoder, times=False)
    before = ids(SheetTokenRetriever(index, k=50).invoke(question))
    found = SheetGraphReranker(index, top_n=50).compress_documents(
        SheetTokenRetriever(index, k=50).invoke(question), question
    )
    month, form = "2024/Sales.xlsx#January", "01/Timesheet.xlsx#Form"
    assert before.index(form) < before.index(month)
    assert ids(found).index(month) < ids(found).index(form)


def test_a_checkpoint_orders_as_the_trained_model_does(index, documents, checkpoint):
    trained = load_reranker(index, checkpoint)
    expected = SheetRetriever(index, trained).retrieve(QUESTION, 4)
    reranker = SheetGraphReranker(index, checkpoint=checkpoint, top_n=4)
    found = reranker.compress_documents(documents, QUESTION)
    assert ids(found) == [hit.sheet_id for hit in expected]


@pytest.mark.parametrize("trained", [False, True])
def test_foreign_documents_are_ranked_among_sheets_and_none_is_lost(
    index, documents, checkpoint, trained
):
    reranker = SheetGraphReranker(index, checkpoint=checkpoint if trained else None, top_n=99)
    mixed = [*FOREIGN, *documents, documents[0]]
    found = reranker.compress_documents(mixed, QUESTION)
    assert sorted(each.page_content for each in found) == sorted(
        each.page_content for each in mixed
    )
    places = {each.page_content: n for n, each in enumerate(found)}
    assert places[FOREIGN[0].page_content] < places[FOREIGN[1].page_content]
    scores = [each.metadata["relevance_score"] for each in found]
    assert scores == sorted(scores, reverse=True)
    assert [each.metadata["rank"] for each in found] == list(range(1, len(mixed) + 1))


def test_top_n_cuts_and_given_documents_stay_as_they_are(index, documents):
    before = pickle.dumps((FOREIGN, documents))
    reranker = SheetGraphReranker(index, top_n=3)
    assert len(reranker.compress_documents([*FOREIGN, *documents], QUESTION)) == 3
    assert pickle.dumps((FOREIGN, documents)) == before
    assert reranker.compress_documents([], QUESTION) == []


async def test_async_gives_the_same_without_blocking_the_event_loop(tmp_path):
    encoder = HeldEncoder()
    with SheetIndex.create(tmp_path / "a.sat", encoder) as own:
        reranker = SheetGraphReranker(own)
        found = await encoder.beside(reranker.acompress_documents(FOREIGN, QUESTION))
        assert found == reranker.compress_documents(FOREIGN, QUESTION)


def test_a_reranker_comes_back_from_its_plain_values(index, documents, checkpoint):
    day = date(2024, 5, 10)
    first = SheetGraphReranker(index, checkpoint=checkpoint, top_n=3, today=day)
    plain = json.loads(first.model_dump_json())
    assert plain == {
        "index": str(index.path),
        "checkpoint": str(checkpoint),
        "principals": None,
        "top_n": 3,
        "today": "2024-05-10",
    }
    for second in (SheetGraphReranker(**plain), pickle.loads(pickle.dumps(first))):
        with second.index:
            assert second.compress_documents(documents, QUESTION) == first.compress_documents(
                documents, QUESTION
            )


def test_what_cannot_be_used_is_refused(index, tmp_path):
    with pytest.raises(IndexNotFoundError):
        SheetGraphReranker(tmp_path / "nowhere.sat")
    with pytest.raises(InputError, match="no folder"):
        SheetGraphReranker(index, checkpoint=tmp_path / "nothing")
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        SheetGraphReranker(index, top_n=0)
    with pytest.raises(EmptyInputError):
        SheetGraphReranker(index).compress_documents(FOREIGN, " ")


def test_a_chain_finds_and_reranks(index):
    chain = retriever_chain(SheetTokenRetriever(index, k=2), SheetGraphReranker(index, top_n=4))
    expected = [hit.sheet_id for hit in SheetRetriever(index).retrieve(QUESTION, 4)]
    assert ids(chain.invoke(QUESTION)) == expected
    assert [ids(each) for each in chain.batch([QUESTION, QUESTION])] == [expected, expected]


async def test_an_async_chain_gives_the_same_however_many_are_asked_at_once(index):
    chain = retriever_chain(SheetTokenRetriever(index), SheetGraphReranker(index))
    questions = [f"{word} {n % 3}" for n, word in enumerate(("revenue", "salary") * 3)]
    serial = [chain.invoke(question) for question in questions]
    assert await asyncio.gather(*map(chain.ainvoke, questions * 4)) == serial * 4


def test_a_chain_takes_as_many_candidates_as_asked_or_trained_on(index, checkpoint, tmp_path):
    five = save_small_model(tmp_path / "five", small_spec(index, candidates=5))
    retriever, reranker = SheetTokenRetriever(index), SheetGraphReranker(index, top_n=99)
    assert len(retriever_chain(retriever, reranker).invoke(QUESTION)) == len(index)
    assert len(retriever_chain(retriever, reranker, candidates=3).invoke(QUESTION)) == 3
    trained = SheetGraphReranker(index, checkpoint=five, top_n=99)
    assert len(retriever_chain(retriever, trained).invoke(QUESTION)) == 5


async def test_what_a_call_names_goes_to_the_retriever(index):
    chain = retriever_chain(SheetTokenRetriever(index), SheetGraphReranker(index))
    only = {"workbook": "Staff.xlsx"}
    assert ids(chain.invoke(QUESTION, filters=only)) == ["Staff.xlsx#People"]
    assert ids(await chain.ainvoke(QUESTION, filters=only)) == ["Staff.xlsx#People"]
    assert len(chain.invoke(QUESTION, k=2)) == 2


def test_a_chain_is_traced_with_its_retriever_inside(index):
    class Listening(BaseCallbackHandler):
        def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **kwargs):
            seen.append(("chain", kwargs.get("name"), parent_run_id, run_id))

        def on_retriever_start(self, serialized, query, *, run_id, parent_run_id=None, **kwargs):
            seen.append(("retriever", kwargs.get("name"), parent_run_id, run_id))

    seen: list = []
    chain = retriever_chain(SheetTokenRetriever(index), SheetGraphReranker(index))
    chain.invoke(QUESTION, {"callbacks": [Listening()]})
    outer, inner = seen
    assert outer[:3] == ("chain", "retriever_chain", None)
    assert inner[:3] == ("retriever", "SheetTokenRetriever", outer[3])


def test_a_chain_takes_any_retriever(index, documents):
    def search(question: str) -> list[Document]:
        return [*FOREIGN, *documents]

    chain = retriever_chain(RunnableLambda(search), SheetGraphReranker(index, top_n=50))
    found = chain.invoke(QUESTION)
    assert len(found) == len(FOREIGN) + len(documents)


def test_langchain_classics_compression_retriever_gives_the_same(index):
    classic = pytest.importorskip(
        "langchain_classic.retrievers.contextual_compression",
        reason="langchain-classic is not installed",
    )
    retriever, reranker = SheetTokenRetriever(index, k=50), SheetGraphReranker(index)
    composed = classic.ContextualCompressionRetriever(
        base_compressor=reranker, base_retriever=retriever
    )
    assert composed.invoke(QUESTION) == retriever_chain(retriever, reranker).invoke(QUESTION)


def test_workbooks_are_opened_for_the_texts_of_kept_documents_alone(index, monkeypatch):
    opened = count_reads(monkeypatch)
    retriever = SheetTokenRetriever(index)
    found = retriever.invoke(QUESTION, k=50)
    assert len(found) == len(index) and not opened
    chain = retriever_chain(retriever, SheetGraphReranker(index, top_n=2))
    kept = chain.invoke(QUESTION)
    assert all(each.page_content for each in kept)
    assert len(opened) == 2
    plain = json.loads(dumps(Document("text")))
    dumped = json.loads(dumps(found[0]))
    assert dumped["id"] == plain["id"]
    assert dumped["kwargs"]["page_content"] == found[0].page_content
    assert len(opened) == 3


async def test_async_calls_read_the_texts_that_are_looked_at_in_their_thread(index, monkeypatch):
    opened = count_reads(monkeypatch)
    retriever = SheetTokenRetriever(index)
    await retriever.ainvoke(QUESTION, k=50)
    assert not opened
    chain = retriever_chain(retriever, SheetGraphReranker(index, top_n=2))
    few = [*await chain.ainvoke(QUESTION), *await retriever.ainvoke(QUESTION, k=3)]
    assert all(each.page_content for each in few)
    assert len(opened) == 5
    assert threading.get_ident() not in opened
