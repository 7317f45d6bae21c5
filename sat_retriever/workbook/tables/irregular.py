"""Recognition of sheets with scattered cells: a diagram, a printed form, a family tree."""

from __future__ import annotations

from collections.abc import Sequence

MIN_PIECES = 5
MAX_PIECE_CELLS = 8
"""Most cells of a block that counts as a piece; pieces must have most of the cells."""
MAX_DENSITY = 0.12
"""Largest filled share of the used range at which its cells count as scattered."""
MAX_LARGEST = 0.3
"""Largest share of the filled cells in one block."""
MAX_HEADED = 0.5


def is_irregular(pieces: Sequence[int], headed: Sequence[bool], filled: int, size: int) -> bool:
    """True if blocks are pieces of one irregular sheet rather than separate tables.

    Args:
        pieces: Number of filled cells of each block.
        headed: For each block, True if it has a header over some rows of data.
        filled: Filled cells of the sheet.
        size: Cells of its used range.

    >>> is_irregular([4, 2, 6, 4, 4, 3], [False, True, False, False, False, False], 25, 400)
    True
    >>> is_irregular([9] * 6, [True] * 6, 54, 400)
    False
    """
    return (
        len(pieces) >= MIN_PIECES
        and 2 * sum(cells for cells in pieces if cells <= MAX_PIECE_CELLS) > sum(pieces)
        and filled <= MAX_DENSITY * size
        and max(pieces) <= MAX_LARGEST * filled
        and sum(headed) <= MAX_HEADED * len(headed)
    )
