"""The retriever as LangChain uses it."""

import asyncio
import datetime as dt
import json
import pickle

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.load import dumps
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField
from langchain_sat import SheetTokenRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from sat_retriever import (
    Filters,
    IndexNotFoundError,
    InputError,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
)
from sat_retriever.index.search.search import SheetSearch
from sat_retriever.records.hits import NOTHING
from sat_retriever.tools.content import Content
from tests.builders import transit
from tests.fakes import HashedEncoder, HeldEncoder

QUESTION = "revenue by region in January"


class TestStandardSuite(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def given(self, index: SheetIndex) -> None:
        self.index = index

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return SheetTokenRetriever

    @property
    def retriever_constructor_params(self) -> dict:
        return {"index": self.index}

    @property
    def retriever_query_example(self) -> str:
        return QUESTION


def ids(documents: list[Document]) -> list[str | None]:
    return [document.id for document in documents]


def test_documents_are_the_librarys_hits(index):
    hits = SheetRetriever(index, reranker=None).retrieve(QUESTION, 4)
    found = SheetTokenRetriever(index, k=4).invoke(QUESTION)
    assert ids(found) == [hit.sheet_id for hit in hits]
    assert [each.metadata["score"] for each in found] == [h.to_dict()["score"] for h in hits]
    assert [each.metadata["rank"] for each in found] == [1, 2, 3, 4]


def test_metadata_says_where_the_sheet_is_and_why(index):
    [found] = SheetTokenRetriever(index, k=1).invoke(QUESTION)
    assert found.id == "2024/Sales.xlsx#January"
    assert found.page_content.endswith("| 2 | North | 100 |\n| 3 | South | 10 |")
    said = found.metadata
    assert said["citation"] == "2024/Sales.xlsx#January!A1:B3"
    assert said["source"] == said["path"] == "2024/Sales.xlsx"
    assert (said["sheet"], said["range"], said["header_row"]) == ("January", "A1:B3", 1)
    assert said["columns"] == ["Region", "Revenue"]
    assert said["words"] == ["revenue", "region", "january"]
    assert json.loads(json.dumps(said)) == said
    [hit] = SheetRetriever(index, reranker=None).retrieve(QUESTION, 1)
    plain = hit.to_dict()
    flat = {**plain, **plain.pop("why")}
    flat["columns"] = [column["name"] for column in flat["columns"]]
    flat["cells"] = [f"{each['cell']}: {each['text']}" for each in flat["cells"]]
    flat["copies"] = flat["copies"]["sheet_ids"]
    del flat["why"], flat["links"], flat["via"]  # links are lines here
    assert {key: said[key] for key in flat} == flat


def test_metadata_says_how_sure_the_answer_is(index):
    near, strange = (
        SheetTokenRetriever(index).invoke(question)
        for question in ("revenue by region", "which goalkeeper saved most penalties?")
    )
    assert {document.metadata["answered"] for document in near} == {True}
    assert {document.metadata["answered"] for document in strange} == {False}
    assert near[0].metadata["confidence"] > strange[0].metadata["confidence"]
    assert strange[0].page_content.startswith(NOTHING)
    assert not any(each.page_content.startswith(NOTHING) for each in (*near, *strange[1:]))


def test_links_stand_in_the_metadata_as_lines(index):
    found = SheetTokenRetriever(index, k=8).invoke("total revenue of a month")
    [summary] = [each for each in found if each.metadata["sheet"] == "Summary"]
    ends = "2024/Sales.xlsx#Summary -> 2024/Sales.xlsx#January"
    assert any(line.endswith(ends) for line in summary.metadata["links"])
    assert summary.metadata["via"] is None


def test_a_path_does_as_well_as_an_index(workbooks, encoder, tmp_path, index):
    file = tmp_path / "own.sat"
    retriever = SheetTokenRetriever.from_paths(workbooks, index=file, encoder=encoder, k=3)
    with retriever.index:
        found = retriever.invoke(QUESTION)
        assert ids(found) == ids(SheetTokenRetriever(index, k=3).invoke(QUESTION))
    opened = SheetTokenRetriever(str(file), k=3)
    with opened.index:
        assert opened.invoke(QUESTION) == found


def test_k_and_filters_of_a_call_count_in_place_of_the_fields(index):
    retriever = SheetTokenRetriever(index, k=8, filters={"path": "2024/*"})
    in_2024 = retriever.invoke(QUESTION)
    assert len(in_2024) == 4
    assert {each.metadata["path"] for each in in_2024} == {"2024/Sales.xlsx"}
    assert len(retriever.invoke(QUESTION, k=2)) == 2
    [people] = retriever.invoke(QUESTION, filters=Filters(workbook="Staff.xlsx"))
    assert people.id == "Staff.xlsx#People"
    assert len(retriever.invoke(QUESTION, filters={})) == len(index)


async def test_k_and_filters_of_an_async_call_count_too(index):
    retriever = SheetTokenRetriever(index, k=8, filters={"path": "2024/*"})
    assert len(await retriever.ainvoke(QUESTION)) == 4
    assert len(await retriever.ainvoke(QUESTION, k=2)) == 2
    assert ids(await retriever.ainvoke(QUESTION, filters={"workbook": "Staff.xlsx"})) == [
        "Staff.xlsx#People"
    ]


def test_bound_arguments_and_batches_work(index):
    bound = SheetTokenRetriever(index).bind(k=1)
    assert [ids(each) for each in bound.batch([QUESTION, "salary of people"])] == [
        ["2024/Sales.xlsx#January"],
        ["Staff.xlsx#People"],
    ]


async def test_parallel_questions_answer_as_one_after_the_other(index):
    retriever = SheetTokenRetriever(index, k=3)
    words = ("revenue", "salary", "hours", "month", "January", "March", "staff")
    questions = [f"{words[n % 7]} {words[n % 5]} {words[n % 3]}" for n in range(24)]
    serial = [retriever.invoke(question) for question in questions]
    assert await asyncio.gather(*map(retriever.ainvoke, questions)) == serial


async def test_async_questions_do_not_run_on_the_event_loop(tmp_path):
    encoder = HeldEncoder()
    with SheetIndex.create(tmp_path / "a.sat", encoder) as own:
        assert await encoder.beside(SheetTokenRetriever(own).ainvoke(QUESTION)) == []


def test_monthly_forms_of_equal_text_stay_apart(index):
    forms = [
        each
        for each in SheetTokenRetriever(index, k=8, content="record").invoke("hours worked")
        if each.metadata["sheet"] == "Form"
    ]
    assert len({each.page_content for each in forms}) == 1
    assert [each.id for each in forms] == ["01/Timesheet.xlsx#Form", "02/Timesheet.xlsx#Form"]


@pytest.mark.parametrize(
    "content", [Content("markdown", 96), "markdown", {"form": "markdown", "max_tokens": 96}]
)
def test_a_hit_can_show_its_rows(index, content):
    [found] = SheetTokenRetriever(index, k=1, content=content).invoke(QUESTION)
    assert "| Region | Revenue |" in found.page_content
    assert "North | 100" in found.page_content


def test_traces_name_the_encoder_and_carry_tags(index):
    class Listening(BaseCallbackHandler):
        def on_retriever_start(self, serialized, query, *, tags=None, metadata=None, **kwargs):
            seen.append((query, tags, metadata))

        def on_retriever_end(self, documents, **kwargs):
            seen.append(ids(documents))

        def on_retriever_error(self, error, **kwargs):
            seen.append(type(error))

    seen: list = []
    retriever = SheetTokenRetriever(index, k=1, tags=["sheets"], metadata={"team": "finance"})
    retriever.invoke(QUESTION, {"callbacks": [Listening()], "tags": ["night"]})
    query, tags, metadata = seen[0]
    assert (query, set(tags)) == (QUESTION, {"sheets", "night"})
    assert metadata["team"] == "finance"
    assert metadata["ls_embedding_model"] == "bag"  # not where it is
    assert metadata["ls_vector_store_provider"] == "sat-retriever"
    assert metadata["ls_retriever_name"] == "sheettoken"
    assert seen[1] == ["2024/Sales.xlsx#January"]
    with pytest.raises(InputError):
        retriever.invoke(" ", {"callbacks": [Listening()]})
    assert issubclass(seen[-1], InputError)


def test_a_retriever_comes_back_from_its_plain_values(index):
    since = dt.datetime(2001, 2, 3, tzinfo=dt.UTC)
    first = SheetTokenRetriever(
        index, k=2, filters=Filters(path="2024/*", modified_after=since), content="html"
    )
    plain = json.loads(first.model_dump_json())
    assert plain["index"] == str(index.path)
    assert plain["filters"] == {"path": "2024/*", "modified_after": "2001-02-03T00:00:00+00:00"}
    for second in (SheetTokenRetriever.model_validate(plain), pickle.loads(pickle.dumps(first))):
        with second.index:
            assert second.filters == first.filters
            assert second.content == first.content
            assert second.invoke(QUESTION) == first.invoke(QUESTION)


def test_what_cannot_be_used_is_refused_with_what_to_do(index, tmp_path):
    with pytest.raises(IndexNotFoundError, match="nowhere"):
        SheetTokenRetriever(tmp_path / "nowhere.sat")
    with pytest.raises(InputError, match=r"no filter author.*workbook, path.*metadata"):
        SheetTokenRetriever(index, filters={"author": "Ada"})
    with pytest.raises(InputError, match="modified_after is 'soon'"):
        SheetTokenRetriever(index).invoke(QUESTION, filters={"modified_after": "soon"})
    with pytest.raises(InputError, match="filters are a list"):
        SheetTokenRetriever(index).invoke(QUESTION, filters=["x"])
    with pytest.raises(InputError, match="content has no rows"):
        SheetTokenRetriever(index, content={"rows": 3})
    with pytest.raises(InputError, match="top_k is 0"):
        SheetTokenRetriever(index).invoke(QUESTION, k=0)
    with pytest.raises(InputError, match="top_k is 'x'; give a whole number"):
        SheetTokenRetriever(index).invoke(QUESTION, k="x")
    with pytest.raises(InputError, match=r"no sheet of .* has the metadata field author"):
        SheetTokenRetriever(index, filters={"metadata": {"author": "Ada"}})
    with pytest.raises(InputError, match=r"no sheet of .* has the metadata field author"):
        SheetTokenRetriever(index).invoke(QUESTION, filters={"metadata": {"author": "Ada"}})
    with pytest.raises(ValueError, match="valid integer"):
        SheetTokenRetriever(index, k="x")
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        SheetTokenRetriever(index, k=0)
    with pytest.raises(ValueError, match="top_k"):
        SheetTokenRetriever(index, top_k=3)


def test_from_paths_leaves_no_open_index_behind_when_an_option_is_wrong(
    workbooks, encoder, tmp_path
):
    file = tmp_path / "own.sat"
    with pytest.raises(ValueError, match="top_k"):
        SheetTokenRetriever.from_paths(workbooks, index=file, encoder=encoder, top_k=3)
    assert not file.with_name("own.sat-wal").exists()  # closing the last reader removes it


def test_fields_can_be_configured_at_run_time_and_the_retriever_shown(index):
    retriever = SheetTokenRetriever(index, filters={"path": "2024/*"})
    chosen = retriever.configurable_fields(k=ConfigurableField(id="most"))
    assert len(chosen.with_config(configurable={"most": 2}).invoke(QUESTION)) == 2
    assert len(chosen.invoke(QUESTION)) == 4
    assert "SheetTokenRetriever" in retriever.get_graph().draw_mermaid()
    assert "SheetTokenRetriever" in dumps(retriever)


async def test_last_year_counts_from_the_day_of_the_field_or_of_the_call(tmp_path):
    with SheetIndex.create(tmp_path / "years.sat", HashedEncoder()) as years:
        years.add_records([SheetRecord(f"{year}", f"Sales {year}") for year in (2021, 2022, 2023)])
        retriever = SheetTokenRetriever(years, k=1, today=dt.date(2024, 5, 10))
        assert ids(retriever.invoke("sales last year")) == ["2023"]
        day = dt.date(2022, 1, 1)
        assert ids(retriever.invoke("sales last year", today=day)) == ["2021"]
        assert ids(await retriever.ainvoke("sales last year", today=day)) == ["2021"]
        again = SheetTokenRetriever(**json.loads(retriever.model_dump_json()))
        with again.index:
            assert again.today == retriever.today


def test_filters_of_the_field_are_looked_up_once_and_not_for_every_question(index, monkeypatch):
    checked = []
    check = SheetSearch.check_filters
    monkeypatch.setattr(
        SheetSearch,
        "check_filters",
        lambda self, filters: (checked.append(filters), check(self, filters))[1],
    )
    retriever = SheetTokenRetriever(index, filters={"path": "2024/*"})
    assert len(checked) == 1
    retriever.invoke(QUESTION)
    assert len(checked) == 1
    retriever.invoke(QUESTION, filters={"workbook": "Staff.xlsx"})
    assert len(checked) == 2


def test_documents_hold_the_rows_that_answer_where_contents_are_kept(tmp_path):
    with SheetIndex.open(transit(tmp_path), HashedEncoder()) as kept:
        found = SheetTokenRetriever(kept).invoke("people of town 444")
        [document] = [each for each in found if each.metadata["sheet"] == "Cities"]
        assert document.metadata["citation"] == "Transit.xlsx#Cities!A436:C456"
        assert document.metadata["cells"] == ["B446: Town 444"]
        assert "| 1 | Code | City | People |" in document.page_content
        assert "| 446 | C-0444 | Town 444 | 444 |" in document.page_content
        headers = SheetTokenRetriever(kept, content="record").invoke("people of town 444")
        assert all(each.page_content.startswith("name: ") for each in headers)
