"""Components as LangChain dumps and loads them."""

import datetime as dt
import json
import threading

import pytest
from langchain_core.load import dumpd, dumps, load, loads
from langchain_sat import (
    SheetGraphReranker,
    SheetLoader,
    SheetTokenRetriever,
    SheetTool,
    create_sheet_tools,
)

from sat_retriever import Filters, IndexNotFoundError, InputError, LinkReranker, SheetIndex
from tests.fakes import HashedEncoder

pytestmark = pytest.mark.filterwarnings("ignore:The function `loads?` is in beta")
QUESTION = "revenue by region in January"
CLASSES = (SheetTokenRetriever, SheetGraphReranker, SheetTool)


def loaded(dumped, **options):
    return load(dumped, allowed_objects=CLASSES, valid_namespaces=["langchain_sat"], **options)


def test_a_retriever_is_loaded_with_all_its_settings(index):
    since = dt.datetime(2001, 2, 3, tzinfo=dt.UTC)
    retriever = SheetTokenRetriever(
        index, k=2, content="html", today=dt.date(2024, 5, 10), tags=["night"],
        filters=Filters(path="2024/*", modified_after=since), metadata={"lc": 1, "team": "ops"},
    )  # fmt: skip
    text = dumps(retriever)
    assert "not_implemented" not in text
    again = loads(text, allowed_objects=CLASSES, valid_namespaces=["langchain_sat"])
    with again.index:
        assert dumps(again) == text
        assert again.model_dump() == retriever.model_dump()
        assert again.invoke(QUESTION) == retriever.invoke(QUESTION)
    with pytest.raises(ValueError, match="not allowed"):
        load(json.loads(text), allowed_objects=[SheetTool], valid_namespaces=["langchain_sat"])
    with pytest.raises(ValueError, match="namespace"):
        load(json.loads(text), allowed_objects=CLASSES)


def test_a_reranker_is_loaded_and_ranks_the_same(index):
    reranker = SheetGraphReranker(index, top_n=2, today=dt.date(2024, 5, 10))
    again = loaded(dumpd(reranker))
    documents = SheetTokenRetriever(index, k=8).invoke(QUESTION)
    with again.index:
        assert (again.top_n, again.today) == (2, reranker.today)
        assert again.compress_documents(documents, QUESTION) == reranker.compress_documents(
            documents, QUESTION
        )


def test_each_tool_is_loaded_and_answers_the_same(index):
    tools = create_sheet_tools(index, "links", today=dt.date(2024, 5, 10))
    for tool, again in zip(tools, loaded(dumpd(tools)), strict=True):
        assert (again.name, again.description) == (tool.name, tool.description)
        assert again.args == tool.args
        assert dumpd(again) == dumpd(tool)
        again.sheets.index.close()
    find, *_ = loaded(json.loads(dumps(tools[:1])))
    assert find.invoke({"question": QUESTION}) == tools[0].invoke({"question": QUESTION})
    find.sheets.index.close()
    dumped = dumpd(tools[0])
    dumped["kwargs"]["name"] = "write_sheets"
    with pytest.raises(InputError, match=r"no tool 'write_sheets'; there are find_sheets, "):
        loaded(dumped)


def test_what_cannot_be_loaded_says_so_and_still_works(index, tmp_path):
    with SheetIndex.create(tmp_path / "own.sat", HashedEncoder()) as own:
        lost = [SheetTokenRetriever(own), SheetGraphReranker(own), *create_sheet_tools(own)]
        lost += create_sheet_tools(index, LinkReranker())
        for component in lost:
            dumped = dumpd(component)
            assert dumped["type"] == "not_implemented"
            assert dumped["id"][-1] == type(component).__name__
            with pytest.raises(NotImplementedError, match="doesn't implement serialization"):
                loaded(dumped)
    dumped = dumpd(SheetTokenRetriever(index))
    dumped["kwargs"]["index"] = str(tmp_path / "none.sat")
    with pytest.raises(IndexNotFoundError):
        loaded(dumped)


def test_the_password_of_a_url_is_a_secret(postgres):
    with_password = postgres.url("dumped", password="hunter2")
    with SheetIndex.create(with_password, "general") as index:
        components = [SheetTokenRetriever(index), SheetGraphReranker(index)]
        components += create_sheet_tools(index)
        for component in components:
            text = dumps(component)
            assert "hunter2" not in text and '"id": ["SAT_INDEX_URL"]' in text
            dumped = json.loads(text)
            again = loaded(dumped, secrets_map={"SAT_INDEX_URL": with_password})
            assert dumps(again) == text
            with pytest.raises(InputError, match=r"secrets_map=\{'SAT_INDEX_URL': URL\}"):
                loaded(dumped)


async def test_async_loading_never_reads_on_the_event_loop(workbooks):
    class Noting(SheetLoader):
        def lazy_load(self):
            for document in super().lazy_load():
                threads.append(threading.get_ident())
                yield document

    threads: list[int] = []
    documents = [document async for document in Noting(workbooks).alazy_load()]
    assert len(documents) == len(threads) == 7
    assert threading.get_ident() not in threads
