"""The query engine as LlamaIndex uses it: events, callbacks, streams, tools, routers."""

import asyncio
import pickle
from datetime import date

import pytest
from llama_index.core import Settings
from llama_index.core.callbacks import CallbackManager, LlamaDebugHandler
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import BaseQueryEngine, CustomQueryEngine, RouterQueryEngine
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool
from llama_index.core.vector_stores import MetadataFilters
from llama_index.query_engine.sat import SheetQueryEngine

from benchmarks.answers.scriptedmodels import LlmScript
from sat_retriever import (
    EngineSettings,
    Filters,
    IndexNotFoundError,
    InputError,
    LinkReranker,
)
from sat_retriever.encoder import SheetEncoder
from tests.builders import LEFT_OUT, messy_index

QUESTION = "salary of the staff"
RIGHT = "SELECT name, salary FROM staff ORDER BY salary DESC LIMIT 1"
LINES = [RIGHT, "Ada earns 41."]
CITED = "From staff.csv#staff!A2:B2"


def engine(index, lines=LINES, **options):
    return SheetQueryEngine(index, LlmScript([*lines]), **options)


@pytest.mark.parametrize("way", ["query", "aquery"])
def test_the_framework_hears_of_the_question_the_search_and_the_model(index, heard, way):
    debug = LlamaDebugHandler(print_trace_on_end=False)
    asked = engine(index, callback_manager=CallbackManager([debug]))
    found = getattr(asked, way)(QUESTION)
    response = asyncio.run(found) if asyncio.iscoroutine(found) else found
    assert str(response) == f"Ada earns 41.\n\n{CITED}"
    assert response.source_nodes[0].metadata["sheet_id"] == "staff.csv#staff"
    assert response.metadata["result"]["rows"] == [["Ada", 41]]
    assert "hits" not in response.metadata
    told = [n for n in heard.names() if n.startswith(("Query", "Retrieval"))]
    assert told == [
        "QueryStartEvent", "RetrievalStartEvent", "RetrievalEndEvent", "QueryEndEvent",
    ]  # fmt: skip
    assert any("custom_query" in span for span in heard.spans())
    starts = [event.event_type.value for event in debug.get_events() if event.payload]
    assert starts.count("query") == starts.count("retrieve") == 2


def test_a_stream_ends_with_the_sources_and_then_has_the_metadata(index):
    response = engine(index, streaming=True).query(QUESTION)
    assert response.metadata == {}
    assert list(response.response_gen) == ["Ada ", "earns ", "41.", f"\n\n{CITED}"]
    assert response.metadata["kind"] == "sql"
    none = MetadataFilters.from_dicts([{"key": "workbook", "value": "none.xlsx"}])
    nothing = engine(index, [], filters=none, streaming=True).query(QUESTION)
    assert "".join(nothing.response_gen) == "No sheet was found for this question."
    assert nothing.source_nodes == []


def test_the_frameworks_mock_model_gets_the_sheets_and_is_quoted(index):
    response = SheetQueryEngine(index, MockLLM()).query(QUESTION)
    assert response.metadata["kind"] == "text"
    assert "[1] staff.csv#staff!A1:B3" in str(response)


def test_the_model_of_the_settings_is_the_default(index, monkeypatch):
    monkeypatch.setattr(Settings, "_llm", LlmScript([*LINES]))
    assert str(SheetQueryEngine(index).query(QUESTION)).startswith("Ada earns 41.")


def test_a_router_chooses_between_engines(index):
    choice = '[{"choice": 1, "reason": "staff"}]'
    tools = [
        QueryEngineTool.from_defaults(engine(index), name=name, description=f"about {name}")
        for name in ("staff", "sales")
    ]
    llm = LlmScript([choice])
    router = RouterQueryEngine.from_defaults(tools, llm, LLMSingleSelector.from_defaults(llm))
    assert str(router.query(QUESTION)).startswith("Ada earns 41.")


def test_what_is_wrong_is_said_when_it_is_made(index, tmp_path):
    with pytest.raises(IndexNotFoundError):
        engine(tmp_path / "none.sat")
    with pytest.raises(InputError):
        engine(index, filters=MetadataFilters.from_dicts([{"key": "score", "value": 1}]))


def test_an_engine_comes_back_from_a_pickle(index):
    settings = EngineSettings(top_k=2)
    asked = SheetQueryEngine(
        index, MockLLM(max_tokens=7), Filters(format="csv"), reranker="links", settings=settings,
        today=date(2024, 5, 10), principals=["hr"],
    )  # fmt: skip
    again = pickle.loads(pickle.dumps(asked))
    assert (again.settings, again.today, again.llm.max_tokens) == (settings, asked.today, 7)
    first, second = asked.query(QUESTION), again.query(QUESTION)
    assert str(first) == str(second) and first.source_nodes == second.source_nodes
    assert {node.metadata["path"] for node in second.source_nodes} == {"staff.csv"}
    assert again._retriever.index.principals == ("hr",)
    open_reranker = SheetQueryEngine(index, MockLLM(), reranker=LinkReranker())
    with pytest.raises(InputError, match="an open LinkReranker"):
        pickle.dumps(open_reranker)


@pytest.mark.parametrize("base", [BaseQueryEngine, CustomQueryEngine])
def test_the_class_has_the_bases_of_its_kind(base):
    names_of_base_classes = [each.__name__ for each in SheetQueryEngine.__mro__]
    assert base.__name__ in names_of_base_classes


@pytest.mark.parametrize(("totals", "count"), [(False, 7), (True, 9)])
def test_rows_that_are_no_records_are_told_in_answer_and_metadata(tmp_path, encoder, totals, count):
    file = messy_index(tmp_path, SheetEncoder.load(encoder))
    lines = ["SELECT count(*) FROM sales", "So many."]
    settings = EngineSettings(totals=totals)
    response = engine(file, lines, settings=settings).query("revenue by region")
    assert response.metadata["result"]["rows"] == [[count]]
    assert (LEFT_OUT in response.metadata["note"]) is not totals
    assert response.metadata["note"] in str(response)
    assert response.source_nodes[0].metadata["table_note"].startswith(LEFT_OUT)
