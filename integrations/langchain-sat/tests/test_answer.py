"""The answer chain as LangChain uses it: runs in callbacks, parts, batches, other models."""

import asyncio
from collections import Counter

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel, FakeListLLM
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda
from langchain_sat import sheet_answer_chain

from benchmarks.answers.scriptedmodels import ChatScript
from sat_retriever import EngineSettings, IndexNotFoundError, InputError
from sat_retriever.encoder import SheetEncoder
from tests.builders import LEFT_OUT, messy_index

QUESTION = "revenue in January by region"
RIGHT = "SELECT region, revenue FROM january ORDER BY revenue DESC"
LINES = [RIGHT, "North has most."]


class Runs(BaseCallbackHandler):
    """Names of all runs, and of those that failed."""

    def __init__(self):
        self.started, self.tokens = Counter(), []

    def on_chain_start(self, serialized, inputs, **kwargs):
        self.started[kwargs.get("name")] += 1

    def on_chat_model_start(self, serialized, messages, **kwargs):
        self.started["model"] += 1
        assert kwargs["parent_run_id"]

    def on_llm_new_token(self, token, **kwargs):
        self.tokens.append(token)


def chain(index, lines=LINES, **options):
    return sheet_answer_chain(index, ChatScript(script=[*lines]), **options)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_callbacks_see_the_search_the_query_and_each_call_of_the_model(index, way):
    runs = Runs()
    found = getattr(chain(index), way)(QUESTION, {"callbacks": [runs]})
    answer = asyncio.run(found) if asyncio.iscoroutine(found) else found
    assert answer["answer"] == "North has most."
    assert answer["citations"] == ["2024/Sales.xlsx#January!A2:B3"]
    assert answer["documents"][0].metadata["sheet_id"] == "2024/Sales.xlsx#January"
    assert runs.started == {
        "sheet_answer_chain": 1, "find_sheets": 1, "query_tables": 1, "model": 2,
    }  # fmt: skip


def test_parts_come_as_they_are_known_and_add_up_to_the_answer(index):
    parts = list(chain(index).stream(QUESTION))
    assert list(parts[0]) == ["question", "documents"]
    assert [part["answer"] for part in parts[1:-1]] == ["North ", "has ", "most."]
    assert parts[-1]["kind"] == "sql"
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    assert whole == chain(index).invoke(QUESTION)


def test_events_of_the_framework_name_each_step(index):
    async def names():
        found = chain(index).astream_events(QUESTION, version="v2")
        return [event["name"] async for event in found if event["event"].endswith("_end")]

    assert asyncio.run(names()) == [
        "find_sheets", "ChatScript", "query_tables", "ChatScript", "sheet_answer_chain",
    ]  # fmt: skip


@pytest.mark.parametrize("model", [FakeListLLM, FakeListChatModel])
def test_the_frameworks_own_mock_models_answer(index, model):
    answer = sheet_answer_chain(index, model(responses=LINES)).invoke(QUESTION)
    assert (answer["answer"], answer["kind"]) == ("North has most.", "sql")


def test_it_is_one_part_of_a_longer_chain_and_of_a_batch(index):
    longer = chain(index, LINES * 2) | RunnableLambda(lambda said: said["answer"])
    assert longer.batch([QUESTION, QUESTION], {"max_concurrency": 1}) == ["North has most."] * 2
    text = chain(index).pick("answer") | StrOutputParser()
    assert "".join(text.stream(QUESTION)) == "North has most."


def test_filters_hold_and_wrong_ones_are_refused(index, tmp_path):
    answer = chain(index, ["NO SQL", "41 [1]."], filters={"path": "Staff*"}).invoke(QUESTION)
    assert answer["citations"] == ["Staff.xlsx#People!B2"]
    with pytest.raises(InputError, match="there is no filter"):
        chain(index, filters={"color": "red"})
    with pytest.raises(IndexNotFoundError):
        chain(tmp_path / "none.sat")


def test_an_error_of_the_model_is_the_callers(index):
    def fails(_messages):
        raise ConnectionError("no model")

    with pytest.raises(ConnectionError, match="no model"):
        sheet_answer_chain(index, RunnableLambda(fails)).invoke(QUESTION)


@pytest.mark.parametrize(("totals", "count"), [(False, 7), (True, 9)])
def test_rows_that_are_no_records_are_told_in_note_and_metadata(tmp_path, encoder, totals, count):
    file = messy_index(tmp_path, SheetEncoder.load(encoder))
    lines = ["SELECT count(*) FROM sales", "So many."]
    settings = EngineSettings(totals=totals)
    answer = chain(file, lines, settings=settings).invoke("revenue by region")
    assert answer["result"]["rows"] == [[count]]
    assert (LEFT_OUT in answer["note"]) is not totals
    assert answer["documents"][0].metadata["table_note"].startswith(LEFT_OUT)
