"""A sample of one block of limited size, with statistics of its rows and columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import Area
from sat_retriever.workbook.values.cells import Cells, Code, Kind, kinds_of, plain_text, sharp_kind
from sat_retriever.workbook.values.grid import Value

HEAD_ROWS = 48
TAIL_ROWS = 24
HEAD_COLS = 40
TAIL_COLS = 16
MAX_TEXT = 256
MAX_HEADS = 16  # first rows of a block that may be a header which further rows repeat
YEARS = (1900, 2100)
MIN_STEPS = 3


class Family(Code):
    """Families of kinds that are alike in a column; errors count as empty.

    The last one is for formulas without a saved value, which may belong to any other.
    """

    NONE = 0
    WORDS = 1
    NUMBER = 2
    BOOLEAN = 3
    DATE = 4
    CODE = 5
    UNKNOWN = 6


# A number in a text, also one with a sign before it that says more or less.
_WRITTEN = re.compile(
    r"(?:[<>≤≥~≈]\s?|\(\s?|[+\-−])?[$€£¥]?(?:0|[1-9])[\d.,' ]{0,20}\s?[$€£¥%]?[)\-]?"
)
_FAMILY = np.zeros(len(Kind), dtype=np.uint8)
_FAMILY[Kind.TEXT] = Family.WORDS
_FAMILY[[Kind.INTEGER, Kind.NUMBER]] = Family.NUMBER
_FAMILY[Kind.BOOLEAN] = Family.BOOLEAN
_FAMILY[[Kind.DATE, Kind.TIME]] = Family.DATE
_FAMILY[Kind.CODE] = Family.CODE
_FAMILY[Kind.UNKNOWN] = Family.UNKNOWN


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows and columns of a block that represent all of it."""

    # Sampled 0-based grid rows, none of them empty; the first 48 of the block, then some spread
    # over the rest
    rows: Sequence[int]
    cols: Sequence[int]  # sampled 0-based grid columns
    values: Sequence[Sequence[Value]]  # values, `values[i][j]` of row i and column j of the sample
    filled: NDArray[np.bool_]  # mask of cells with any value, shape (rows, cols) bool
    families: NDArray[np.uint8]  # family codes, shape (rows, cols) uint8
    # `below[f, i, j]` = cells of family f in column j from row i on, shape (families, rows + 1,
    # cols)
    below: NDArray[np.int32]

    def texts(self, row: int) -> list[str]:
        """Texts of a sampled row, stripped, left to right."""
        return [str(v).strip() for v in self.values[row] if isinstance(v, str) and v.strip()]

    def column(self, col: int, start: int) -> list[Value]:
        """Values of a sampled column from a sampled row on, without empty cells."""
        line = (row[col] for row in self.values[start:])
        return [value for value in line if value is not None]

    def likely(self, start: int) -> NDArray[np.int32]:
        """Cells of each family except NONE from a sampled row on, shape (families, cols).

        Formulas without a saved value count as numbers, which most of them are.
        """
        counts = self.below[1 : Family.UNKNOWN, start].copy()
        counts[Family.NUMBER - 1] += self.below[Family.UNKNOWN, start]
        return counts

    def kept(self, places: Sequence[int]) -> Sample:
        """The same sample with some of its rows only."""
        families = self.families[places]
        return Sample(
            [self.rows[place] for place in places],
            self.cols,
            [self.values[place] for place in places],
            self.filled[places],
            families,
            _suffix_counts(families),
        )

    def turned(self) -> Sample:
        """The same sample with rows and columns swapped."""
        values = [list(line) for line in zip(*self.values, strict=True)]
        below = _suffix_counts(self.families.T)
        return Sample(self.cols, self.rows, values, self.filled.T, self.families.T, below)


