"""Contents worth asking for: what was there stays, and reading finds what was told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sat_retriever.records.contents import CellText, SheetContents, TextKind
from sat_retriever.synth.book.enrich import enriched
from sat_retriever.synth.categories import CATEGORIES
from sat_retriever.synth.plan.plan import Plan, Unit
from sat_retriever.synth.plan.scales import scale
from sat_retriever.synth.unit import MadeUnit, made_unit, unit_books
from sat_retriever.synth.words.vocabulary import Vocabulary
from sat_retriever.workbook.read import read_workbook

WORDS = Vocabulary.load()


def units() -> dict[str, Unit]:
    """The first unit of each category."""
    found: dict[str, Unit] = {}
    for unit in Plan(scale("66"), (2024, 2025), 2, 0, WORDS).units():
        found.setdefault(unit.category, unit)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, MadeUnit]]:
    """One unit of each category with contents, written."""
    folder = tmp_path_factory.mktemp("enriched")
    return folder, {n: made_unit(unit, folder, asked=True) for n, unit in units().items()}


@pytest.mark.parametrize("name", CATEGORIES)
def test_links_stay_as_they_were(name, made, tmp_path):
    plain = made_unit(units()[name], tmp_path)

    def ends(unit: MadeUnit) -> set[tuple[str, str, str]]:
        return {(link.source, link.target, link.type) for link in (*unit.links, *unit.keys)}

    assert ends(made[1][name]) == ends(plain)


@pytest.mark.parametrize("name", CATEGORIES)
def test_reading_finds_every_text_where_the_truth_has_it(name, made):
    folder, found = made
    for path in {sheet.record.path for sheet in found[name].sheets}:
        read = {each.sheet: each for each in read_workbook(folder / path, root=folder).records}
        for sheet in found[name].sheets:
            if sheet.record.path == path:
                record = read[sheet.record.sheet]
                found_texts, told = texts(record.contents), texts(sheet.contents)
                assert told <= found_texts, record.sheet_id
                assert kinds(sheet.contents) <= kinds(record.contents), record.sheet_id
                # Beyond texts, a reader keeps dates and the numbers that identify.
                assert not any(map(str.isalpha, "".join(found_texts - told))), record.sheet_id
                assert (record.range, record.num_rows) == (
                    sheet.record.range,
                    sheet.record.num_rows,
                )
                headers = [column.name for column in sheet.record.columns]
                assert [column.name for column in record.columns] == headers


def kinds(contents: SheetContents | None) -> set[tuple[str, str]]:
    """Notes and labels of a sheet, with what they are; a table's caption may be read as a note."""
    assert contents is not None
    notes = {("note", each.text) for each in contents.notes}
    labels = {("label", each.text) for table in contents.tables for each in table.labels}
    return notes | {each for each in labels if each[1] != "Total"}


def texts(contents: SheetContents | None) -> set[str]:
    """All texts of a sheet's cells, on one line; titles of its charts are none of them."""
    assert contents is not None
    every: list[CellText] = list(contents.notes)
    for table in contents.tables:
        every += table
    return {" ".join(each.text.split()) for each in every if each.kind is TextKind.CELL}


def test_notes_codes_names_and_documentation_are_added():
    books = [book for unit in units().values() for book, _ in unit_books(unit, asked=True)]
    sheets = [sheet for book in books for sheet in book.sheets]
    told = [sheet for sheet in sheets if sheet.facts is not None]
    assert all(sheet.layout.notes and sheet.column("made_codes") for sheet in told)
    assert 0 < sum(sheet.column("made_names") is not None for sheet in told) < len(told)
    pages = [sheet for sheet in sheets if not sheet.columns and sheet.layout.notes]
    assert 0 < len(pages) <= len(books)


def test_a_header_that_is_taken_is_not_used_again():
    unit = units()["sales"]
    book, _ = unit_books(unit)[0]
    first = next(sheet for sheet in book.sheets if sheet.facts)
    for _ in range(3):
        first = next(s for s in enriched(replace(book, sheets=(first,)), unit.house).sheets)
        headers = [column.header.casefold() for column in first.columns]
        assert len(set(headers)) == len(headers)
        first = replace(
            first, columns=tuple(replace(c, id=f"{n}") for n, c in enumerate(first.columns))
        )
