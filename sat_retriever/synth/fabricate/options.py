"""How source and target are cut and made unlike."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from sat_retriever.errors import InputError

SchemaNoise = Literal["prefix", "abbreviate", "vowels"]
_NARROW = 5  # columns


@dataclass(frozen=True, slots=True)
class FabricateOptions:
    """How source and target are made from one workbook.

    Source: paper, appendix on pair generation; the defaults are its parameters. Departs:
    `schema_share` is measured in the release (181 of 501 pairs), which the paper does not
    state; keys are left alone, as the noised ones join nothing: `PAPER` noises them too.

    Attributes:
        columns: Smallest and largest share of a table's columns that stand in both halves;
            None to cut no columns.
        column_draw: How the share is drawn for a table: "even" between the two, or
            "by_width": the largest for tables of up to five columns, else the smallest.
        rows: Share of the source's rows that stand in the target too; None to cut no rows.
        schema_noise: What is done to the headers of a noised target, in this order.
        schema_share: Share of the tables whose target has noised headers.
        string_noise: Probability with which a letter or digit of a source's text gives way to
            a neighbour on the keyboard.
        numeric_noise: Smallest and largest share by which mean and deviation of a source's
            numbers are off, up or down; None to leave numbers alone.
        noised_keys: Whether columns that identify, match and choose are noised as all others.
            They then identify nothing, and what is looked up by them becomes plain values.
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
        """Check that shares are shares.

        Raises:
            InputError: If one is outside [0, 1], or a range is upside down.
        """
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
        """Share of a table's columns that stand in both halves; 1 if none is cut."""
        if self.columns is None:
            return 1.0
        smallest, largest = self.columns
        if self.column_draw == "by_width":
            return largest if count <= _NARROW else smallest
        return chance.uniform(smallest, largest)


PAPER = FabricateOptions(column_draw="by_width", noised_keys=True)
"""The paper's corpora: every column is noised, keys too, and shares go by a table's width.

That gives the numbers of columns of all 501 released pairs; an even draw does not.
"""