def sample_block(cells: Cells, block: Area) -> Sample:
    """A sample of at most 72 rows and 56 columns of a block."""
    part = cells.part(block)
    rows = _spread(np.flatnonzero(part.any(axis=1)) + block.top, HEAD_ROWS, TAIL_ROWS)
    cols = _spread(np.flatnonzero(part.any(axis=0)) + block.left, HEAD_COLS, TAIL_COLS)
    values = [cells.line(row, cols) for row in rows]
    kinds = kinds_of(chain.from_iterable(values)).reshape(len(rows), len(cols))
    kinds[cells.kinds[np.ix_(rows, cols)] == Kind.UNKNOWN] = Kind.UNKNOWN
    filled = kinds != Kind.EMPTY
    for row, col in np.argwhere(kinds == Kind.TEXT).tolist():
        value = values[row][col] = _cut(values[row][col])
        kind = sharp_kind(value)
        if kind == Kind.CODE and _WRITTEN.fullmatch(str(value).strip()):
            kind = Kind.NUMBER
            if str(value).strip().isdecimal():
                values[row][col] = int(str(value))
        kinds[row, col] = kind
    families = _FAMILY[kinds]
    sample = Sample(rows, cols, values, filled, families, _suffix_counts(families))
    once = _once(values, filled, families)
    return sample.kept(once) if len(once) < len(rows) else sample


def _once(
    values: Sequence[Sequence[Value]], filled: NDArray[np.bool_], families: NDArray[np.uint8]
) -> list[int]:
    """Places of rows without those that repeat the first row of texts that is the widest so far.

    A header that each printed page repeats must not look like a record of its own table.
    """
    counts = filled.sum(axis=1).tolist()
    words = ((families == Family.WORDS) | ~filled).all(axis=1).tolist()
    heads: list[list[str]] = []
    keep = []
    widest = 1
    for row, (line, count) in enumerate(zip(values, counts, strict=True)):
        wider = row < MAX_HEADS and count > widest
        widest = max(widest, count)
        if words[row] and count > 1 and (heads or wider):
            texts = [plain_text(value).casefold() for value in line]
            if texts in heads:
                continue
            if wider:
                heads.append(texts)
        keep.append(row)
    return keep


def _cut(value: Value) -> Value:
    """The value; a text is cut after 256 characters, because the rest is not informative."""
    return value[:MAX_TEXT] if type(value) is str and len(value) > MAX_TEXT else value


def _suffix_counts(families: NDArray[np.uint8]) -> NDArray[np.int32]:
    rows, cols = families.shape
    each = np.arange(len(Family))[:, None, None] == families[None, ::-1]
    below = np.zeros((len(Family), rows + 1, cols), dtype=np.int32)
    np.cumsum(each, axis=1, out=below[:, -2::-1])
    return below


def _spread(index: NDArray[np.int64], head: int, tail: int) -> list[int]:
    """The first `head` entries and up to `tail` spread evenly over the rest, including the last."""
    first: list[int] = index[:head].tolist()
    rest = index[head:]
    if not len(rest):
        return first
    picks = np.unique(np.linspace(0, len(rest) - 1, min(tail, len(rest))).astype(int))
    return [*first, *rest[picks].tolist()]


def _one_cycle(numbers: list[int | float]) -> list[int | float]:
    """The first numbers of a row if all others repeat them: 2023, 2024, 2023, 2024."""
    length = next((at for at in range(2, len(numbers)) if numbers[at] == numbers[0]), 0)
    cycle = numbers[:length]
    whole = length and len(numbers) % length == 0 and numbers == cycle * (len(numbers) // length)
    return cycle if whole else numbers


def steps(values: Sequence[Value]) -> float:
    """Likelihood in [0, 1] that a row's numbers are headers; texts are ignored.

    Ascending (or descending) years give 1, even if one in ten is out of order (a last column
    "2022–2050"); three or more numbers with a common step give .4; everything else gives 0.

    >>> steps(["Region", 2019.0, 2020.0, 2030.0]), steps([10, 20, 30]), steps([3, 9, 4])
    (1.0, 0.4, 0.0)
    """
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if not numbers:
        return 0.0
    if all(YEARS[0] <= v <= YEARS[1] and float(v).is_integer() for v in numbers):
        numbers = _one_cycle(numbers)
        gaps = [after - before for before, after in pairwise(numbers)]
        up, down = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
        return 1.0 if max(up, down) >= len(gaps) - len(numbers) // 10 else 0.0
    if len(numbers) < MIN_STEPS or (step := numbers[1] - numbers[0]) == 0:
        return 0.0
    return 0.4 if all(after - before == step for before, after in pairwise(numbers)) else 0.0
