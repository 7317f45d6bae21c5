"""Write and delete the rows of sheets in PostgreSQL; the caller owns the transaction.

Rows are packed before a transaction takes any lock, and then copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b

from sat_retriever.errors import InputError
from sat_retriever.index.store.packing import RowDamage, contents_of, record_of
from sat_retriever.index.store.postgres.session import (
    CONTENTS,
    FIELDS,
    OWN_SHEETS,
    TOKENS,
    WORDS,
    Connection,
    PostgresSession,
)
from sat_retriever.index.store.rows import LEXICAL_FIELDS, SheetRow
from sat_retriever.index.store.words import spellings
from sat_retriever.index.store.write import PackedSheet, packed_sheet
from sat_retriever.text.contents import content_words
from sat_retriever.text.segment import stem

_LONGEST = 1_000  # bytes of a word in the index, which takes up to 2,700
_LONGEST_ID = 1_300  # bytes of a sheet's id; a link has two in one entry of an index
_PLACES = range(len(LEXICAL_FIELDS))


@dataclass(frozen=True, slots=True)
class PostgresSheet:
    """A packed sheet, with its rows in the tables that a file does not have."""

    packed: PackedSheet
    own: tuple[str, str]  # role, formulas
    fields: tuple[tuple[str, str, Decimal | None], ...]  # a row each: key, value, number
    words: tuple[list[str], list[str] | None]  # names, contents


def packed_sheets(rows: Sequence[SheetRow]) -> dict[str, PostgresSheet]:
    """Sheets as they are stored, by sheet id.

    Raises `InputError` for a longer id than a link can have, or contents that cannot be kept.
    """
    found = {}
    for row in rows:
        if (size := len(row.record.sheet_id.encode(errors="replace"))) > _LONGEST_ID:
            raise InputError(
                f"the id of a sheet, {row.record.sheet_id[:60]!r}…, has {size:,} bytes and is too "
                "long for PostgreSQL; shorten path and name of the sheet to 1,000 bytes together"
            )
        record, packed = row.record, packed_sheet(row)
        found[record.sheet_id] = PostgresSheet(
            packed,
            own=(record.role.value, record.formulas.value),
            fields=tuple(fields_of(record.metadata)),
            words=(
                names_of(packed.names),
                [*map(key_of, packed.words)] if packed.contents else None,
            ),
        )
    return found


class WritingSession(PostgresSession):
    """The session of one write, with the sheets it may insert; `keys` are of their vectors."""

    def __init__(
        self, connection: Connection, packed: Mapping[str, PostgresSheet], keys: Mapping[str, int]
    ) -> None:
        super().__init__(connection)
        self.packed = packed
        self.keys = keys


def insert_sheets(session: WritingSession, rows: Sequence[tuple[int | None, SheetRow]]) -> set[str]:
    """Add sheets, each with the id of its workbook, if any; return the spellings that they have.

    The session inserted their vectors already; it deletes those of other sheets again.
    """
    keys = session.keys
    if left := keys.keys() - {row.record.sheet_id for _workbook, row in rows}:
        stored = [keys[sheet_id] for sheet_id in left]
        session.execute("DELETE FROM vectors WHERE stored = ANY(?)", (stored,))
    ids = session.new_ids("sheets", len(rows))
    parts = [
        (number, session.packed[row.record.sheet_id])
        for number, (_workbook, row) in zip(ids, rows, strict=True)
    ]
    sheets = []
    for (number, each), (workbook, _row) in zip(parts, rows, strict=True):
        sheet_id, *facts = each.packed.sheet
        sheets.append((keys[sheet_id], number, sheet_id, workbook, *facts, *each.own))
    contents = [(number, *x.packed.contents) for number, x in parts if x.packed.contents]
    session.copy(OWN_SHEETS, sheets)
    session.copy(FIELDS, [(number, *field) for number, each in parts for field in each.fields])
    session.copy(TOKENS, [(number, *each.packed.token) for number, each in parts])
    session.copy(CONTENTS, contents)
    session.copy(WORDS, [(number, *each.words) for number, each in parts])
    added = {word for _number, each in parts for word in each.packed.spellings}
    add_spellings(session, added)
    return added


def delete_sheets(session: PostgresSession, ids: Sequence[int]) -> set[str]:
    """Remove sheets by row id; return their spellings, which `drop_spellings` drops.

    Sheets without contents have none. Those of damaged sheets are not known, and stay.
    """
    rows = session.execute(
        "SELECT s.record, s.crc, c.packed, c.crc FROM contents c JOIN sheets s ON s.id = c.id "
        "WHERE c.id = ANY(?)",
        (list(ids),),
    ).fetchall()
    found: set[str] = set()
    for text, crc, data, data_crc in rows:
        with suppress(RowDamage):
            record, contents = record_of(text, crc), contents_of(data, data_crc)
            found.update(spellings(record, content_words(contents)))
    session.execute("DELETE FROM sheets WHERE id = ANY(?)", (list(ids),))
    return found


# ---- metadata and words as they are stored


def fields_of(metadata: Mapping[str, str | float]) -> Iterable[tuple[str, str, Decimal | None]]:
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


def names_of(words: Sequence[Sequence[str]]) -> list[str]:
    """Distinct words of a sheet's names as they are stored: behind the number of their field.

    >>> names_of([["fare"], ["q1", "q1"], [], []])
    ['0fare', '1q1']
    """
    fields = zip(_PLACES, words, strict=True)
    return list(dict.fromkeys(key_of(f"{place}{word}") for place, own in fields for word in own))


def key_of(word: str) -> str:
    """A word as it is stored; a very long one by its beginning and a digest."""
    data = word.encode()
    if len(data) <= _LONGEST:
        return word
    digest = blake2b(data, digest_size=16).hexdigest()
    return f"{data[:_LONGEST].decode(errors='ignore')} {digest}"


def in_names(word: str) -> list[str]:
    """A word as it is stored in the names, once for each field."""
    return [key_of(f"{place}{word}") for place in _PLACES]


def add_spellings(session: PostgresSession, words: Iterable[str]) -> None:
    """Add words that misspelt ones may mean."""
    found = sorted(set(words))
    session.execute(
        "INSERT INTO spellings (word, reversed, stem) "
        "SELECT * FROM unnest(?::text[], ?::text[], ?::text[]) ON CONFLICT DO NOTHING",
        (found, [word[::-1] for word in found], list(map(stem, found))),
    )


def drop_spellings(session: PostgresSession, words: Iterable[str]) -> None:
    """Drop those of some spellings that no sheet has, in names or contents."""
    found = sorted(words)
    if not found:
        return
    stems = [stem(word) for word in found]
    session.execute(
        "DELETE FROM spellings WHERE word IN (SELECT each.word FROM "
        "unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[]) "
        "AS each (word, inside, a, b, c, d) "
        "WHERE NOT EXISTS (SELECT FROM words w WHERE w.contents @> ARRAY[each.inside]) "
        "AND NOT EXISTS (SELECT FROM words w WHERE "
        "w.names && ARRAY[each.a, each.b, each.c, each.d]))",
        (
            found,
            [key_of(each) for each in stems],
            *map(list, zip(*map(in_names, stems), strict=True)),
        ),
    )
