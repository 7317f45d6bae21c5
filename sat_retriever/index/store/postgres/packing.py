"""What PostgreSQL stores of a sheet, made before a transaction takes any lock."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from sat_retriever.index.store.damage import checksum
from sat_retriever.index.store.postgres.words import key_of, names_of
from sat_retriever.index.store.rows import SheetRow
from sat_retriever.index.store.words import spellings
from sat_retriever.index.store.write import packed_contents
from sat_retriever.records.contents import Role
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.contents import ContentWords, content_words
from sat_retriever.text.period.relation import months_of
from sat_retriever.text.spelling import is_main

_NO_WORDS = ContentWords((), ())


@dataclass(frozen=True, slots=True)
class PackedSheet:
    """The columns of a sheet's rows in the tables of a sheet, each without ids.

    Attributes:
        row: The sheet.
        sheet: Of `sheets`, from `sheet_id` on.
        fields: Of `fields`.
        token: Of `tokens`.
        contents: Of `contents`; None without contents.
        words: Of `words`.
        spellings: Words that misspelt ones may mean.
    """

    row: SheetRow
    sheet: tuple[Any, ...]
    fields: tuple[tuple[str, str, Decimal | None], ...]
    token: tuple[Any, ...]
    contents: tuple[bytes, int] | None
    words: tuple[list[str], list[str] | None]
    spellings: tuple[str, ...]


def packed_sheets(rows: Sequence[SheetRow]) -> dict[str, PackedSheet]:
    """Sheets as they are stored, by sheet id.

    Raises:
        InputError: If the contents of a record cannot be kept.
    """
    return {row.record.sheet_id: _packed(row) for row in rows}


def _packed(row: SheetRow) -> PackedSheet:
    record, kept = row.record, row.record.contents
    found = content_words(kept) if kept else _NO_WORDS
    data = packed_contents(record.sheet_id, kept) if kept else None
    length = sum(len(words) for words in row.words)
    token = np.ascontiguousarray(row.token, dtype="<f4").tobytes()
    marks = (int(record.role is Role.DOCUMENTATION), int(is_main(record)))
    return PackedSheet(
        row=row,
        sheet=_sheet(record),
        fields=tuple(fields_of(record.metadata)),
        token=(length, token, months_of(record), len(found.matched), *marks),
        contents=None if data is None else (data, checksum(data)),
        words=(names_of(row.words), [key_of(each) for each in found.matched] if kept else None),
        spellings=spellings(record, found) if kept else (),
    )


def _sheet(record: SheetRecord) -> tuple[Any, ...]:
    plain = to_json(replace(record, contents=None), compact=True)
    text = json.dumps(plain, separators=(",", ":"))
    return (
        *(record.sheet_id, record.workbook, record.path, record.format, record.visibility.value),
        *(plain.get("role", Role.DATA.value), plain.get("formulas", "none")),
        *(json.dumps(dict(record.metadata)), text, checksum(text)),
    )


def fields_of(
    metadata: Mapping[str, str | float],
) -> Iterable[tuple[str, str, Decimal | None]]:
    """Rows of a record's metadata: each field's text, and its number if it is one."""
    for key, value in metadata.items():
        yield key, text_of(value), None if isinstance(value, str) else Decimal(value)


def text_of(value: str | float) -> str:
    """A metadata value as SQLite writes it as a text.

    >>> text_of("a"), text_of(True), text_of(2024), text_of(1.0), text_of(1e20)
    ('a', '1', '2024', '1.0', '1.0e+20')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(int(value))
    mantissa, sign, exponent = f"{value:.15g}".partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{sign}{exponent}"
