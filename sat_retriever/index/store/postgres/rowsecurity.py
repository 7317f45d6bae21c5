"""Row-level security of an index in PostgreSQL: roles that only read see what groups may see.

The groups of the one who asks stand in the setting `sat.principals` of a connection. Without it
such a role sees no sheet. The owner of the tables sees all, and alone may write to them.
"""

from __future__ import annotations

from collections.abc import Sequence

from sat_retriever.index.store.postgres.session import PostgresSession
from sat_retriever.index.store.rows import SOURCE
from sat_retriever.text.segment import stem

SETTING = "sat.principals"
_BETWEEN = chr(31)  # no name of a group has it
# In a sub-select, so that it is read once a statement.
_ASKING = f"((SELECT string_to_array(current_setting('{SETTING}', true), chr(31)))::text[])"


def _seen(row_id: str) -> str:
    return f"EXISTS (SELECT FROM permissions p WHERE p.sheet = {row_id} AND p.name = ANY {_ASKING})"


_SEEN_ENDS = " AND ".join(
    f"EXISTS (SELECT FROM sheets s WHERE s.sheet_id = links.{end})" for end in ("source", "target")
)
_OF_VECTORS = "EXISTS (SELECT FROM sheets s WHERE s.stored = vectors.stored)"
# Rows that a role under row-level security sees; of other tables it sees none. Settings of the
# index tell nothing of a sheet. `seen_workbooks` shows workbooks, and `seen_spellings` words.
_SEEN = {
    "meta": f"key <> '{SOURCE}'",
    "sheets": _seen("sheets.id"),
    "fields": _seen("fields.sheet"),
    "tokens": _seen("tokens.id"),
    "contents": _seen("contents.id"),
    "words": _seen("words.id"),
    "vectors": _OF_VECTORS,
    "links": _SEEN_ENDS,
    "external_references": _seen("external_references.sheet"),
    "periods": _seen("periods.sheet"),
    "key_columns": _seen("key_columns.sheet"),
    "copies": _seen("copies.sheet"),
    "permissions": f"name = ANY {_ASKING}",
}
_FUNCTION = "LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT"
# All sheets with a word are counted: to find just one, the planner would read the whole table.
_HAS_STEM = (
    f"((SELECT count(*) FROM words w WHERE w.contents @> ARRAY[s.stem] AND {_seen('w.id')}) > 0 "
    "OR (SELECT count(*) FROM words w WHERE w.names && "
    f"ARRAY['0' || s.stem, '1' || s.stem, '2' || s.stem, '3' || s.stem] AND {_seen('w.id')}) > 0)"
)
_LIKE = f"left(s.word, 1) = $5 AND length(s.word) BETWEEN $6 AND $7 AND {_HAS_STEM}"
# Operators of arrays are not leakproof, so that a policy keeps the indexes of words from being
# used: these functions read past it, and leave out hidden sheets by themselves.
FUNCTIONS = {
    "seen_names(text, bigint)": f"""RETURNS bytea {_FUNCTION} AS $$
        SELECT string_agg(int8send(w.id), ''::bytea ORDER BY w.id) FROM words w
        WHERE w.names @> ARRAY[$1] AND w.id > $2 AND {_seen("w.id")}
        $$""",
    "seen_contents(text[], text[], jsonb, bigint)": f"""RETURNS bytea {_FUNCTION} AS $$
        SELECT string_agg(int8send(f.id), ''::bytea ORDER BY f.id) FROM (
            SELECT w.id FROM words w WHERE w.contents && $1 AND w.contents && $2
            AND NOT EXISTS (
                SELECT FROM jsonb_array_elements($3) AS g(v)
                WHERE NOT w.contents && ARRAY(SELECT jsonb_array_elements_text(g.v))
            ) AND {_seen("w.id")} ORDER BY w.id + 0 LIMIT $4
        ) f
        $$""",
    "seen_spellings(text, text, text, text, text, bigint, bigint)": f"""
        RETURNS SETOF text {_FUNCTION} SET enable_seqscan = off AS $$
        SELECT s.word FROM spellings s WHERE s.word >= $1 AND s.word < $2 AND {_LIKE}
        UNION
        SELECT s.word FROM spellings s WHERE s.reversed >= $3 AND s.reversed < $4 AND {_LIKE}
        $$""",
    "known_groups(text[])": f"""RETURNS SETOF text {_FUNCTION} AS $$
        SELECT DISTINCT name FROM permissions WHERE name = ANY ($1)
        $$""",
}
# A workbook's hash and skipped parts are about all of its sheets.
_WORKBOOKS = f"""
    CREATE VIEW seen_workbooks WITH (security_barrier) AS
    SELECT id, root, path, file, size, mtime_ns, checked_ns, '' AS content_hash, '[]' AS skipped,
        within, version
    FROM workbooks w WHERE EXISTS (
        SELECT FROM sheets s JOIN permissions p ON p.sheet = s.id
        WHERE s.workbook_id = w.id AND p.name = ANY {_ASKING}
    )"""


