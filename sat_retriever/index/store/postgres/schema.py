"""Define the tables of an index in PostgreSQL, and migrate older ones to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg

from sat_retriever.errors import IndexFormatError, IndexNotFoundError, IndexStorageError, InputError
from sat_retriever.index.store.place import IndexUrl
from sat_retriever.index.store.postgres import rowsecurity
from sat_retriever.index.store.postgres.foreign import check_own
from sat_retriever.index.store.postgres.locks import lock_extension, lock_index
from sat_retriever.index.store.postgres.session import PostgresSession
from sat_retriever.index.store.postgres.vectors import name_vectors

OLDEST = 160_000  # version of the server: 16
OLDEST_VECTOR = (0, 7)  # of pgvector: the first with halfvec
_CODING = "UTF8"

# One script per version; script i brings tables from version i to i + 1. A released script is
# never changed: a new version is a new script. Texts are ordered by their bytes, as in SQLite.
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE meta (key text COLLATE "C" PRIMARY KEY, value text NOT NULL);

    CREATE TABLE workbooks (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        root text COLLATE "C" NOT NULL,
        path text COLLATE "C" NOT NULL,
        file text COLLATE "C" NOT NULL,
        size bigint NOT NULL,
        mtime_ns bigint NOT NULL,
        checked_ns bigint NOT NULL,
        content_hash text NOT NULL,
        skipped text NOT NULL,
        within text NOT NULL,
        version text NOT NULL,
        UNIQUE (root, path)
    );
    CREATE INDEX workbooks_called ON workbooks (file);

    -- An id is never used twice and grows with every write, so a reader can tell what is new.
    -- Vectors are inserted before the ids are given: they have a key of their own, "stored".
    CREATE SEQUENCE stored_keys;
    CREATE TABLE sheets (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        stored bigint NOT NULL UNIQUE,
        sheet_id text COLLATE "C" NOT NULL UNIQUE,
        workbook_id bigint REFERENCES workbooks (id) ON DELETE CASCADE,
        workbook text COLLATE "C" NOT NULL,
        path text COLLATE "C" NOT NULL,
        format text COLLATE "C" NOT NULL,
        visibility text COLLATE "C" NOT NULL,
        role text COLLATE "C" NOT NULL,
        formulas text COLLATE "C" NOT NULL,
        metadata text NOT NULL,
        record text NOT NULL,
        crc bigint NOT NULL
    );
    CREATE INDEX sheets_of_workbook ON sheets (workbook_id);
    CREATE INDEX sheets_called ON sheets (workbook);
    CREATE INDEX sheets_at ON sheets (path);

    -- The metadata of records, field by field; a number also as a number.
    CREATE TABLE fields (
        sheet bigint NOT NULL REFERENCES sheets (id) ON DELETE CASCADE,
        key text COLLATE "C" NOT NULL,
        value text COLLATE "C" NOT NULL,
        number numeric
    );
    CREATE INDEX fields_of ON fields (sheet);
    CREATE INDEX fields_by ON fields (substr(key, 1, 100), substr(value, 1, 100));

    CREATE TABLE tokens (
        id bigint PRIMARY KEY REFERENCES sheets (id) ON DELETE CASCADE,
        words bigint NOT NULL,
        token bytea NOT NULL,
        months bigint NOT NULL,
        texts bigint NOT NULL,
        documentation bigint NOT NULL,
        main bigint NOT NULL
    );
    CREATE TABLE contents (
        id bigint PRIMARY KEY REFERENCES sheets (id) ON DELETE CASCADE,
        packed bytea NOT NULL,
        crc bigint NOT NULL
    );
    CREATE TABLE contents_tokens (
        id bigint PRIMARY KEY REFERENCES sheets (id) ON DELETE CASCADE,
        token bytea NOT NULL
    );
    -- These bytes do not get smaller.
    ALTER TABLE tokens ALTER COLUMN token SET STORAGE EXTERNAL;
    ALTER TABLE contents ALTER COLUMN packed SET STORAGE EXTERNAL;
    ALTER TABLE contents_tokens ALTER COLUMN token SET STORAGE EXTERNAL;

    -- The same tokens in half precision, to find the nearest by an index.
    CREATE TABLE vectors (
        stored bigint PRIMARY KEY
            REFERENCES sheets (stored) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
        names halfvec NOT NULL,
        contents halfvec
    );

    -- The words of a sheet: those of its names behind the number of their field.
    CREATE TABLE words (
        id bigint PRIMARY KEY REFERENCES sheets (id) ON DELETE CASCADE,
        names text[] COLLATE "C" NOT NULL,
        contents text[] COLLATE "C"
    );
    CREATE INDEX words_of_names ON words USING gin (names);
    CREATE INDEX words_of_contents ON words USING gin (contents);
    CREATE TABLE spellings (
        word text COLLATE "C" PRIMARY KEY,
        reversed text COLLATE "C" NOT NULL
    );
    CREATE INDEX spellings_reversed ON spellings (reversed);

    CREATE TABLE links (
        source text COLLATE "C" NOT NULL,
        target text COLLATE "C" NOT NULL,
        type text COLLATE "C" NOT NULL,
        origin text COLLATE "C" NOT NULL,
        weight double precision NOT NULL,
        evidence text NOT NULL,
        crc bigint NOT NULL,
        PRIMARY KEY (source, target, type, origin)
    );
    CREATE INDEX links_to ON links (target);
    CREATE TABLE external_references (
        rowid bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        sheet bigint NOT NULL REFERENCES sheets (id) ON DELETE CASCADE,
        file text COLLATE "C" NOT NULL,
        claim text NOT NULL
    );
    CREATE INDEX external_references_of ON external_references (sheet);
    CREATE INDEX external_references_to ON external_references (file);
    CREATE TABLE periods (
        sheet bigint PRIMARY KEY REFERENCES sheets (id) ON DELETE CASCADE,
        family text COLLATE "C" NOT NULL,
        claim text NOT NULL
    );
    CREATE INDEX periods_of_family ON periods (family);
    CREATE TABLE stale_families (family text COLLATE "C" PRIMARY KEY);
    CREATE TABLE key_columns (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        sheet bigint NOT NULL REFERENCES sheets (id) ON DELETE CASCADE,
        claim text NOT NULL
    );
    CREATE INDEX key_columns_of ON key_columns (sheet);
    CREATE TABLE key_blocks (
        block text COLLATE "C" NOT NULL,
        key_column bigint NOT NULL REFERENCES key_columns (id) ON DELETE CASCADE,
        PRIMARY KEY (block, key_column)
    );
    CREATE INDEX key_blocks_of ON key_blocks (key_column);
    CREATE TABLE copies (
        sheet bigint PRIMARY KEY REFERENCES sheets (id) ON DELETE CASCADE,
        family bigint,
        versions text NOT NULL,
        claim text NOT NULL
    );
    CREATE INDEX copies_of_family ON copies (family) WHERE family IS NOT NULL;
    CREATE TABLE copy_blocks (
        block text COLLATE "C" NOT NULL,
        place text COLLATE "C" NOT NULL,
        sheet bigint NOT NULL REFERENCES copies (sheet) ON DELETE CASCADE,
        PRIMARY KEY (block, place)
    );
    CREATE INDEX copy_blocks_of ON copy_blocks (sheet);
    CREATE TABLE stale_copies (
        sheet bigint PRIMARY KEY REFERENCES copies (sheet) ON DELETE CASCADE
    );
    """,
    """
    -- What a write leaves to the second pass over links: see `store.unsettled`.
    CREATE TABLE unsettled (
        kind text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        PRIMARY KEY (kind, name)
    );
    -- Blocks that the links between key columns do without.
    CREATE TABLE crowded_blocks (block text COLLATE "C" PRIMARY KEY);
    INSERT INTO crowded_blocks
    SELECT block FROM key_blocks GROUP BY block HAVING count(*) > 32;
    """,
    rowsecurity.SCRIPT,
    rowsecurity.OWN_PATH,
    """
    -- Comments, shapes and charts were not read before: no workbook counts as unchanged.
    UPDATE workbooks SET content_hash = '', mtime_ns = -1;
    """,
    """
    -- A sheet has one token, of names and contents: no workbook counts as unchanged.
    DROP TABLE contents_tokens;
    ALTER TABLE vectors DROP COLUMN contents;
    ALTER TABLE vectors RENAME COLUMN names TO token;
    UPDATE workbooks SET content_hash = '', mtime_ns = -1;
    """,
    """
    -- The sheet's name, without its long record.
    ALTER TABLE tokens ADD COLUMN name text COLLATE "C" NOT NULL DEFAULT '';
    UPDATE tokens SET name = coalesce(record::json ->> 'sheet', '')
    FROM sheets WHERE sheets.id = tokens.id;
    -- Contents are stored with the words of each text: no workbook counts as unchanged.
    UPDATE workbooks SET content_hash = '', mtime_ns = -1;
    """,
)
# In an order in which each can be dropped, and filled from its end.
TABLES = tuple(
    "permissions crowded_blocks unsettled stale_copies copy_blocks copies key_blocks key_columns "
    "stale_families periods external_references links spellings words vectors "
    "contents tokens fields sheets workbooks meta sat_version".split()
)
PROTECTED = tuple(table for table in TABLES if table != "sat_version")


