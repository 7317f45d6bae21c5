"""Words of contents in an index file: an inverted index, and spellings to correct others by.

FTS5 keeps no text of its own here, only which sheet has which word: a fifth of the bytes of a
table with text, measured by `python -m benchmarks run inverted`. What a deleted sheet had is
computed from its contents again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from sat_retriever.index.store.damage import RowDamage, contents_of, record_of
from sat_retriever.records.contents import SheetContents
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.contents import LONGEST, content_texts, content_words, spelled_words
from sat_retriever.text.lexical import sheet_texts
from sat_retriever.text.segment import stem, stems

_INSERT = "INSERT INTO content_words (rowid, words) VALUES (?, ?)"
_DELETE = "INSERT INTO content_words (content_words, rowid, words) VALUES ('delete', ?, ?)"


def add_words(
    connection: sqlite3.Connection, row_id: int, record: SheetRecord, contents: SheetContents
) -> int:
    """Add the words of a sheet's contents; their number."""
    words = content_words(contents)
    connection.execute(_INSERT, (row_id, " ".join(words)))
    connection.executemany(
        "INSERT OR IGNORE INTO spellings (word, reversed) VALUES (?, ?)",
        ((word, word[::-1]) for word in _spelled(record, contents)),
    )
    return len(words)


def drop_words(connection: sqlite3.Connection, ids: Sequence[int]) -> None:
    """Drop contents of sheets that are still there, by row id, and spellings no other sheet has.

    Words of a sheet whose contents are damaged stay; no row id is used twice, so readers pass
    over them, and `rebuild_words` leaves them out.
    """
    gone: dict[str, None] = {}
    fits = True
    for row_id, record, contents in _kept(connection, ids):
        fits = fits and _dropped(connection, row_id, contents)
        gone.update(dict.fromkeys(_spelled(record, contents)))
    connection.executemany("DELETE FROM contents WHERE id = ?", ((row_id,) for row_id in ids))
    if not fits:
        rebuild_words(connection)
        return
    going = json.dumps(sorted(ids))
    unused = (word for word in gone if not _is_used(connection, stem(word), going))
    connection.executemany("DELETE FROM spellings WHERE word = ?", ((word,) for word in unused))


def _dropped(connection: sqlite3.Connection, row_id: int, contents: SheetContents) -> bool:
    """True if a sheet's words were dropped; False if others than those had been added."""
    try:
        connection.execute(_DELETE, (row_id, " ".join(content_words(contents))))
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
    """True if the first word of a sheet's contents finds the sheet; true without a word."""
    found = (word for text in content_texts(contents) for word in stems(text))
    word = next((each for each in found if len(each) <= LONGEST), None)
    sql = "SELECT 1 FROM content_words WHERE content_words MATCH ? AND rowid = ?"
    return word is None or bool(connection.execute(sql, (_quoted(word), row_id)).fetchone())


def rebuild_words(connection: sqlite3.Connection) -> None:
    """Write the words of all contents anew; damaged contents have none."""
    connection.execute("INSERT INTO content_words (content_words) VALUES ('delete-all')")
    connection.execute("DELETE FROM spellings")
    ids = [row[0] for row in connection.execute("SELECT id FROM contents ORDER BY id")]
    for row_id, record, contents in _kept(connection, ids):
        add_words(connection, row_id, record, contents)


def merge_words(connection: sqlite3.Connection) -> None:
    """Write the words of names and of contents anew as one part, without those of deleted sheets.

    Until then FTS5 only marks deleted words, which stay readable in the bytes of the file.
    """
    for table in ("lexical", "content_words"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")


def _kept(
    connection: sqlite3.Connection, ids: Iterable[int]
) -> Iterator[tuple[int, SheetRecord, SheetContents]]:
    """Row id, record and contents of the sheets that have contents and are not damaged."""
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


def expression(groups: Iterable[Sequence[str]]) -> str:
    """An FTS5 query for the sheets that have a word of each group.

    >>> expression([["fare"], ["x-1042", "nox"]])
    '("fare") AND ("x-1042" OR "nox")'
    """
    return " AND ".join("({})".format(" OR ".join(map(_quoted, group))) for group in groups)


def _quoted(word: str) -> str:
    return '"{}"'.format(word.replace('"', '""'))


def _spelled(record: SheetRecord, contents: SheetContents) -> list[str]:
    return spelled_words(chain(sheet_texts(record), content_texts(contents)))


def _is_used(connection: sqlite3.Connection, word: str, without: str) -> bool:
    """True if a sheet other than some, given as JSON, has a word in its names or contents."""
    for table in ("content_words", "lexical"):
        sql = (
            f"SELECT 1 FROM {table} WHERE {table} MATCH ? AND rowid NOT IN "
            "(SELECT value FROM json_each(?)) LIMIT 1"
        )
        if connection.execute(sql, (_quoted(word), without)).fetchone():
            return True
    return False
