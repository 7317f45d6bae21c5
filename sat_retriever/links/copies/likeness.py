"""Copies of a sheet: two sheets compared, and the group of all that are alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sat_retriever.links.copies.claims import MIN_NUMBERS, CopyClaim, name_hash
from sat_retriever.records.structure import CellSketch

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class CopyBounds:
    """Least likeness of two sheets that are copies; chosen on made histories."""

    same: float = 0.4  # share of one sheet's cells in the other, of equal names in one folder
    # The same of a sheet whose name another version of its workbook does not have.
    renamed: float = 0.7
    # Share of each sheet's cells in the other, of one name in two folders, or in a workbook under
    # two names.
    elsewhere: float = 0.9
    texts: float = 0.3  # share of the texts of one sheet in the other, beside that of the numbers


BOUNDS = CopyBounds()


def are_copies(one: CopyClaim, other: CopyClaim, bounds: CopyBounds = BOUNDS) -> bool:
    """True if two sheets are versions of one; symmetric.

    A sheet of another file of the same bytes is one, whatever the paths say. Else sheets whose
    names say different months, quarters or years are a series, and so are those in folders or
    files whose names differ by a number alone.
    """
    if one.file == other.file and one.title == other.title:
        return True
    if _of_series(one, other):
        return False
    if one.sketch is None or other.sketch is None:
        return False
    return _cells_alike(one, one.sketch, other, other.sketch, bounds)


def _of_series(one: CopyClaim, other: CopyClaim) -> bool:
    if one.period and other.period and one.period != other.period:
        return True
    pairs = ((one.folder, other.folder), (one.book, other.book))
    return any(a != b and _NUMBER.sub("", a) == _NUMBER.sub("", b) for a, b in pairs)


def _cells_alike(
    one: CopyClaim, cells: CellSketch, other: CopyClaim, others: CellSketch, bounds: CopyBounds
) -> bool:
    held, holds = contained(cells, others)
    same_book = (one.folder, one.book) == (other.folder, other.book)
    if same_book and one.tab == other.tab:
        return max(held, holds) >= bounds.same and _texts_alike(cells, others, bounds)
    if same_book:
        enough = min(cells.numbers, others.numbers) >= MIN_NUMBERS
        return enough and _renamed(one, other) and max(held, holds) >= bounds.renamed
    if one.tab != other.tab or min(held, holds) < bounds.elsewhere:
        return False
    # Many workbooks hold the same source tables and lists; then their other sheets differ.
    return one.book == other.book or bool(one.contents and one.contents == other.contents)


def _renamed(one: CopyClaim, other: CopyClaim) -> bool:
    """True if the sheet of one workbook may stand under another name in the other one."""
    tabs = (one.tabs, other.tabs)
    if one.file == other.file or not all(tabs):
        return False
    return name_hash(one.tab) not in other.tabs and name_hash(other.tab) not in one.tabs


def contained(one: CellSketch, other: CellSketch) -> tuple[float, float]:
    """Share of one sheet's cells that the other has, and the other way round.

    Numbers count alone where both have enough of them: labels and headers are equal in all
    sheets of a series.
    """
    step = max(one.step, other.step)
    if min(one.numbers, other.numbers) >= MIN_NUMBERS:
        return _of_parts(one.number_sketch, one.numbers, other.number_sketch, other.numbers, step)
    return _of_parts(
        _joined(one), one.numbers + one.texts, _joined(other), other.numbers + other.texts, step
    )


def _joined(sketch: CellSketch) -> Sequence[int]:
    return sorted((*sketch.number_sketch, *sketch.text_sketch))


def _of_parts(
    own: Sequence[int], distinct: int, other: Sequence[int], others: int, step: int
) -> tuple[float, float]:
    """Shares of two sketches, as far as both are known.

    Source: bottom-k (KMV) sketches, Beyer et al. 2007: up to the smaller of the largest hashes
    of two sketches that are cut, both hold all hashes of their sheets.
    """
    borders = [part[-1] for part, count in ((own, distinct), (other, others)) if count > len(part)]
    border = min(borders, default=None)
    mask = (1 << step) - 1
    one, two = (
        {each for each in part if not each & mask and (border is None or each <= border)}
        for part in (own, other)
    )
    if not one or not two:
        return 0.0, 0.0
    common = len(one & two)
    return common / len(one), common / len(two)


def _texts_alike(one: CellSketch, other: CellSketch, bounds: CopyBounds) -> bool:
    if min(one.texts, other.texts) < MIN_NUMBERS:
        return True
    step = max(one.step, other.step)
    shares = _of_parts(one.text_sketch, one.texts, other.text_sketch, other.texts, step)
    return max(shares) >= bounds.texts


Neighbours = Callable[[int], Iterable[int]]
Alike = Callable[[int, int], bool]


def group_of(start: int, neighbours: Neighbours, alike: Alike) -> set[int]:
    """All sheets that a chain of copies connects with one; `neighbours` and `alike` are symmetric.

    What is found does not depend on the sheet of the group that it starts from. Weekly exports
    are one group although the first and the last have no row in common.

    >>> near = {1: [2], 2: [1, 3], 3: [2, 4], 4: [3]}
    >>> sorted(group_of(3, near.__getitem__, lambda a, b: a + b < 7))
    [1, 2, 3]
    """
    found = {start}
    waiting = [start]
    while waiting:
        one = waiting.pop()
        for other in neighbours(one):
            if other not in found and alike(one, other):
                found.add(other)
                waiting.append(other)
    return found