def exists(session: PostgresSession, namespace: str) -> bool:
    """True if a schema holds an index."""
    sql = "SELECT to_regclass(?) IS NOT NULL"
    return bool(_one(session, sql, f'"{namespace}".sat_version'))


def check(session: PostgresSession, url: IndexUrl, *, writable: bool) -> bool:
    """Refuse a place that holds no index of this or an older version; True if it is older."""
    if not exists(session, url.namespace):
        raise IndexNotFoundError(
            f"no index at {url}; make one with: sat index FOLDER --index '{url}'"
        )
    check_own(session, url, TABLES)
    version: int = _one(session, "SELECT version FROM sat_version")
    if version > len(MIGRATIONS):
        raise IndexFormatError(
            f"{url} was written by a newer version (schema {version}, this one knows up to "
            f"{len(MIGRATIONS)}): install a newer version of sat-retriever"
        )
    if version < len(MIGRATIONS) and not writable:
        raise IndexFormatError(
            f"{url} was written by an older version and may only be read: open it once as a role "
            "that may write"
        )
    return version < len(MIGRATIONS)


def check_server(session: PostgresSession, url: IndexUrl) -> None:
    """Refuse a server that is too old, or a database that is not in UTF-8."""
    version = session.connection.info.server_version
    if version < OLDEST:
        raise IndexStorageError(
            f"{url} is on PostgreSQL {version // 10_000}; use {OLDEST // 10_000} or newer"
        )
    coding = _one(session, "SELECT current_setting('server_encoding')")
    if coding != _CODING:
        raise IndexStorageError(f"the database of {url} is in {coding}; make one in {_CODING}")


