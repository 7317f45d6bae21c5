"""Rows of a table that hold a statistic of its records: a mean, a maximum, a count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sat_retriever.text.totalwords import Statistic, TotalLabel
from sat_retriever.workbook.tables.numberrows import NumberRows
from sat_retriever.workbook.tables.sums import Vector

ROUGHLY = 0.005
"""Relative error of a statistic, which is often rounded."""
AGREEING = 0.5
LEAST = 3
"""Least records of which a row is a statistic."""


def is_statistic(rows: NumberRows, row: int, records: Sequence[int], label: TotalLabel) -> bool:
    """True if most of a row's numbers are the statistic of the records that its label names.

    The largest and the smallest value are those of a record, too, so such a row needs a gap, or two
    columns that agree.

    Args:
        rows: The rows of a table.
        row: The row.
        records: Rows of records.
        label: The row's label.
    """
    if not rows.known[row].any():
        return bool(rows.numbers[row].any())  # formulas without a saved value
    values, own = rows.values[records], rows.values[row]
    if len(records) < LEAST:
        return False
    columns = ~np.isnan(own) & ~np.isnan(values).all(axis=0)
    if not columns.any():
        return False
    values, own = values[:, columns], own[columns]
    told = _statistic(values, label.kind)
    close = np.abs(own - told) <= np.maximum(ROUGHLY * np.abs(told), 0.5 * rows.steps[columns])
    extreme = label.kind in (Statistic.LARGEST, Statistic.SMALLEST)
    enough = not extreme or bool(rows.gaps[row]) or int(close.sum()) > 1
    return bool(close.mean() >= AGREEING) and enough


def _statistic(values: Vector, kind: Statistic | None) -> Vector:
    """One statistic of each column."""
    with np.errstate(invalid="ignore", over="ignore"):
        match kind:
            case Statistic.MEDIAN:
                found = np.nanmedian(values, axis=0)
            case Statistic.LARGEST:
                found = np.nanmax(values, axis=0)
            case Statistic.SMALLEST:
                found = np.nanmin(values, axis=0)
            case Statistic.COUNT:
                found = (~np.isnan(values)).sum(axis=0).astype(np.float64)
            case Statistic.DEVIATION:
                found = np.nanstd(values, axis=0, ddof=min(1, len(values) - 1))
            case _:
                found = np.nanmean(values, axis=0)
    return np.asarray(found, dtype=np.float64)
