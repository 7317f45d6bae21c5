"""Description of a table's columns: inferred type, example and unit of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sat_retriever.records.privacy import Privacy
from sat_retriever.records.sheets import Column, ColumnType
from sat_retriever.workbook.tables.placeholders import NOTE_LENGTH, is_free_text, placeholder
from sat_retriever.workbook.values.cells import MAX_EXAMPLE_LENGTH, Kind, KindArray, plain_text
from sat_retriever.workbook.values.grid import CellError, Value

SAMPLE = 200
"""Non-empty values of a column that are sampled."""
MAJORITY = 0.5
"""Share of a column's non-empty cells that the kind of its type must exceed."""

# As plain integers: list indices without enum look-ups.
_EMPTY, _TEXT, _ERROR, _UNKNOWN = map(int, (Kind.EMPTY, Kind.TEXT, Kind.ERROR, Kind.UNKNOWN))
_INTEGER, _NUMBER = int(Kind.INTEGER), int(Kind.NUMBER)
_TYPES = {
    Kind.TEXT: ColumnType.TEXT,
    Kind.BOOLEAN: ColumnType.BOOLEAN,
    Kind.DATE: ColumnType.DATE,
    Kind.TIME: ColumnType.TIME,
    Kind.ERROR: ColumnType.ERROR,
    Kind.UNKNOWN: ColumnType.UNKNOWN,
}


def describe_column(
    name: str, kinds: KindArray, values: Sequence[Value], unit: str | None, privacy: Privacy
) -> Column:
    """Describe one column by its data cells.

    Args:
        name: Canonical header.
        kinds: Kind codes of its non-empty data cells, first to last; a sample of at
            most `SAMPLE` is enough.
        values: Values of the same cells.
        unit: Content of its units cell.
        privacy: Whether a data value of this column may be kept.

    Returns:
        The column; type `empty` without any data cell.
    """
    kept = privacy.examples and not privacy.skips(name)
    first = _first_value(values) if kept else None
    example = None if first is None else _cut(plain_text(first))
    encoded = None if first is None else encoded_text(name, values, first)
    of_encoder = None if encoded == example else encoded
    return Column(name, example, infer_type(kinds, values), unit, of_encoder)


def infer_type(kinds: KindArray, values: Sequence[Value]) -> ColumnType:
    """Type of most of a column's non-empty cells.

    `kinds` are the kind codes of all sampled cells, `values` their values. Errors count only in a
    column without other cells, formulas without a saved value only in one with nothing but them
    and errors. A column of numbers is `integer` if none has a fraction. A column without a
    majority is `text` if any cell is text, else `unknown`.
    """
    counts = np.bincount(kinds, minlength=len(Kind)).tolist()
    counts[_EMPTY] = 0
    if not any(counts):
        return ColumnType.EMPTY
    for silent in (_ERROR, _UNKNOWN):
        if sum(counts) > counts[silent]:
            counts[silent] = 0
    half = MAJORITY * sum(counts)
    if counts[_INTEGER] + counts[_NUMBER] > half:
        whole = all(v.is_integer() for v in values if isinstance(v, float))
        return ColumnType.INTEGER if whole else ColumnType.NUMBER
    counts[_INTEGER] = counts[_NUMBER] = 0
    best = counts.index(max(counts))
    if counts[best] > half:
        return _TYPES[Kind(best)]
    return ColumnType.TEXT if counts[_TEXT] else ColumnType.UNKNOWN


def encoded_text(name: str, values: Sequence[Value], first: Value) -> str:
    """What an encoder reads of a column: 60 characters of its first value, or a placeholder.

    Source: paper, section 3.2 (Feature Extractor).
    """
    if isinstance(first, str):
        texts = [v for v in values if isinstance(v, str)]
        if len(first) > NOTE_LENGTH or (2 * len(texts) > len(values) and is_free_text(texts)):
            return placeholder(name, first)
    return plain_text(first)[:MAX_EXAMPLE_LENGTH].rstrip()


def _cut(text: str) -> str:
    """A text of at most 60 characters, with "…" for its end if it is longer."""
    whole = len(text) <= MAX_EXAMPLE_LENGTH
    return text if whole else f"{text[: MAX_EXAMPLE_LENGTH - 1].rstrip()}…"


def _first_value(values: Sequence[Value]) -> Value:
    """The first value that is not blank, errors last; None without any.

    Source: paper, section 3.2. Departs: an error value counts only if there is no other.
    """
    first_error = None
    for value in values:
        if value is None or not plain_text(value):
            continue
        if not isinstance(value, CellError):
            return value
        first_error = value if first_error is None else first_error
    return first_error
