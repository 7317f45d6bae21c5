"""A table's columns: inferred type, example and unit of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sat_retriever.types import Column, ColumnType
from sat_retriever.workbook.cells import MAX_EXAMPLE_LENGTH, Cells, Kind, KindArray, plain_text
from sat_retriever.workbook.grid import CellError, Value
from sat_retriever.workbook.placeholders import NOTE_LENGTH, is_free_text, placeholder

SAMPLE = 200
"""Non-empty values of a column looked at for integers and for free text."""
MAJORITY = 0.5
"""Share of a column's non-empty cells from which one kind names its type."""

_TYPES = {
    Kind.TEXT: ColumnType.TEXT,
    Kind.BOOLEAN: ColumnType.BOOLEAN,
    Kind.DATE: ColumnType.DATE,
    Kind.TIME: ColumnType.TIME,
    Kind.ERROR: ColumnType.ERROR,
}


def describe_column(
    cells: Cells, name: str, line: Sequence[tuple[int, int]], unit: str | None, *, examples: bool
) -> Column:
    """One column from the addresses of its data cells.

    Args:
        cells: The sheet's cells.
        name: Canonical header.
        line: Addresses (row, column), 0-based, of its non-empty data cells, first
            to last; a sample of at most `SAMPLE` is enough.
        unit: Content of its units cell.
        examples: Whether a data value may be kept.

    Returns:
        The column; type `empty` without any data cell.
    """
    values = [cells.value(row, col) for row, col in line]
    kinds = np.array([cells.kinds[row, col] for row, col in line], dtype=np.uint8)
    column_type = infer_type(kinds, values)
    example = example_text(name, values) if examples else None
    return Column(name, example, column_type, unit)


def infer_type(kinds: KindArray, values: Sequence[Value]) -> ColumnType:
    """What most of a column's non-empty cells are.

    `kinds` are the kind codes of all sampled cells and `values` the same cells.
    Errors count only in a column that holds nothing else; integers are numbers
    without a fraction throughout; a column without a majority is `text` if any
    cell is text, else `unknown`.
    """
    counts = np.bincount(kinds, minlength=len(Kind))
    counts[Kind.EMPTY] = 0
    if not counts.any():
        return ColumnType.EMPTY
    if counts.sum() > counts[Kind.ERROR]:
        counts[Kind.ERROR] = 0
    numbers = counts[Kind.INTEGER] + counts[Kind.NUMBER]
    if numbers > MAJORITY * counts.sum():
        whole = all(v.is_integer() for v in values if isinstance(v, float))
        return ColumnType.INTEGER if whole else ColumnType.NUMBER
    counts[Kind.INTEGER] = counts[Kind.NUMBER] = 0
    best = int(counts.argmax())
    if counts[best] > MAJORITY * (counts.sum() + numbers):
        return _TYPES[Kind(best)]
    return ColumnType.TEXT if counts[Kind.TEXT] else ColumnType.UNKNOWN


def example_text(name: str, values: Sequence[Value]) -> str | None:
    """The first value as text of at most 60 characters, or a typed placeholder.

    None when there is no value.

    Source: paper, section 3.2 (Feature Extractor). Departs: an error value is taken
    only where there is nothing else.
    """
    filled = [v for v in values if v is not None and plain_text(v)]
    first = next((v for v in filled if not isinstance(v, CellError)), next(iter(filled), None))
    if first is None:
        return None
    text = plain_text(first)
    if isinstance(first, str):
        texts = [v for v in values if isinstance(v, str)]
        if len(first) > NOTE_LENGTH or (2 * len(texts) > len(values) and is_free_text(texts)):
            return placeholder(name, first)
    return text[:MAX_EXAMPLE_LENGTH].rstrip()