def _policy(table: str) -> str:
    return f"CREATE POLICY seen ON {table} FOR SELECT USING ({_SEEN[table]})"


SCRIPT = ";\n".join(
    (
        """CREATE TABLE permissions (
        sheet bigint NOT NULL REFERENCES sheets (id) ON DELETE CASCADE,
        name text COLLATE "C" NOT NULL,
        PRIMARY KEY (sheet, name)
    )""",
        "CREATE INDEX permissions_of ON permissions (name)",
        'ALTER TABLE spellings ADD COLUMN stem text COLLATE "C"',
        *map(_policy, _SEEN),
        *(f"CREATE FUNCTION {name} {body}" for name, body in FUNCTIONS.items()),
        _WORKBOOKS,
    )
)
"""The table of groups, and what holds back sheets once `protect` was called."""
OWN_PATH = ";\n".join(
    (
        "SELECT set_config('sat.path', current_setting('search_path'), true)",
        "SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)",
        *(f"ALTER FUNCTION {name} SET search_path FROM CURRENT" for name in FUNCTIONS),
        "SELECT set_config('search_path', current_setting('sat.path'), true)",
    )
)
"""Has functions that run as the owner find names in the schema of the index alone.

Else whoever calls them could put a temporary table before it, or beside it an operator that fits
better, and what these do would be done by the owner.
"""


def packed_principals(groups: Sequence[str]) -> str:
    """The value of the setting for some groups."""
    return _BETWEEN.join(groups)


def holds_back(session: PostgresSession) -> bool:
    """True if the server itself holds back rows of every table from the role of a connection.

    Tables that were restored one by one may have lost what protects them.
    """
    sql = "SELECT bool_and(row_security_active(t::regclass)) FROM unnest(?::text[]) t"
    return bool(session.execute(sql, (list(_SEEN),)).fetchall()[0][0])


def protect(session: PostgresSession, tables: Sequence[str], *, protected: bool) -> None:
    """Have the server hold back sheets from roles that do not own the tables, or no longer."""
    word = "ENABLE" if protected else "DISABLE"
    for table in tables:
        sql = "SELECT relrowsecurity FROM pg_class WHERE oid = ?::regclass"
        if session.execute(sql, (table,)).fetchall() != [(protected,)]:
            session.execute(f"ALTER TABLE {table} {word} ROW LEVEL SECURITY")
    if protected:
        _add_stems(session)


def protect_vectors(session: PostgresSession) -> None:
    """Give a new table of vectors the security that sheets have."""
    session.execute(_policy("vectors"))
    sql = "SELECT relrowsecurity FROM pg_class WHERE oid = 'sheets'::regclass"
    protect(session, ["vectors"], protected=session.execute(sql).fetchall()[0][0])


def drop(session: PostgresSession, tables: Sequence[str]) -> None:
    """Drop policies, view and functions, on which tables depend."""
    session.execute("DROP VIEW IF EXISTS seen_workbooks")
    for name in FUNCTIONS:
        session.execute(f"DROP FUNCTION IF EXISTS {name}")
    for table in tables:
        session.execute(f"DROP POLICY IF EXISTS seen ON {table}")


def _add_stems(session: PostgresSession) -> None:
    """Note the stems of words that came before stems were noted."""
    rows = session.execute("SELECT word FROM spellings WHERE stem IS NULL").fetchall()
    words = [row[0] for row in rows]
    session.execute(
        "UPDATE spellings s SET stem = f.stem FROM unnest(?::text[], ?::text[]) AS f (word, stem) "
        "WHERE s.word = f.word",
        (words, list(map(stem, words))),
    )
