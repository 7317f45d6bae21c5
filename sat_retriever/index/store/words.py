"""Words of contents in an index file: an inverted index, and spellings to correct others by.

FTS5 keeps no text of its own here, only which sheet has which word: a fifth of the bytes of a
table with text. What a deleted sheet had is computed from its contents again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from sat_retriever.index.store.packing import RowDamage, contents_of, record_of
from sat_retriever.records.contents import SheetContents
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.contents import (
    LONGEST,
    ContentWords,
    content_texts,
    content_words,
    spelled_words,
)
from sat_retriever.text.lexical import sheet_texts
from sat_retriever.text.segment import stem, stems
from sat_retriever.text.segment import words as whole_words

_INSERT = "INSERT INTO content_words (rowid, words) VALUES (?, ?)"
_DELETE = "INSERT INTO content_words (content_words, rowid, words) VALUES ('delete', ?, ?)"


def add_words(connection: sqlite3.Connection, row_id: int, words: Sequence[str]) -> None:
    """Add the words that find a sheet by its contents."""
    connection.execute(_INSERT, (row_id, " ".join(words)))


def add_spellings(connection: sqlite3.Connection, words: Iterable[str]) -> None:
    """Add words that misspelt ones may mean."""
    # In order, which writes each page once.
    connection.executemany(
        "INSERT OR IGNORE INTO spellings (word, reversed) VALUES (?, ?)",
        ((word, word[::-1]) for word in sorted(set(words))),
    )


def spellings(record: SheetRecord, words: ContentWords) -> tuple[str, ...]:
    """Words of a sheet's names and contents that misspelt ones may mean, at most 20,000."""
    names = (word for text in sheet_texts(record) for word in whole_words(text))
    return spelled_words(chain(names, words.spelled))


def drop_words(connection: sqlite3.Connection, ids: Sequence[int]) -> set[str]:
    """Drop the contents of sheets, which are still there, and return their spellings.

    The spellings stay for `drop_spellings`. Words of a sheet whose contents are damaged stay; no
    row id is used twice, so readers pass over them, and `rebuild_words` leaves them out.
    """
    dropped: set[str] = set()
    fits = True
    for row_id, record, contents in _kept(connection, ids):
        words = content_words(contents)
        fits = fits and _dropped(connection, row_id, words.matched)
        dropped.update(spellings(record, words))
    connection.executemany("DELETE FROM contents WHERE id = ?", ((row_id,) for row_id in ids))
    if not fits:
        rebuild_words(connection)
    return dropped


def drop_spellings(connection: sqlite3.Connection, words: Iterable[str]) -> None:
    """Drop those of some spellings that no sheet has, in names or contents."""
    stems_of = [(word, quoted(stem(word))) for word in sorted(words)]
    connection.execute(
        "DELETE FROM spellings WHERE word IN ("
        "SELECT json_extract(value, '$[0]') FROM json_each(?) AS each WHERE NOT EXISTS ("
        "SELECT 1 FROM content_words WHERE content_words MATCH json_extract(each.value, '$[1]')"
        ") AND NOT EXISTS ("
        "SELECT 1 FROM lexical WHERE lexical MATCH json_extract(each.value, '$[1]')))",
        (json.dumps(stems_of),),
    )


def _dropped(connection: sqlite3.Connection, row_id: int, words: Sequence[str]) -> bool:
    """True if a sheet's words were dropped; False if others than those had been added."""
    try:
        connection.execute(_DELETE, (row_id, " ".join(words)))
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_CORRUPT_VTAB:
            raise
        return False
    return True


def check_words(connection: sqlite3.Connection) -> None:
    """Compare the words of contents with the contents; damaged ones are written anew.

    SQLite checks the structure, and one word of each sheet is looked up.
    """
    try:
        connection.execute("INSERT INTO content_words (content_words) VALUES ('integrity-check')")
        ids = [row[0] for row in connection.execute("SELECT id FROM contents ORDER BY id")]
        whole = all(
            _is_there(connection, row_id, kept) for row_id, _, kept in _kept(connection, ids)
        )
    except sqlite3.DatabaseError:
        whole = False
    if not whole:
        rebuild_words(connection)


def _is_there(connection: sqlite3.Connection, row_id: int, contents: SheetContents) -> bool:
    found = (word for text in content_texts(contents) for word in stems(text))
    word = next((each for each in found if len(each) <= LONGEST), None)
    sql = "SELECT 1 FROM content_words WHERE content_words MATCH ? AND rowid = ?"
    return word is None or bool(connection.execute(sql, (quoted(word), row_id)).fetchone())


def rebuild_words(connection: sqlite3.Connection) -> None:
    """Write the words of all contents anew; damaged contents have none."""
    connection.execute("INSERT INTO content_words (content_words) VALUES ('delete-all')")
    connection.execute("DELETE FROM spellings")
    ids = [row[0] for row in connection.execute("SELECT id FROM contents ORDER BY id")]
    for row_id, record, contents in _kept(connection, ids):
        words = content_words(contents)
        add_words(connection, row_id, words.matched)
        add_spellings(connection, spellings(record, words))


def merge_words(connection: sqlite3.Connection) -> None:
    """Write all words anew as one part: FTS5 only marks deleted ones, which stay readable."""
    for table in ("lexical", "content_words"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")


def _kept(
    connection: sqlite3.Connection, ids: Iterable[int]
) -> Iterator[tuple[int, SheetRecord, SheetContents]]:
    sql = (
        "SELECT CAST(s.record AS BLOB), s.crc, c.packed, c.crc "  # damaged text may not be text
        "FROM contents c JOIN sheets s ON s.id = c.id WHERE c.id = ?"
    )
    for row_id in ids:
        for record, crc, data, data_crc in connection.execute(sql, (row_id,)).fetchall():
            text = record.decode("utf-8", "replace")
            try:
                yield row_id, record_of(text, crc), contents_of(data, data_crc)
            except RowDamage:
                continue


def quoted(word: str) -> str:
    """A word in a query of FTS5.

    >>> quoted("x-1042")
    '"x-1042"'
    """
    return '"{}"'.format(word.replace('"', '""'))
