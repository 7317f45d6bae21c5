"""Rectangles of cells and their A1 addresses."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

_ADDRESS = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
MAX_COLUMN, MAX_ROW = 16_384, 1_048_576

Place = tuple[int, int]
"""Row and column of a cell, 1-based."""


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, 1-based and inclusive: a merge, a table object, a used range."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def rows(self) -> range:
        """Its rows."""
        return range(self.top, self.bottom + 1)

    @property
    def columns(self) -> range:
        """Its columns."""
        return range(self.left, self.right + 1)

    @property
    def size(self) -> int:
        """Number of its cells."""
        return len(self.rows) * len(self.columns)

    @property
    def part(self) -> tuple[slice, slice]:
        """Its place in an array of cells, if it is counted from 0."""
        return slice(self.top, self.bottom + 1), slice(self.left, self.right + 1)

    @classmethod
    def around(cls, areas: Collection[Area]) -> Area:
        """The smallest rectangle that holds some others.

        >>> Area.around([Area(1, 2, 1, 2), Area(3, 1, 3, 1)])
        Area(top=1, left=1, bottom=3, right=2)
        """
        return cls(
            min(area.top for area in areas),
            min(area.left for area in areas),
            max(area.bottom for area in areas),
            max(area.right for area in areas),
        )

    def a1(self) -> str:
        """The rectangle in A1 form.

        >>> Area(3, 1, 5, 28).a1()
        'A3:AB5'
        """
        return f"{column_letters(self.left)}{self.top}:{column_letters(self.right)}{self.bottom}"

    def holds(self, row: int, col: int) -> bool:
        """True if the cell lies in the rectangle.

        >>> Area(3, 1, 5, 28).holds(5, 1), Area(3, 1, 5, 28).holds(2, 1)
        (True, False)
        """
        return self.top <= row <= self.bottom and self.left <= col <= self.right


def column_letters(col: int) -> str:
    """Letters of a 1-based column number.

    >>> column_letters(1), column_letters(28), column_letters(16384)
    ('A', 'AB', 'XFD')
    """
    letters = ""
    while col > 0:
        col, rest = divmod(col - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def column_number(letters: str) -> int:
    """The 1-based number of a column's letters.

    >>> column_number("A"), column_number("AB"), column_number("XFD")
    (1, 28, 16384)
    """
    col = 0
    for letter in letters:
        col = col * 26 + ord(letter) - 64
    return col


def split_ref(ref: str) -> tuple[int, int] | None:
    """Row and column, 1-based, of a cell address; None if the text is none.

    >>> split_ref("AB12"), split_ref("XFE1"), split_ref("12")
    ((12, 28), None, None)
    """
    match = _ADDRESS.fullmatch(ref)
    if match is None:
        return None
    col, row = column_number(match[1]), int(match[2])
    return (row, col) if col <= MAX_COLUMN and row <= MAX_ROW else None


def area_of(ref: str) -> Area | None:
    """The rectangle of an A1 reference; None if the text is none.

    >>> area_of("$B$2:C9")
    Area(top=2, left=2, bottom=9, right=3)
    """
    first, _, last = ref.replace("$", "").partition(":")
    start, end = split_ref(first), split_ref(last or first)
    if start is None or end is None:
        return None
    (top, left), (bottom, right) = start, end
    return Area(min(top, bottom), min(left, right), max(top, bottom), max(left, right))
