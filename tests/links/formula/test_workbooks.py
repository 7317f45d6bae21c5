"""Every construct in a workbook of its own, from the file to its links."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.links.raw_formulas import count_edges
from sat_retriever import read_workbook
from sat_retriever.links.formula.relations import WorkbookLinks, workbook_links
from sat_retriever.links.formula.scope import file_key
from tests.links.formula.workbooks import CASES, OWN_TYPES, Case


def _read(case: Case, folder: Path) -> tuple[WorkbookLinks, dict[str, str]]:
    """What is found, and sheet names by id."""
    path = folder / f"book{case.suffix}"
    case.build(path)
    made = read_workbook(path)
    assert made.records, made.skipped
    found = workbook_links(made.records, made.references, made.structure)
    return found, {record.sheet_id: record.sheet for record in made.records}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_workbook_of_one_construct_gives_exactly_the_links_expected(case, tmp_path):
    found, names = _read(case, tmp_path)
    expected = case.expected()
    links = {
        (names[link.source], names[link.target], link.type): link
        for link in found.links
        if link.type in OWN_TYPES
    }
    assert sorted(links) == sorted(expected)
    for key, evidence in expected.items():
        assert links[key].evidence.startswith(evidence), key
        assert 0 < links[key].weight <= 1
        assert len(links[key].evidence) <= 200
    external = [
        (names[each.source], each.file, each.sheet if not each.name else each.name, each.use.value)
        for each in found.external
    ]
    assert sorted(external) == sorted(case.external)
    assert all(each.key == file_key(each.file) for each in found.external)


def test_the_set_has_forty_workbooks_or_more_and_no_construct_twice():
    names = [case.name for case in CASES]
    assert len(names) >= 40
    assert len(set(names)) == len(names)


# What the independent count does not do: text put together, names that are not there, and
# workbooks that are not listed.
_BEYOND_THE_COUNT = frozenset(
    {
        "INDIRECT with constant text",
        "a name that is not there",
        "a name of the own workbook through [0]",
        "another workbook that is not listed",
    }
)
_COUNTED = [case for case in CASES if case.suffix == ".xlsx" and case.name not in _BEYOND_THE_COUNT]


@pytest.mark.parametrize("case", _COUNTED, ids=lambda case: case.name)
def test_the_independent_count_of_the_benchmark_finds_the_same_edges(case, tmp_path):
    path = tmp_path / "book.xlsx"
    case.build(path)
    count = count_edges(path)
    expected = {key[:2] for key in case.expected() if key[2] == "formula_reference"}
    assert {edge for edge in count.edges if count.sheets.get(edge[1])} == expected
