"""Derive the texts of a made sheet from its layout and cells alone, without reading the file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sat_retriever.records.area import column_letters
from sat_retriever.records.contents import CellText, SheetContents, TableContents
from sat_retriever.synth.book.model import Value
from sat_retriever.synth.calculate.compile import CompiledSheet


def true_contents(sheet: CompiledSheet) -> SheetContents:
    """Return every text of a sheet outside headers and units, each where it stands first.

    The first column of texts has the labels, and that of totals; all others have values. Unlike
    a reader's, these contents have no bounds. A sheet of lines has notes alone.
    """
    place, layout = sheet.at.place, sheet.at.sheet.layout
    titles = _lines(layout.titles, place.title_row, place.left)
    notes = _lines(layout.notes, place.notes_row, place.left)
    if not place.width:
        return SheetContents((*titles, *notes))
    columns = [
        _texts(column.values, place.first_row, place.left + at)
        for at, column in enumerate(sheet.columns)
    ]
    first = next((at for at, texts in enumerate(columns) if texts), 0)
    values = tuple(each for at, texts in enumerate(columns) if at != first for each in texts)
    total = _lines(
        (sheet.at.sheet.total_label,) if place.totals_row else (), place.totals_row, place.left
    )
    table = TableContents(titles[0] if titles else None, (*columns[first], *total), values)
    pivots = (
        TableContents(
            labels=tuple(
                _texts((name for name, _ in pivot.items), pivot.area.top + 1, pivot.area.left)
            )
        )
        for pivot in sheet.pivots
    )
    return SheetContents((*titles[1:], *notes), (table, *pivots))


def _lines(lines: Sequence[str], row: int, column: int) -> tuple[CellText, ...]:
    letters = column_letters(column)
    return tuple(CellText(f"{letters}{row + at}", line) for at, line in enumerate(lines))


def _texts(cells: Iterable[Value], row: int, column: int) -> list[CellText]:
    """Return the distinct texts of cells, from the top down."""
    letters, found = column_letters(column), dict[str, CellText]()
    for at, value in enumerate(cells):
        if isinstance(value, str) and value.strip():
            found.setdefault(value, CellText(f"{letters}{row + at}", value))
    return list(found.values())
