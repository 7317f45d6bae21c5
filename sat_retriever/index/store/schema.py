"""Define the tables of an index file, and migrate older files to them."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import replace
from pathlib import Path

from sat_retriever.errors import IndexFormatError
from sat_retriever.index.store.claims import key_from_text, text_of
from sat_retriever.index.store.packing import RowDamage, readable, register
from sat_retriever.links.join.keys import header_blocks
from sat_retriever.records.jsonform import record_from_json
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.lexical import sheet_words
from sat_retriever.text.period.relation import months_of
from sat_retriever.text.spelling import is_main

APPLICATION_ID = 0x53415431  # "SAT1": distinguishes an index from other SQLite files

# One script per version; script i brings a file from version i to i + 1. A released script is
# never changed: a new version is a new script.
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

    CREATE TABLE workbooks (
        id INTEGER PRIMARY KEY,
        root TEXT NOT NULL,
        path TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        checked_ns INTEGER NOT NULL,
        content_hash TEXT NOT NULL,
        skipped TEXT NOT NULL,
        UNIQUE (root, path)
    );

    -- AUTOINCREMENT: an id is never used twice, so a reader can tell what is new.
    CREATE TABLE sheets (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        sheet_id TEXT NOT NULL UNIQUE,
        workbook_id INTEGER REFERENCES workbooks (id) ON DELETE CASCADE,
        workbook TEXT NOT NULL,
        path TEXT NOT NULL,
        format TEXT NOT NULL,
        visibility TEXT NOT NULL,
        metadata TEXT NOT NULL,
        record TEXT NOT NULL
    );
    CREATE INDEX sheets_of_workbook ON sheets (workbook_id);

    -- What every query needs, apart from the long records, so that loading is quick.
    CREATE TABLE tokens (
        id INTEGER PRIMARY KEY REFERENCES sheets (id) ON DELETE CASCADE,
        words INTEGER NOT NULL,
        token BLOB NOT NULL
    );

    CREATE VIRTUAL TABLE lexical USING fts5 (
        workbook, sheet, headers, folder,
        tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'", detail = 'column'
    );

    CREATE TABLE links (
        source TEXT NOT NULL,
        target TEXT NOT NULL,
        type TEXT NOT NULL,
        weight REAL NOT NULL,
        evidence TEXT NOT NULL,
        PRIMARY KEY (source, target, type)
    ) WITHOUT ROWID;
    CREATE INDEX links_to ON links (target);
    """,
    """
    -- A link may be given by a user and found in several ways: each origin keeps its own
    -- row, so that one can be found anew without touching the others.
    ALTER TABLE links RENAME TO old_links;
    DROP INDEX links_to;
    CREATE TABLE links (
        source TEXT NOT NULL,
        target TEXT NOT NULL,
        type TEXT NOT NULL,
        origin TEXT NOT NULL,
        weight REAL NOT NULL,
        evidence TEXT NOT NULL,
        PRIMARY KEY (source, target, type, origin)
    ) WITHOUT ROWID;
    INSERT INTO links SELECT source, target, type, 'given', weight, evidence FROM old_links;
    DROP TABLE old_links;
    CREATE INDEX links_to ON links (target);

    -- What sheets say about sheets of other workbooks, whether or not those are there.
    CREATE TABLE external_references (
        sheet INTEGER NOT NULL REFERENCES sheets (id) ON DELETE CASCADE,
        file TEXT NOT NULL,
        claim TEXT NOT NULL
    );
    CREATE INDEX external_references_of ON external_references (sheet);
    CREATE INDEX external_references_to ON external_references (file);

    CREATE TABLE periods (
        sheet INTEGER PRIMARY KEY REFERENCES sheets (id) ON DELETE CASCADE,
        family TEXT NOT NULL,
        claim TEXT NOT NULL
    );
    CREATE INDEX periods_of_family ON periods (family);
    CREATE TABLE stale_families (family TEXT PRIMARY KEY) WITHOUT ROWID;

    CREATE TABLE key_columns (
        id INTEGER PRIMARY KEY,
        sheet INTEGER NOT NULL REFERENCES sheets (id) ON DELETE CASCADE,
        claim TEXT NOT NULL
    );
    CREATE INDEX key_columns_of ON key_columns (sheet);
    CREATE TABLE key_blocks (
        block TEXT NOT NULL,
        key_column INTEGER NOT NULL REFERENCES key_columns (id) ON DELETE CASCADE,
        PRIMARY KEY (block, key_column)
    ) WITHOUT ROWID;
    CREATE INDEX key_blocks_of ON key_blocks (key_column);

    -- Name without folder, case folded: what formulas of other workbooks call it.
    ALTER TABLE workbooks ADD COLUMN file TEXT NOT NULL DEFAULT '';
    CREATE INDEX workbooks_called ON workbooks (file);
    CREATE INDEX sheets_called ON sheets (workbook);
    -- Links were not looked for before: no workbook counts as unchanged.
    UPDATE workbooks SET content_hash = '', mtime_ns = -1;
    """,
    """
    -- The months that a sheet's names say, as `period.relation.packed` has them.
    ALTER TABLE tokens ADD COLUMN months INTEGER NOT NULL DEFAULT 0;
    UPDATE tokens SET months = (
        SELECT months_of(coalesce(json_extract(record, '$.sheet'), ''), workbook, path)
        FROM sheets WHERE sheets.id = tokens.id
    );
    """,
    """
    -- Words of a trade stay whole (LDVs, NOx, PM2.5), so sheets have other words, some with
    -- signs inside, and key columns other blocks. Every sheet is read anew from its record.
    DROP TABLE lexical;
    CREATE VIRTUAL TABLE lexical USING fts5 (
        workbook, sheet, headers, folder,
        tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co' tokenchars '&-./'",
        detail = 'column'
    );
    CREATE TEMP TABLE read (id INTEGER PRIMARY KEY, words TEXT NOT NULL);
    INSERT INTO read (id, words) SELECT id, words_of(record) FROM sheets;
    INSERT INTO lexical (rowid, workbook, sheet, headers, folder)
    SELECT id, json_extract(words, '$[0]'), json_extract(words, '$[1]'),
        json_extract(words, '$[2]'), json_extract(words, '$[3]')
    FROM read;
    UPDATE tokens SET words = (
        SELECT json_extract(read.words, '$[4]') FROM read WHERE read.id = tokens.id
    );
    DROP TABLE read;
    UPDATE key_columns SET claim = key_of(claim);
    DELETE FROM key_blocks;
    INSERT OR IGNORE INTO key_blocks
    SELECT block.value, key_columns.id FROM key_columns, json_each(claim, '$.blocks') AS block;
    """,
    """
    -- Where a workbook really was, links followed, when it was read; empty: at its own path.
    ALTER TABLE workbooks ADD COLUMN within TEXT NOT NULL DEFAULT '';

    -- Checksums, to tell rows that are not as they were written: see `store.damage`.
    ALTER TABLE workbooks ADD COLUMN seal TEXT NOT NULL DEFAULT '';
    ALTER TABLE sheets ADD COLUMN crc INTEGER NOT NULL DEFAULT 0;
    UPDATE sheets SET crc = checksum(CAST(record AS BLOB));
    ALTER TABLE links ADD COLUMN crc INTEGER NOT NULL DEFAULT 0;
    UPDATE links SET crc = checksum(
        CAST(source AS BLOB), CAST(target AS BLOB), CAST(type AS BLOB), CAST(origin AS BLOB),
        CAST(evidence AS BLOB), weight
    );
    """,
    """
    -- Texts of a sheet's cells, apart from its record, which every search reads.
    CREATE TABLE contents (
        id INTEGER PRIMARY KEY REFERENCES sheets (id) ON DELETE CASCADE,
        packed BLOB NOT NULL,
        crc INTEGER NOT NULL
    );
    -- The token of a sheet's contents, as half floats: half the bytes, the same ranking.
    CREATE TABLE contents_tokens (
        id INTEGER PRIMARY KEY REFERENCES sheets (id) ON DELETE CASCADE,
        token BLOB NOT NULL
    );
    -- Which sheet has which word in its contents; no text is kept in it. Its tokenizer takes
    -- words as they come, apart at spaces: see `text.contents`.
    CREATE VIRTUAL TABLE content_words USING fts5 (
        words, content = '', columnsize = 0, detail = 'none',
        tokenize = "ascii tokenchars '&-./_:#'"
    );
    -- Words of contents and of their sheets' names, to correct misspelt ones by either half.
    CREATE TABLE spellings (word TEXT PRIMARY KEY, reversed TEXT NOT NULL) WITHOUT ROWID;
    CREATE INDEX spellings_reversed ON spellings (reversed);
    ALTER TABLE tokens ADD COLUMN texts INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE tokens ADD COLUMN documentation INTEGER NOT NULL DEFAULT 0;

    -- What copies of a sheet are found by; its group is the lowest row id of its members.
    CREATE TABLE copies (
        sheet INTEGER PRIMARY KEY REFERENCES sheets (id) ON DELETE CASCADE,
        family INTEGER,
        versions TEXT NOT NULL,
        claim TEXT NOT NULL
    );
    CREATE INDEX copies_of_family ON copies (family) WHERE family IS NOT NULL;
    -- Sheets that may be copies of each other, those most alike side by side.
    CREATE TABLE copy_blocks (
        block TEXT NOT NULL,
        place TEXT NOT NULL,
        sheet INTEGER NOT NULL REFERENCES copies (sheet) ON DELETE CASCADE,
        PRIMARY KEY (block, place)
    ) WITHOUT ROWID;
    CREATE INDEX copy_blocks_of ON copy_blocks (sheet);
    -- Sheets whose groups have to be found anew.
    CREATE TABLE stale_copies (
        sheet INTEGER PRIMARY KEY REFERENCES copies (sheet) ON DELETE CASCADE
    );
    -- Contents, roles and copies were not read before: no workbook counts as unchanged.
    UPDATE workbooks SET content_hash = '', mtime_ns = -1, seal = '';
    """,
    """
    -- 1 if the sheet's name abbreviates its workbook's: see `text.abbreviation`.
    ALTER TABLE tokens ADD COLUMN main INTEGER NOT NULL DEFAULT 0;
    UPDATE tokens SET main = coalesce(
        (SELECT main_of(CAST(record AS BLOB)) FROM sheets WHERE sheets.id = tokens.id), 0
    );
    UPDATE workbooks SET seal = '';
    """,
    """
    -- ETag of a workbook at a URL; no seal holds it, as none holds size and time.
    ALTER TABLE workbooks ADD COLUMN version TEXT NOT NULL DEFAULT '';
    """,
    """
    -- What a write leaves to the second pass over links: see `store.unsettled`.
    CREATE TABLE unsettled (
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        PRIMARY KEY (kind, name)
    ) WITHOUT ROWID;
    -- Blocks that the links between key columns do without.
    CREATE TABLE crowded_blocks (block TEXT PRIMARY KEY) WITHOUT ROWID;
    INSERT INTO crowded_blocks
    SELECT block FROM key_blocks GROUP BY block HAVING count(*) > 32;
    """,
    """
    -- The groups that may see a sheet. They count once the notes say that there are permissions.
    CREATE TABLE permissions (
        sheet INTEGER NOT NULL REFERENCES sheets (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        PRIMARY KEY (sheet, name)
    ) WITHOUT ROWID;
    CREATE INDEX permissions_of ON permissions (name);
    """,
    """
    -- Comments, shapes and charts were not read before: no workbook counts as unchanged.
    UPDATE workbooks SET content_hash = '', mtime_ns = -1, seal = '';
    """,
    """
    -- A sheet has one token, of names and contents: no workbook counts as unchanged.
    DROP TABLE contents_tokens;
    UPDATE workbooks SET content_hash = '', mtime_ns = -1, seal = '';
    """,
    """
    -- The sheet's name, without its long record.
    ALTER TABLE tokens ADD COLUMN name TEXT NOT NULL DEFAULT '';
    UPDATE tokens SET name = coalesce(
        (SELECT name_of(CAST(record AS BLOB)) FROM sheets WHERE sheets.id = tokens.id), ''
    );
    -- Contents are stored with the words of each text: no workbook counts as unchanged. Until
    -- then, and for records without a workbook, words are read for each question, as before.
    UPDATE workbooks SET content_hash = '', mtime_ns = -1, seal = '';
    """,
)


