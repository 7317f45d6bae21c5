"""Read pairs of sheets with their matched columns from a train.json."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_retriever.datasets.labels.jsontext import read_rows, sheet_id
from sat_retriever.errors import CorpusError
from sat_retriever.records.sheets import SheetRecord


@dataclass(frozen=True, slots=True)
class SheetPair:
    """Two sheets, related if they come from one table.

    Source: paper, section 4 (fabricated source/target pairs); no reported method uses them.

    Attributes:
        first: Sheet id.
        second: Sheet id.
        related: True if both were made from one table.
        matched_columns: Headers with the same meaning, of the first and of the second sheet.
    """

    first: str
    second: str
    related: bool
    matched_columns: tuple[tuple[str, str], ...] = ()


def load_pairs(
    path: str | Path, records: Sequence[SheetRecord] | None = None
) -> tuple[SheetPair, ...]:
    """Load the pairs of a train.json, in file order.

    Args:
        path: The file.
        records: The corpus's sheets; if given, every pair must join two of them, and every
            matched column must be one of theirs.

    Raises:
        CorpusError: If the file is missing or malformed, or names an unknown sheet or column.
    """
    path = Path(path)
    headers = None
    if records is not None:
        headers = {record.sheet_id: {each.name for each in record.columns} for record in records}
    rows = enumerate(read_rows(path))
    return tuple(_pair(row, headers, f"{path}, pair {place}") for place, row in rows)


def _pair(
    row: Mapping[str, Any], headers: Mapping[str, Collection[str]] | None, where: str
) -> SheetPair:
    ends = tuple(
        sheet_id(row.get(name), f"{where}, {name!r}") for name in ("sheet_id_1", "sheet_id_2")
    )
    if ends[0] == ends[1]:
        raise CorpusError(f"{where}: sheet {ends[0]!r} is paired with itself; name two sheets")
    label = row.get("label")
    if isinstance(label, bool) or label not in (0, 1):
        raise CorpusError(f"{where}: 'label' must be 0 or 1, not {label!r:.80}")
    matched = _matched(row.get("matched_columns"), where)
    for side, end in enumerate(ends):
        if headers is None:
            break
        if end not in headers:
            raise CorpusError(f"{where}: there is no sheet {end!r} in sheets.json")
        for columns in matched:
            if columns[side] not in headers[end]:
                raise CorpusError(f"{where}: sheet {end!r} has no column {columns[side]!r:.80}")
    return SheetPair(ends[0], ends[1], bool(label), matched)


def _matched(value: Any, where: str) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    pairs = value if isinstance(value, list) else [value]
    for pair in pairs:
        if not (
            isinstance(pair, list)
            and len(pair) == 2
            and all(isinstance(header, str) for header in pair)
        ):
            raise CorpusError(
                f"{where}: 'matched_columns' must be a list of two headers each, not {pair!r:.80}"
            )
    return tuple((first, second) for first, second in pairs)
