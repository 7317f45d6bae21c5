"""Description of a table's columns: inferred type, example, unit, and placeholder of free text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.privacy import Privacy
from sat_retriever.records.sheets import Column, ColumnType
from sat_retriever.records.typedtable import ColumnKind
from sat_retriever.workbook.values.cells import MAX_EXAMPLE_LENGTH, Kind, KindArray, plain_text
from sat_retriever.workbook.values.grid import CellError, FormatArray, Value
from sat_retriever.workbook.values.numberformat import (
    PLAIN,
    NumberFormat,
    joint_format,
    told_unit,
)
from sat_retriever.workbook.values.typed import Typed, typed

SAMPLE = 200  # non-empty values of a column that are sampled
_TEXTS = 50  # texts of the rest that are sampled, too

_HELD = [Kind.INTEGER, Kind.NUMBER, Kind.BOOLEAN, Kind.DATE, Kind.TIME]
_TYPES = {
    ColumnKind.BOOLEAN: ColumnType.BOOLEAN,
    ColumnKind.DATE: ColumnType.DATE,
    ColumnKind.DATETIME: ColumnType.DATE,
    ColumnKind.TIME: ColumnType.TIME,
    ColumnKind.DURATION: ColumnType.TIME,
    ColumnKind.TEXT: ColumnType.TEXT,
}
NOTE_LENGTH = 120  # A longer text is a note in any column (paper: over 120 characters)
DISTINCT_RATIO = 0.9  # least share of distinct values of a high-cardinality text column
MIN_VALUES = 8  # least number of values for a judgement about a column's cardinality
MIN_FREE_LENGTH = 12.0  # least mean characters of free text, as opposed to short codes or words
MAX_TYPE_LENGTH = 24

_WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DETAIL = frozenset(
    "name names title titles id ids no nr number code text string full first last of the a an "
    "and or in for by description value field column".split()
)
_NOTES = frozenset(
    "note notes comment comments remark remarks description descriptions text body message "
    "content abstract summary details explanation review".split()
)


@dataclass(frozen=True, slots=True)
class ColumnCells:
    """The data cells of a column, or a sample of them."""

    kinds: KindArray  # kind codes of its non-empty cells
    values: Sequence[Value]
    unseen: int = 0  # number of further cells that hold no text
    shown: NumberFormat = PLAIN


def sample_column(kinds: KindArray) -> tuple[NDArray[np.intp], int]:
    """Positions of a column's cells that stand for all, ascending, and how many they leave unseen.

    They are the first 200 that are not empty, up to 50 texts spread over the others, and one of
    each further kind. Unseen cells without a text count for less if texts are unseen, too, so that
    the shares of both are true.
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
    """What the formats of a column's numbers show together."""
    if not formats.any():
        return PLAIN
    numbers = (kinds == Kind.INTEGER) | (kinds == Kind.NUMBER)
    counts = np.bincount(formats[numbers], minlength=len(shown)).tolist()
    return joint_format({each: n for each, n in zip(shown, counts, strict=True) if n})


def describe_column(name: str, cells: ColumnCells, unit: str | None, privacy: Privacy) -> Column:
    """Describe one column by its data cells; `unit` is the content of its units cell."""
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


def is_free_text(values: Sequence[str]) -> bool:
    """True if sampled texts of one column are high-cardinality free text.

    That means at least eight values, at least 90 % of them distinct, twelve or more characters
    on average, and a space in at least half of them: names, titles and sentences, but neither
    codes nor categories.

    >>> is_free_text([f"Alan Smithee the {n}th" for n in range(20)])
    True
    >>> is_free_text(["north", "south"] * 10)
    False
    """
    if len(values) < MIN_VALUES or len(set(values)) < DISTINCT_RATIO * len(values):
        return False
    spaced = sum(" " in value for value in values)
    return 2 * spaced >= len(values) and sum(map(len, values)) >= MIN_FREE_LENGTH * len(values)


def placeholder(header: str, text: str) -> str:
    """The typed placeholder for a text of a column with this header.

    The type is the header's most telling word: the last one except details such as "name" or
    "id". It is `Note` for texts over 120 characters and for headers such as note, comment or
    description, and `Text` if the header has no word.

    Source: paper, appendix on corpus construction (`Movie_0001`, `Note_…`).
    Departs: the paper's types belong to a fixed list of headers, here any header has one.

    >>> placeholder("movie_title", "Alien"), placeholder("AuthorName", "Ann Lee")
    ('Movie_0001', 'Author_0001')
    >>> placeholder("Remarks", "fine"), placeholder("", "x"), placeholder("Title", "x")
    ('Note_0001', 'Text_0001', 'Title_0001')
    """
    last_part = header.rsplit(" / ", 1)[-1]
    words: list[str] = [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", last_part))]
    telling = [word for word in words if word not in _DETAIL]
    notes = any(word in _NOTES for word in words) and _NOTES.issuperset(telling)
    word: str = "note" if notes or len(text) > NOTE_LENGTH else (telling or words or ["text"])[-1]
    return f"{word[:MAX_TYPE_LENGTH].capitalize()}_0001"
