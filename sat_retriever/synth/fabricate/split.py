"""Choose the rows and columns of source and target, and the noise in both."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from sat_retriever.errors import InputError

SchemaNoise = Literal["prefix", "abbreviate", "vowels"]
_NARROW = 5  # columns


@dataclass(frozen=True, slots=True)
class FabricateOptions:
    """The options for making source and target from one workbook.

    Source: paper, appendix on pair generation; the defaults are its parameters. Departs:
    `schema_share` is measured in the release (181 of 501 pairs), because the paper does not
    state it; keys stay unchanged, because noisy keys join nothing. `PAPER` has noisy keys too.

    Attributes:
        columns: Smallest and largest share of a table's columns that are in both halves; None to
            cut no columns.
        column_draw: How the share is drawn for a table: "even" is uniform between the two,
            "by_width" is the largest for tables of up to five columns, else the smallest.
        rows: Share of the source's rows that are also in the target; None to cut no rows.
        schema_noise: Rules for the headers of a noisy target, in this order.
        schema_share: Share of the tables whose target has noisy headers.
        string_noise: Probability of replacing a letter or digit of a source's text by an
            adjacent key.
        numeric_noise: Smallest and largest share by which mean and deviation of a source's
            numbers change, up or down; None to keep the numbers.
        noised_keys: True if columns for keys, lookups and choices are noised like all others.
            They then identify nothing, and lookups by them become plain values.
    """

    columns: tuple[float, float] | None = (0.5, 0.7)
    column_draw: Literal["even", "by_width"] = "even"
    rows: float | None = 0.5
    schema_noise: tuple[SchemaNoise, ...] = ("prefix",)
    schema_share: float = 0.36
    string_noise: float = 0.20
    numeric_noise: tuple[float, float] | None = (0.1, 0.5)
    noised_keys: bool = False

    def __post_init__(self) -> None:
        ranges = {"columns": self.columns, "numeric_noise": self.numeric_noise}
        for name, bounds in ranges.items():
            if bounds is not None and not 0 <= bounds[0] <= bounds[1] <= 1:
                raise InputError(f"{name} must be two ascending shares in [0, 1], not {bounds}")
        rows = 0.0 if self.rows is None else self.rows
        shares = {
            "rows": rows,
            "schema_share": self.schema_share,
            "string_noise": self.string_noise,
        }
        for name, share in shares.items():
            if not 0 <= share <= 1:
                raise InputError(f"{name} must be a share in [0, 1], not {share}")

    def column_overlap(self, count: int, chance: random.Random) -> float:
        """Return the share of a table's columns that are in both halves; 1 if none is cut."""
        if self.columns is None:
            return 1.0
        smallest, largest = self.columns
        if self.column_draw == "by_width":
            return largest if count <= _NARROW else smallest
        return chance.uniform(smallest, largest)


PAPER = FabricateOptions(column_draw="by_width", noised_keys=True)
"""The paper's options: every column is noised, keys included; shares depend on a table's width.

This gives the numbers of columns of all 501 released pairs; an even draw does not.
"""


@dataclass(frozen=True, slots=True)
class ColumnSplit:
    """The ids of the columns of two overlapping halves, each in the original order."""

    source: tuple[str, ...]
    target: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowSplit:
    """The numbers of the rows of two overlapping halves, ascending."""

    source: tuple[int, ...]
    target: tuple[int, ...]


def vertical(
    columns: Sequence[str], keys: Collection[str], overlap: float, chance: random.Random
) -> ColumnSplit:
    """Split columns into two halves that share the part `overlap` of all columns.

    Of n columns, floor(overlap * n) are in both halves, but at least two if there are three,
    and all keys; the rest is distributed evenly, an odd one to the target. Each half lacks
    some columns if at least two columns are in one half only.

    Source: the released pairs (`train.json`): all 501 follow this rule with 0.5, or with 0.7
    for up to five columns. Departs: columns keep their order (in the release the shared ones
    come first, in random order), and keys are always shared.
    """
    least = min(2, max(1, len(columns) - 1))
    # The small addend prevents 0.7 * 10 from becoming 6.
    count = max(math.floor(overlap * len(columns) + 1e-9), least)
    kept = [column for column in columns if column in keys]
    others = [column for column in columns if column not in keys]
    chance.shuffle(others)
    free = max(0, min(count - len(kept), len(others)))
    shared, rest = {*kept, *others[:free]}, others[free:]
    half = len(rest) // 2
    source, target = shared | set(rest[:half]), shared | set(rest[half:])
    return ColumnSplit(
        tuple(column for column in columns if column in source),
        tuple(column for column in columns if column in target),
    )


def horizontal(count: int, overlap: float, chance: random.Random) -> RowSplit:
    """Split rows into two halves; the share `overlap` of the source's rows is also in the target.

    Of n rows the source has floor(n / 2), at least one; the target has all others and
    floor(overlap * floor(n / 2)) of the source's. No half is empty, and no row is lost.

    Source: the released pairs: the numbers of rows of all 501 follow this rule with 0.5.

    >>> split = horizontal(25, 0.5, random.Random(1))
    >>> len(split.source), len(split.target), len({*split.source} & {*split.target})
    (12, 19, 6)
    """
    rows = list(range(count))
    chance.shuffle(rows)
    half = max(1, count // 2)
    shared = math.floor(overlap * half + 1e-9) if count > 1 else half
    return RowSplit(tuple(sorted(rows[:half])), tuple(sorted([*rows[:shared], *rows[half:]])))