# All that an index holds beside plain tables and their indexes.
_WORDS = re.compile(r"CREATE VIRTUAL TABLE (lexical|content_words) USING fts5\b")


def check(connection: sqlite3.Connection, path: Path, *, writable: bool) -> None:
    """Refuse a file that is not an index or cannot be migrated, without changing it."""
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise IndexFormatError(f"{path} is not an index of this package")
    _check_plain(connection, path)
    version = _pragma(connection, "user_version")
    if version > len(MIGRATIONS):
        raise IndexFormatError(
            f"{path} was written by a newer version (schema {version}, this one knows up to "
            f"{len(MIGRATIONS)}): install a newer version of sat-retriever"
        )
    if version < len(MIGRATIONS) and not writable:
        raise IndexFormatError(
            f"{path} was written by an older version and is read-only here: open it once where "
            "it can be written to, or a copy of it"
        )


def _check_plain(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what a statement on our tables would run unseen; only the list of tables is read."""
    sql = (
        "SELECT type, name, sql FROM sqlite_master WHERE type NOT IN ('table', 'index') "
        "OR rootpage = 0 ORDER BY name"
    )
    for kind, name, made in connection.execute(sql):
        if kind != "table" or not _WORDS.match(made):
            shown = "foreign table" if kind == "table" else kind
            raise IndexFormatError(
                f"{path} holds a {shown} {name[:100]!r}, which no index of this package has: it "
                "was changed by others; index the folder anew into another file"
            )


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a new or checked file to the current schema, in one transaction."""
    version = _pragma(connection, "user_version")
    if version < len(MIGRATIONS):
        register(connection)
        for name, arguments, function in (
            ("months_of", 3, _months_of),
            ("words_of", 1, _words_of),
            ("key_of", 1, _key_of),
            ("main_of", 1, _main_of),
            ("name_of", 1, _name_of),
        ):
            connection.create_function(name, arguments, function, deterministic=True)
        script = "".join(MIGRATIONS[version:])
        try:
            connection.executescript(
                f"BEGIN IMMEDIATE; {script} PRAGMA application_id = {APPLICATION_ID};"
                f"PRAGMA user_version = {len(MIGRATIONS)}; COMMIT;"
            )
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if _pragma(connection, "user_version") < len(MIGRATIONS):
                raise  # else another process has done it meanwhile


def _months_of(sheet: str, workbook: str, path: str) -> int:
    return months_of(SheetRecord("", sheet, workbook=workbook, path=path))


def _main_of(record: bytes) -> bool:
    try:
        return readable(lambda: is_main(record_from_json(json.loads(record))))
    except RowDamage:  # reported when the row is read; `verify` repairs it
        return False


def _name_of(record: bytes) -> str:
    try:
        return readable(lambda: str(json.loads(record)["sheet"]))
    except RowDamage:
        return ""


def _words_of(record: str) -> str:
    """The words of a stored record, one text per lexical field, and their number, as JSON."""
    try:
        fields = readable(lambda: sheet_words(record_from_json(json.loads(record))))
    except RowDamage:  # reported when the row is read; `verify` repairs it
        fields = ([], [], [], [])
    return json.dumps([*map(" ".join, fields), sum(map(len, fields))])


def _key_of(claim: str) -> str:
    """A stored key column with the blocks that its header has in this version."""
    try:
        column = readable(lambda: key_from_text(claim))
    except RowDamage:
        return claim
    by_values = [block for block in column.blocks if not block.startswith("h:")]
    return text_of(replace(column, blocks=(*header_blocks(column.field()), *by_values)))


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
