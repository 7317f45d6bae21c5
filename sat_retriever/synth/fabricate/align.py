"""Align the columns of a target with those of its source."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.synth.book.model import Book


@dataclass(frozen=True, slots=True)
class AlignedColumn:
    """One column that is in both halves.

    Attributes:
        id: Its id, equal in both.
        source: Header in the source.
        target: Header in the target.
    """

    id: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Alignment:
    """The columns that one sheet of a source shares with the target's sheet of that name.

    Attributes:
        sheet: Name of the tab in both workbooks.
        columns: Shared columns in the order of the source.
    """

    sheet: str
    columns: tuple[AlignedColumn, ...]


def aligned(source: Book, target: Book) -> tuple[Alignment, ...]:
    """Align each sheet of the source, in tab order."""
    return tuple(
        Alignment(
            sheet.name,
            tuple(
                AlignedColumn(column.id, column.header, same.header)
                for column in sheet.columns
                if other is not None and (same := other.column(column.id)) is not None
            ),
        )
        for sheet in source.sheets
        for other in (target.sheet(sheet.name),)
    )
