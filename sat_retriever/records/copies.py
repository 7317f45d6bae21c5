"""Copies of a sheet: what they are found by, and what a hit says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

COPIES_LISTED = 20  # of one hit; the rest is counted


@dataclass(frozen=True, slots=True)
class CellSketch:
    """Sketch of a sheet's cells, by which copies are found; it holds no value.

    An item is a cell together with the label of its row. Its hash has 48 bits: the lower 16 are
    of the label alone, so that sketches of samples of rows can be compared.

    Attributes:
        sheet: Sheet name.
        step: Rows were looked at whose label's hash is a multiple of 2 ** step.
        numbers: Different items of numbers that were seen.
        texts: Different items of texts, dates and truth values that were seen.
        number_sketch: The smallest hashes of items of numbers, ascending.
        text_sketch: The smallest hashes of the other items, ascending.
        total: All hashes as one number, those of headers too; equal cells give equal totals.
    """

    sheet: str
    step: int
    numbers: int
    texts: int
    number_sketch: tuple[int, ...] = ()
    text_sketch: tuple[int, ...] = ()
    total: int = 0


@dataclass(frozen=True, slots=True)
class Copies:
    """The other members of a sheet's group of copies.

    Attributes:
        number: How many there are.
        newer: How many of them are newer than the sheet.
        sheet_ids: Their ids, newest first, at most 20.
        equal: Ids of those whose files are byte for byte the same, likewise.
    """

    number: int = 0
    newer: int = 0
    sheet_ids: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """False if the sheet has no copy."""
        return self.number > 0

    @property
    def label(self) -> str:
        """The number in words, to stand behind a sheet; "" for none.

        >>> Copies(3).label, Copies(3, newer=1).label, Copies(1).label
        ('and 3 older copies', 'and 3 other copies', 'and 1 older copy')
        >>> Copies(1, 1, equal=("a",)).label, Copies(3, equal=("a",)).label
        ('and 1 equal copy', 'and 3 older copies, 1 equal')
        """
        if not self.number:
            return ""
        noun = "copy" if self.number == 1 else "copies"
        if len(self.equal) == min(self.number, COPIES_LISTED):
            return f"and {self.number:,} equal {noun}"
        equal = f", {len(self.equal)} equal" if self.equal else ""
        return f"and {self.number:,} {'other' if self.newer else 'older'} {noun}{equal}"

    def to_dict(self) -> dict[str, Any]:
        """The copies as plain JSON values."""
        return {
            "number": self.number,
            "newer": self.newer,
            "sheet_ids": list(self.sheet_ids),
            "equal": list(self.equal),
        }


NO_COPIES = Copies()
CopiesOf = Mapping[str, Copies]
