"""Make sheets with known tables, by one seeded maker for every layout to detect."""

from __future__ import annotations

import random
from collections.abc import Callable

from benchmarks.reading.sheets import odd, rows
from benchmarks.reading.sheets.sheet import Rng, Sheet, Truth

__all__ = ["MAKERS", "Sheet", "Truth", "make_sheets"]

MAKERS: tuple[Callable[[Rng, str], Sheet], ...] = (
    rows.plain,
    rows.titled,
    rows.offset,
    rows.multi_row,
    rows.totals,
    rows.units,
    rows.footnotes,
    rows.spacers,
    rows.index_column,
    rows.ragged_header,
    rows.messy,
    rows.sections,
    rows.report,
    rows.pivot,
    odd.side_by_side,
    odd.stacked,
    odd.stacked_tight,
    odd.form,
    odd.sideways,
    odd.year_matrix,
    odd.no_header,
    odd.declared,
    odd.date_header,
    odd.text_only,
    odd.single_row,
    odd.single_column,
    odd.prose,
    odd.text_without_header,
)


def make_sheets(part: str, seed: int, each: int) -> list[Sheet]:
    """Make `each` sheets of every layout, from one seed and one part's words."""
    return [
        maker(random.Random(f"{seed}/{maker.__name__}/{index}"), part)
        for maker in MAKERS
        for index in range(each)
    ]