def create(session: PostgresSession, url: IndexUrl, meta: Mapping[str, str]) -> None:
    """Make the tables of a new index, in the caller's transaction."""
    lock_index(session, url.namespace)
    if exists(session, url.namespace):
        raise InputError(f"{url} exists already; open it, or choose another schema")
    if not _one(
        session, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = ?)", url.namespace
    ):
        session.execute(f'CREATE SCHEMA "{url.namespace}"')
    check_own(session, url, TABLES)
    _need_vector(session, url)
    set_path(session, url.namespace)
    session.execute("CREATE TABLE sat_version (version bigint NOT NULL)")
    session.execute("INSERT INTO sat_version VALUES (0)")
    migrate(session)
    for key, value in meta.items():
        session.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (key, value))


def migrate(session: PostgresSession) -> None:
    """Bring checked tables to the current version, in the caller's transaction."""
    name_vectors(session)
    version: int = _one(session, "SELECT version FROM sat_version FOR UPDATE")
    for script in MIGRATIONS[version:]:
        for part in script.split(";\n"):
            if part.strip():
                session.execute(part)
    session.execute("UPDATE sat_version SET version = ?", (len(MIGRATIONS),))


def set_path(session: PostgresSession, namespace: str) -> None:
    """Make the names of tables mean those of a schema, on this connection.

    No other schema is looked in: whoever may create in one could put an operator there that fits
    a statement better than the server's own, and what it does would be done by this role.
    """
    session.execute("SELECT set_config('search_path', ?, false)", (f'"{namespace}"',))


def drop(session: PostgresSession, namespace: str) -> None:
    """Drop the tables, and the schema if nothing else is in it."""
    drop_tables(session)
    left = (
        "SELECT count(*) FROM pg_depend d JOIN pg_namespace n ON n.oid = d.refobjid "
        "WHERE d.refclassid = 'pg_namespace'::regclass AND n.nspname = ?"
    )
    if not _one(session, left, namespace):
        session.execute(f'DROP SCHEMA "{namespace}"')


def drop_tables(session: PostgresSession) -> None:
    """Drop the tables of the search path's schema, with all that hangs on them."""
    rowsecurity.drop(session, TABLES)
    for table in TABLES:
        session.execute(f"DROP TABLE IF EXISTS {table}")
    session.execute("DROP SEQUENCE IF EXISTS stored_keys")


def _need_vector(session: PostgresSession, url: IndexUrl) -> None:
    """Install pgvector in the database unless it is there; refuse one that is too old."""
    found = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
    lock_extension(session)  # two that make their first index at once
    if session.execute(found).fetchone() is None:
        try:
            with session.connection.transaction():
                session.execute("CREATE EXTENSION vector")
        except psycopg.Error as error:
            text = error.diag.message_primary
            raise IndexStorageError(
                f"the database of {url} lacks pgvector ({text}); let an administrator run in it: "
                "CREATE EXTENSION vector"
            ) from error
    version = str(_one(session, found))
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_VECTOR:
        oldest = ".".join(map(str, OLDEST_VECTOR))
        raise IndexStorageError(
            f"the database of {url} has pgvector {version}; use {oldest} or newer: "
            "ALTER EXTENSION vector UPDATE"
        )


def _one(session: PostgresSession, sql: str, *values: object) -> Any:
    row = session.execute(sql, values).fetchone()
    return row[0] if row else None
