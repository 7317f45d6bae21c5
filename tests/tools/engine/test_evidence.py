"""The cells that an answer from text rests on, and the notes about it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import Hit, SheetRecord
from sat_retriever.records.hits import Why
from sat_retriever.records.sheets import Column, Table
from sat_retriever.text.period.spans import Span
from sat_retriever.tools.content import SheetText
from sat_retriever.tools.engine.evidence import ReadSheet, evidence_of, holds_times, texts_read
from sat_retriever.tools.readings import said

NONE = Why((), (), 0.0, 0.0, 1, None)


def sheet(name, *rows, headers=()):
    """A sheet whose rows begin at A1."""
    columns = tuple(map(Column, headers or rows[0]))
    area = f"A1:{chr(64 + len(columns))}{len(rows)}"
    table = Table(area, 1, 1, False, len(rows) - 1, columns)
    record = SheetRecord(f"a.xlsx#{name}", name, "a.xlsx", "a.xlsx", tables=(table,))
    cells = {
        (row, column): value
        for row, values in enumerate(rows, start=1)
        for column, value in enumerate(values, start=1)
        if value is not None and row > 1
    }
    return ReadSheet(Hit(1, 0.5, record, NONE), SheetText("shown", cells))


PRICES = sheet("Prices", ["Fuel", "2008", "2009"], ["Gas", 8.8612, 3.94], ["Coal", 2.07, 3.94])
NOTES = sheet("About", ["Notes"], ["Sulfur must stay below 15 ppm in diesel for ships."],
              ["We asked Rapidian Energy and Wood Mackenzie about oil."])  # fmt: skip


def cited(answer, question="", named=(), sheets=(PRICES, NOTES)):
    found = evidence_of(answer, question, sheets, named)
    return [each.partition("#")[2] for each in found.citations(sheets)], found.unseen


@pytest.mark.parametrize(
    ("answer", "question", "citations", "unseen"),
    [
        ("Gas cost 8.86 dollars.", "gas in 2008?", ["Prices!B2"], ()),
        ("It cost 8.86 in 2008.", "", ["Prices!B2"], ()),  # the header has 2008
        ("Coal: 3.94 [1].", "coal in 2009?", ["Prices!C3"], ()),
        ("Gas: 3.94.", "gas in 2009?", ["Prices!C2"], ()),
        ("At most 15 ppm.", "sulfur in diesel?", ["About!A2"], ()),
        ("They asked Rapidian Energy and others.", "whom?", ["About!A3"], ()),
        ("Together 12.8.", "gas?", [], ("12.8",)),
        ("8.86, or 777 in all.", "gas?", ["Prices!B2"], ("777",)),
        ("It was 2008.", "What was in 2008?", [], ()),
        ("The sheets do not say.", "Why?", [], ()),
    ],
)
def test_the_cells_are_cited_that_hold_what_is_said(answer, question, citations, unseen):
    assert cited(answer, question) == (citations, unseen)


def test_cells_of_a_sheet_that_is_named_go_first():
    other = sheet("Other", ["Fuel", "2008"], ["Gas", 8.8612])
    assert cited("Gas cost 8.86 [2].", named=[1], sheets=(PRICES, other))[0] == ["Other!B2"]
    assert cited("Coal cost 2.07 [2].", named=[1], sheets=(PRICES, other))[0] == ["Prices!B3"]


_NUMBERS = st.integers(100, 10_000_000) | st.decimals(-99_999, 99_999, places=2).map(float)


@given(st.lists(_NUMBERS, min_size=1, max_size=12), st.data())
def test_each_cited_cell_holds_a_value_and_a_value_of_a_cell_is_never_unseen(numbers, data):
    own = sheet("N", ["x"], *([number] for number in numbers))
    number = data.draw(st.sampled_from(numbers) | _NUMBERS)
    text = f"It is {number:,}." if data.draw(st.booleans()) else f"It is {number} EUR."
    found = evidence_of(text, "?", [own])
    [value] = said(text)
    held = {place for place, cell in own.shown.cells.items() if value.is_in(cell)}
    assert held.issuperset(found.cells.get(0, ()))
    assert bool(found.cells) == bool(held) != bool(found.unseen)
    assert not (number in numbers and found.unseen)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_answer_and_cell_can_be_compared(answer, cell):
    evidence_of(answer, "?", [sheet("T", ["x"], [cell])])


def test_a_time_is_held_by_the_row_or_the_header_of_a_cell():
    found = evidence_of("8.86.", "gas in 2008?", [PRICES])
    texts = list(texts_read([PRICES], found))
    assert holds_times(texts, [Span(2008, 2008)])
    assert not holds_times(texts, [Span(2008, 2008), Span(2009, 2009)])
    assert not holds_times(texts, [])
