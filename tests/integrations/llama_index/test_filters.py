"""LlamaIndex metadata filters to the index's conditions."""

from __future__ import annotations

import datetime as dt

import pytest
from llama_index.core.vector_stores import FilterCondition, MetadataFilter, MetadataFilters
from llama_index.retrievers.sat import SheetTokenRetriever, sheet_filters

from sat_retriever import Column, Filters, InputError, SheetIndex, SheetRecord, Visibility
from tests.fakes import HashedEncoder


def of(*conditions, joined=FilterCondition.AND):
    filters = [MetadataFilter(key=k, operator=o, value=v) for k, o, v in conditions]
    return MetadataFilters(filters=filters, condition=joined)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (of(("workbook", "==", "a.xlsx")), Filters(workbook="a.xlsx")),
        (of(("path", "==", "a/[b]*.xlsx")), Filters(path="a/[[]b][*].xlsx")),
        (of(("path", "text_match", "2024?")), Filters(path="*2024[?]*")),
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


def test_a_refused_filter_is_told_when_the_retriever_is_made(index):
    with pytest.raises(InputError, match="'nin'"):
        SheetTokenRetriever(index, filters=of(("team", "nin", ["a"])))


def test_a_path_is_meant_letter_by_letter(tmp_path):
    records = [
        SheetRecord(f"{p}#s", "s", path=p, columns=(Column("Tax"),))
        for p in ("a*.xlsx", "ab.xlsx", "2024/ab.xlsx")
    ]
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records(records)

        def found(*conditions):
            nodes = SheetTokenRetriever(index, 9, of(*conditions)).retrieve("tax")
            return sorted(node.metadata["path"] for node in nodes)

        assert found(("path", "==", "a*.xlsx")) == ["a*.xlsx"]
        assert found(("path", "text_match", "a*")) == ["a*.xlsx"]
        assert found(("path", "text_match", "ab.")) == ["2024/ab.xlsx", "ab.xlsx"]


def test_a_metadata_field_of_the_records_filters(tmp_path):
    records = [SheetRecord(t, t, columns=(Column("Tax"),), metadata={"team": t}) for t in "ab"]
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records(records)
        [node] = SheetTokenRetriever(index, filters=of(("team", "==", "b"))).retrieve("tax")
    assert node.metadata["team"] == "b"
