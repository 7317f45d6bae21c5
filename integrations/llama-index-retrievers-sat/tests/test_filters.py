"""LlamaIndex metadata filters to the index's conditions."""

from __future__ import annotations

import datetime as dt
import shutil

import pytest
from llama_index.core.vector_stores import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)
from llama_index.retrievers.sat import SheetTokenRetriever, sheet_filters

from sat_retriever import (
    Column,
    Filters,
    InputError,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
    Visibility,
)
from tests.fakes import HashedEncoder


def of(*conditions, joined=FilterCondition.AND):
    filters = [MetadataFilter(key=k, operator=o, value=v) for k, o, v in conditions]
    return MetadataFilters(filters=filters, condition=joined)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (of(("workbook", "==", "a.xlsx")), Filters(workbook="a.xlsx")),
        (of(("path", "==", "hr/*")), Filters(path="hr/*")),
        (of(("path", "text_match", "hr/*.csv")), Filters(path="*hr/*.csv*")),
        (of(("path", "text_match", "[b]")), Filters(path="*[[]b]*")),
        (of(("format", "==", "XLSX")), Filters(format="xlsx")),
        (of(("visibility", "==", "hidden")), Filters(visibility=Visibility.HIDDEN)),
        (
            of(("team", "==", "ops"), ("year", "==", 2024)),
            Filters(metadata={"team": "ops", "year": 2024}),
        ),
        (
            of(("modified", ">=", "2024-05-01T00:00:00+00:00"), ("modified", "<", 1735689600)),
            Filters(
                modified_after=dt.datetime(2024, 5, 1, tzinfo=dt.UTC),
                modified_before=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
            ),
        ),
        (of(("team", "==", "ops"), ("team", "==", "ops")), Filters(metadata={"team": "ops"})),
        (of(("team", "==", "ops"), joined=FilterCondition.OR), Filters(metadata={"team": "ops"})),
        (of(), None),
        (None, None),
        (Filters(workbook="a"), Filters(workbook="a")),
    ],
)
def test_a_filter_means_the_same_to_the_index(given, meant):
    assert sheet_filters(given) == meant


def test_groups_joined_by_and_are_one_list():
    inner = of(("team", "==", "ops"))
    outer = MetadataFilters(filters=[inner, *of(("workbook", "==", "a.xlsx")).filters])
    assert sheet_filters(outer) == Filters(workbook="a.xlsx", metadata={"team": "ops"})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (of(("team", "in", ["a", "b"])), "'team' uses the operator 'in'; use '=='"),
        (of(("team", "!=", "a")), "'team' uses the operator '!='"),
        (of(("modified_after", "==", "2024")), "there is no filter on 'modified_after'"),
        ({"path": "hr/*"}, "filters are a dict; give MetadataFilters or Filters"),
        (of(("path", ">", "a")), "'path' uses the operator '>'; use '==' or 'text_match'"),
        (of(("modified", ">", "2024-05-01")), "'modified' uses the operator '>'; use '>=' or '<'"),
        (of(("modified", ">=", "May")), "'modified' has the value 'May'"),
        (of(("modified", ">=", ["2024"])), "give an ISO time or seconds since 1970"),
        (of(("modified", "<", 10**30)), "'modified' has the value 1000000000"),
        (of(("workbook", "==", 3)), "'workbook' has the value 3; give a text"),
        (of(("visibility", "==", "dark")), "visibility is 'dark'; give one of: visible"),
        (of(("team", "==", ["a"])), "'team' has the value \\['a'\\]; give a text or number"),
        (of(("team", "==", None)), "'team' has the value None"),
        (of(("sheet", "==", "Q1")), "there is no filter on 'sheet'; filter by workbook, path"),
        (of(("score", ">", 0.5)), "there is no filter on 'score'"),
        (of(("team", "==", "a"), ("team", "==", "b")), "two filters on 'team' ask for 'a' and 'b'"),
        (of(("a", "==", 1), ("b", "==", 1), joined=FilterCondition.OR), "joined by 'or'"),
        (of(("a", "==", 1), joined=FilterCondition.NOT), "joined by 'not'"),
    ],
)
def test_what_the_index_cannot_tell_apart_is_refused_by_name(given, said):
    with pytest.raises(InputError, match=said):
        sheet_filters(given)


@pytest.mark.parametrize("key", ["workbook", "path", "format", "visibility", "modified", "team"])
@pytest.mark.parametrize("operator", FilterOperator)
def test_every_operator_is_honoured_or_refused_when_the_retriever_is_made(index, key, operator):
    value = {"visibility": "visible", "modified": "2024-05-01", "format": "xlsx"}.get(key, "a")
    honoured = {"path": ("==", "text_match"), "modified": (">=", "<")}.get(key, ("==",))
    said = f"the filter on '{key}' uses the operator '{operator.value}'; use"
    if key == "team" and operator == "==":
        said = "has the metadata field team; filter by a field of its sheets \\(none\\)"
    elif operator in honoured:
        assert SheetTokenRetriever(index, filters=of((key, operator, value))).filters
        return
    with pytest.raises(InputError, match=said):
        SheetTokenRetriever(index, filters=of((key, operator, value)))


@pytest.mark.parametrize(
    "conditions",
    [[("path", "==", "sales/*")], [("path", "text_match", "ales/20*4")]],
)
def test_a_glob_finds_what_the_library_s_own_finds(index, conditions):
    nodes = SheetTokenRetriever(index, 9, of(*conditions)).retrieve("revenue")
    own = SheetRetriever(index, None).retrieve("revenue", 9, Filters(path="sales/*"))
    assert [node.metadata["sheet_id"] for node in nodes] == [hit.sheet_id for hit in own]
    assert len(own) == 4


def test_an_index_that_a_refused_filter_opened_is_closed(index_file, tmp_path):
    file = tmp_path / "own.sat"
    shutil.copy(index_file, file)
    with pytest.raises(InputError, match=r"no sheet of .*own\.sat has the metadata field tema"):
        SheetTokenRetriever(file, filters=Filters(metadata={"tema": "ops"}))
    assert not file.with_name("own.sat-wal").exists()  # closing the last reader removes it


def test_a_path_also_means_itself(tmp_path):
    records = [
        SheetRecord(f"{p}#s", "s", path=p, columns=(Column("Tax"),))
        for p in ("a[1].xlsx", "a1.xlsx", "2024/a1.xlsx")
    ]
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records(records)

        def found(*conditions):
            nodes = SheetTokenRetriever(index, 9, of(*conditions)).retrieve("tax")
            return sorted(node.metadata["path"] for node in nodes)

        assert found(("path", "==", "a[1].xlsx")) == ["a1.xlsx", "a[1].xlsx"]
        assert found(("path", "text_match", "[1]")) == ["a[1].xlsx"]
        assert found(("path", "text_match", "a1.")) == ["2024/a1.xlsx", "a1.xlsx"]


def test_a_metadata_field_of_the_records_filters(tmp_path):
    records = [SheetRecord(t, t, columns=(Column("Tax"),), metadata={"team": t}) for t in "ab"]
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records(records)
        [node] = SheetTokenRetriever(index, filters=of(("team", "==", "b"))).retrieve("tax")
        assert node.metadata["team"] == "b"
        with pytest.raises(InputError, match=r"field tema; filter by a field .*\(team\)"):
            SheetTokenRetriever(index, filters=of(("tema", "==", "b")))


def test_an_index_without_sheets_knows_no_fields_yet(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        assert SheetTokenRetriever(index, filters=of(("team", "==", "b"))).retrieve("tax") == []
