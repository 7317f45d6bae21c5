"""Columns of amounts with units: their texts write their numbers, in one notation a sheet."""

from __future__ import annotations

import re

import pytest

from sat_retriever.synth.book.enrich import WRITTEN
from sat_retriever.synth.book.model import Column
from sat_retriever.synth.plan.plan import Plan
from sat_retriever.synth.plan.scales import scale
from sat_retriever.synth.unit import unit_books
from sat_retriever.synth.words.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def columns() -> list[Column]:
    """The columns of amounts of a corpus."""
    plan = Plan(scale("150"), (2024, 2025), 6, 3, Vocabulary.load())
    books = [book for unit in plan.units() for book, _ in unit_books(unit, answered=True)]
    sheets = [sheet for book in books for sheet in book.sheets]
    found = [each for each in (sheet.column(WRITTEN) for sheet in sheets) if each]
    assert 0.2 * len(sheets) < len(found) < 0.7 * len(sheets)
    return found


def test_texts_write_the_numbers_and_the_unit(columns):
    written = [each for each in columns if not each.header.endswith(")")]
    assert written
    for each in written:
        for cell, number in zip(each.cells, each.numbers, strict=True):
            if number is None:
                assert cell in ("", "n/a", "-")
                continue
            assert each.measure in cell
            digits = re.sub(r"\D", "", cell.replace("m³", ""))
            assert digits.lstrip("0") == re.sub(r"\D", "", _written(number, cell)).lstrip("0")


def test_a_unit_in_the_header_leaves_numbers_in_the_cells(columns):
    headed = [each for each in columns if each.header.endswith(f"({each.measure})")]
    assert headed
    assert all(each.cells == each.numbers for each in headed)


def test_all_notations_occur_and_whole_numbers_have_no_points(columns):
    texts = [cell for each in columns for cell in each.cells if isinstance(cell, str)]
    for pattern in (r"\d,\d{3}\b", r"\d \d{3}\b", r"\d,\d{1,2}\b", r"\.\d{1,2}\b"):
        assert any(re.search(pattern, text) for text in texts), pattern
    whole = [each for each in columns if all(isinstance(n, int | None) for n in each.numbers)]
    assert whole
    assert not any("." in str(cell) for each in whole for cell in each.cells)


def _written(number: float, cell: str) -> str:
    """The number with as many decimals as a text has."""
    decimals = re.search(r"[.,](\d{1,2})(?!\d)", cell)
    return f"{number:.{len(decimals[1])}f}" if decimals else str(number)
