"""Description of a table's columns: inferred type, example and unit of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.privacy import Privacy
from sat_retriever.records.sheets import Column, ColumnType
from sat_retriever.records.typedtable import ColumnKind
from sat_retriever.workbook.tables.placeholders import NOTE_LENGTH, is_free_text, placeholder
from sat_retriever.workbook.values.cellformats import FormatArray
from sat_retriever.workbook.values.cells import MAX_EXAMPLE_LENGTH, Kind, KindArray, plain_text
from sat_retriever.workbook.values.grid import CellError, Value
from sat_retriever.workbook.values.numberformat import (
    PLAIN,
    NumberFormat,
    joint_format,
    told_unit,
)
from sat_retriever.workbook.values.typed import Typed, typed

SAMPLE = 200
"""Non-empty values of a column that are sampled."""
_TEXTS = 50
"""Texts of the rest that are sampled, too."""

_HELD = [Kind.INTEGER, Kind.NUMBER, Kind.BOOLEAN, Kind.DATE, Kind.TIME]
_TYPES = {
    ColumnKind.BOOLEAN: ColumnType.BOOLEAN,
    ColumnKind.DATE: ColumnType.DATE,
    ColumnKind.DATETIME: ColumnType.DATE,
    ColumnKind.TIME: ColumnType.TIME,
    ColumnKind.DURATION: ColumnType.TIME,
    ColumnKind.TEXT: ColumnType.TEXT,
}


@dataclass(frozen=True, slots=True)
class ColumnCells:
    """The data cells of a column, or a sample of them.

    Attributes:
        kinds: Kind codes of its non-empty cells.
        values: Values of the same cells.
        unseen: Number of further cells that hold no text.
        shown: What the formats of its numbers show.
    """

    kinds: KindArray
    values: Sequence[Value]
    unseen: int = 0
    shown: NumberFormat = PLAIN


def sample_column(kinds: KindArray) -> tuple[NDArray[np.intp], int]:
    """Positions of a column's cells that stand for all, ascending, and how many they leave unseen.

    They are the first 200 that are not empty, up to 50 texts spread over the others, and one of
    each further kind. Unseen cells without a text count for less if texts are unseen, too, so that
    the shares of both are true.

    Args:
        kinds: Kind codes of all its data cells.
    """
    held: NDArray[np.intp] = kinds.nonzero()[0]
    if len(held) <= SAMPLE:
        return held, 0
    first, rest = held[:SAMPLE], held[SAMPLE:]
    counts = np.bincount(kinds[rest], minlength=len(Kind))
    known = np.bincount(kinds[first], minlength=len(Kind))
    new = ((counts > 0) & (known == 0)).nonzero()[0].tolist()
    if not new and not counts[Kind.TEXT]:
        return first, int(counts[_HELD].sum())
    texts = rest[kinds[rest] == Kind.TEXT]
    spread = np.linspace(0, len(texts) - 1, min(len(texts), _TEXTS)).astype(np.intp)
    others = [rest[kinds[rest] == kind][:1] for kind in new]
    chosen = np.unique(np.concatenate([first, texts[spread], *others]))
    sampled = np.bincount(kinds[chosen], minlength=len(Kind))
    share = sampled[Kind.TEXT] / (known + counts)[Kind.TEXT] if sampled[Kind.TEXT] else 1.0
    return chosen, max(0, int(share * (known + counts)[_HELD].sum() - sampled[_HELD].sum()))


def joint_shown(
    kinds: KindArray, formats: FormatArray, shown: Sequence[NumberFormat]
) -> NumberFormat:
    """What the formats of a column's numbers show together.

    Args:
        kinds: Kind codes of its data cells.
        formats: Codes of their formats.
        shown: What the format of each code shows.
    """
    if not formats.any():
        return PLAIN
    numbers = (kinds == Kind.INTEGER) | (kinds == Kind.NUMBER)
    counts = np.bincount(formats[numbers], minlength=len(shown)).tolist()
    return joint_format({each: n for each, n in zip(shown, counts, strict=True) if n})


def describe_column(name: str, cells: ColumnCells, unit: str | None, privacy: Privacy) -> Column:
    """Describe one column by its data cells.

    Args:
        name: Canonical header.
        cells: Its data cells.
        unit: Content of its units cell.
        privacy: Whether a data value of this column may be kept.

    Returns:
        The column; type `empty` without any data cell.
    """
    kept = privacy.examples and not privacy.skips(name)
    first = _first_value(cells.values) if kept else None
    example = None if first is None else _cut(plain_text(first))
    encoded = None if first is None else encoded_text(name, cells.values, first)
    of_encoder = None if encoded == example else encoded
    found = typed(cells.values, cells.shown, unseen=cells.unseen)
    own_unit = column_unit(found, cells.shown, unit, name)
    return Column(name, example, _type_of(found, cells), own_unit, of_encoder)


def column_unit(found: Typed, shown: NumberFormat, row: str | None, header: str) -> str | None:
    """The unit of a column's values; of other values than numbers only that of the units row."""
    if found.kind is not ColumnKind.NUMBER:
        return row
    return told_unit(found.unit, shown, row, header)


def _type_of(found: Typed, cells: ColumnCells) -> ColumnType:
    """The type of typed values: that of a table's data, in the words of records."""
    if found.kind is ColumnKind.EMPTY:
        if (cells.kinds == Kind.UNKNOWN).any():
            return ColumnType.UNKNOWN
        return ColumnType.ERROR if found.errors else ColumnType.EMPTY
    if found.kind is ColumnKind.NUMBER:
        whole = all(v.is_integer() for v in found.values if isinstance(v, float))
        return ColumnType.INTEGER if whole else ColumnType.NUMBER
    if found.kind is ColumnKind.MIXED:
        texts = any(isinstance(value, str) for value in found.values)
        return ColumnType.TEXT if texts else ColumnType.UNKNOWN
    return _TYPES[found.kind]


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
