"""One unit of a corpus: workbooks on the disk, and the truth about them."""

from __future__ import annotations

import re
from pathlib import Path

import openpyxl
import pytest

from sat_retriever.errors import OutputError
from sat_retriever.synth.book.model import Book
from sat_retriever.synth.categories import CATEGORIES
from sat_retriever.synth.plan.plan import Plan, Unit
from sat_retriever.synth.plan.scales import scale
from sat_retriever.synth.unit import MadeUnit, Retold, made_unit, unit_books
from sat_retriever.synth.words.vocabulary import Vocabulary

WORDS = Vocabulary.load()


def units(name: str, seed: int = 0) -> dict[str, Unit]:
    """The first unit of each category."""
    found: dict[str, Unit] = {}
    for unit in Plan(scale(name), (2024, 2025), 2, seed, WORDS).units():
        found.setdefault(unit.category, unit)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, MadeUnit]]:
    """One unit of each category, written."""
    folder = tmp_path_factory.mktemp("units")
    return folder, {name: made_unit(unit, folder) for name, unit in units("66").items()}


@pytest.mark.parametrize("name", CATEGORIES)
def test_sheets_are_those_of_the_files_in_tab_order(name, made):
    folder, found = made
    by_path: dict[str, list[str]] = {}
    for sheet in found[name].sheets:
        by_path.setdefault(sheet.record.path, []).append(sheet.record.sheet)
    assert len(by_path) == found[name].workbooks
    for path, tabs in by_path.items():
        assert openpyxl.load_workbook(folder / path, read_only=True).sheetnames == tabs


@pytest.mark.parametrize("name", CATEGORIES)
def test_links_stay_within_the_unit_and_are_told_once(name, made):
    unit = made[1][name]
    ids = {sheet.record.sheet_id for sheet in unit.sheets}
    told = [(link.source, link.target, link.type) for link in (*unit.links, *unit.keys)]
    assert {end for link in told for end in link[:2]} <= ids
    assert len(told) == len(set(told))
    assert all(source != target for source, target, _ in told)


@pytest.mark.parametrize("name", CATEGORIES)
def test_facts_name_their_sheet_and_workbook(name, made):
    unit = made[1][name]
    assert any(sheet.facts for sheet in unit.sheets)
    for sheet in unit.sheets:
        if sheet.facts is not None:
            own = (sheet.facts.sheet_id, sheet.facts.workbook)
            assert own == (sheet.record.sheet_id, sheet.record.path)


def test_a_whole_sheet_has_no_stem_and_a_fabricated_one_has_that_of_its_counterpart(tmp_path):
    unit = units("paper-614")["sales"]
    assert {stem for _, stem in unit_books(unit)} == {""}
    sheets = made_unit(unit, tmp_path, fabricated=True).sheets
    stems = [sheet.stem for sheet in sheets]
    assert len(sheets) == 2 * unit.sheets
    assert all(stem and stems.count(stem) == 2 for stem in stems)


@pytest.mark.parametrize("name", ["ratings", "sentiment"])
def test_fabricated_sheets_have_placeholders_in_place_of_names_and_posts(name):
    unit, found = units("paper-1k")[name], 0
    targets = [book for book, _ in unit_books(unit, fabricated=True)][1::2]
    for column in (c for book in targets for sheet in book.sheets for c in sheet.columns):
        texts = [cell for cell in column.cells if isinstance(cell, str)]
        if column.placeholder and texts:
            assert all(re.fullmatch(rf"{column.placeholder}_\d{{12}}", text) for text in texts)
            found += 1
    assert found
    whole = [column for book, _ in unit_books(unit) for s in book.sheets for column in s.columns]
    assert any(" " in str(cell) for c in whole if c.placeholder for cell in c.cells)


def test_what_is_fabricated_is_translated_before():
    renamed = 0
    for unit in (units("paper-1k")[name] for name in ("financial", "sales", "inventory")):
        english = {h for book, _ in unit_books(unit) for h in headers(book)}
        books = [book for book, _ in unit_books(unit, fabricated=True, retold=Retold("de"))]
        for source, target in zip(books[::2], books[1::2], strict=True):
            prefix = f"{source.category.split()[0]}_"
            for one, other in zip(source.sheets, target.sheets, strict=True):
                said = {column.id: column.header for column in one.columns}
                for column in (each for each in other.columns if each.id in said):
                    header = said[column.id]
                    assert column.header.removeprefix(prefix) == header
                    renamed += column.header != header and header not in english
    assert renamed  # or the test says nothing about renamed headers in German


def headers(book: Book) -> set[str]:
    return {column.header for sheet in book.sheets for column in sheet.columns}


def test_headers_of_pairs_are_those_of_the_record_also_below_merged_headers(made):
    grouped = 0
    for unit in made[1].values():
        for sheet in unit.sheets:
            known = {column.name for column in sheet.record.columns}
            assert {header for _, header in sheet.pair(0).columns} <= known
            grouped += any(" / " in name for name in known)
    assert grouped  # or the test says nothing about merged headers


def test_equal_units_are_written_byte_for_byte_equal(tmp_path):
    unit = units("66")["inventory"]
    for name in ("one", "two"):
        made_unit(unit, tmp_path / name)
    files = sorted(file for file in (tmp_path / "one").rglob("*") if file.is_file())
    assert files
    for file in files:
        other = tmp_path / "two" / file.relative_to(tmp_path / "one")
        assert file.read_bytes() == other.read_bytes()


def test_another_language_changes_words_and_keeps_what_is_linked(tmp_path):
    unit = units("66")["inventory"]
    plain = made_unit(unit, tmp_path / "en")
    german = made_unit(unit, tmp_path / "de", retold=Retold("de"))
    shapes = [
        [(s.record.path, s.record.num_rows, s.record.num_cols) for s in unit.sheets]
        for unit in (plain, german)
    ]
    assert [shape[1:] for shape in shapes[0]] == [shape[1:] for shape in shapes[1]]
    headers = [
        {column.name for sheet in unit.sheets for column in sheet.record.columns}
        for unit in (plain, german)
    ]
    assert headers[0] != headers[1]
    assert [link.type for link in plain.links] == [link.type for link in german.links]


def test_a_folder_that_cannot_be_written_is_an_error_that_names_it(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file"):
        made_unit(units("66")["ratings"], tmp_path / "file")
