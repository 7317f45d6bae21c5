"""Allow a statement, or refuse it: one SELECT over the given tables, by DuckDB's own parser."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from sat_retriever.tools.sql.compared import Compared, compared_texts
from sat_retriever.tools.sql.located import Located, located
from sat_retriever.tools.sql.tree import Node, RefusedStatement, nodes, parsed, same_name
from sat_retriever.tools.sql.whole import compares_whole_rows

MAX_SQL = 20_000  # characters
TABLE_FUNCTIONS = frozenset({"range", "generate_series", "unnest"})
REFUSED = frozenset(
    """
    current_setting getvariable getenv nextval currval setval txid_current pg_typeof in_search_path
    current_schemas current_database current_schema current_catalog current_user session_user user
    current_role current_query current_query_id current_connection_id current_transaction_id sleep
    sleep_ms error write_log parse_duckdb_log_message get_type version
    """.split()
)
"""Functions that tell of the program, change something or wait; none is about data."""
_BARE = frozenset(
    "current_catalog current_role current_schema current_user session_user user".split()
)
"""Those of them that DuckDB calls without brackets where no column has the name."""
DATES = frozenset({"today", "current_date"})
MOMENTS = frozenset(
    """
    now current_timestamp get_current_timestamp transaction_timestamp localtimestamp
    current_localtimestamp
    """.split()
)
TIMES = frozenset({"current_time", "localtime", "get_current_time", "current_localtime"})
_CLOCK = DATES | MOMENTS | TIMES | {"ago"}
_SOURCES = frozenset(
    {"BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST", "EMPTY", "PIVOT"}
)
_ONLY = "read the given tables, subqueries of them, VALUES, range or unnest"
_NOT_DATA = "it tells of the program or changes it, and is not about the tables"


@dataclass(frozen=True, slots=True)
class Checked:
    """A statement that may be run.

    Attributes:
        used: Tables that it reads, in the order of their first mention.
        dated: True if its result depends on the day or time.
        whole: True if it compares whole rows, with the column of rows among them.
        located: The statement that tells the rows behind the result; None where none can.
        compared: Texts that conditions compare with columns, by table.
    """

    used: tuple[str, ...]
    dated: bool = False
    whole: bool = False
    located: Located | None = None
    compared: Mapping[str, Sequence[Compared]] = field(default_factory=dict)


def check(
    connection: Any, sql: str, tables: Mapping[str, Sequence[str]], refused: frozenset[str]
) -> Checked:
    """Return what a statement reads, if it may be run.

    Args:
        connection: An open connection, whose parser is used.
        sql: The statement.
        tables: Columns of each table that may be read.
        refused: Functions that may not be called, beside `REFUSED`.

    Raises:
        RefusedStatement: If it is no single SELECT, or reads or calls anything else.
    """
    if len(sql) > MAX_SQL:
        raise RefusedStatement(f"the SQL has {len(sql):,} characters; give at most {MAX_SQL:,}")
    tree = parsed(connection, sql)
    columns = {same_name(name) for own in tables.values() for name in own}
    mentions: list[str] = []
    dated = whole = False
    for each, known in nodes(tree["statements"][0]["node"]):
        mentions += _source(each, known, tuple(tables))
        whole = whole or compares_whole_rows(each, known)
        called = _called(each, columns)
        dated = dated or called in _CLOCK
        if each.get("class") == "FUNCTION" and called in REFUSED | refused:
            raise RefusedStatement(f"the function {called!r} is not allowed: {_NOT_DATA}")
        if called in _BARE and called not in _made(tree):
            raise RefusedStatement(
                f"there is no column {called!r}, and DuckDB's own meaning of it is not allowed: "
                f"{_NOT_DATA}"
            )
    compared = compared_texts(tree["statements"][0]["node"], mentions, tables)
    rows = located(connection, tree, mentions)  # changes the tree
    return Checked(tuple(dict.fromkeys(mentions)), dated, whole, rows, compared)


def _source(node: Node, known: frozenset[str], tables: Sequence[str]) -> list[str]:
    """Return the one table that a node reads, if any; refuse a source that is not allowed."""
    if "class" in node or "sample" not in node or node.get("type", "").endswith("_NODE"):
        return []
    kind = node["type"]
    if kind == "SHOW_REF":
        raise RefusedStatement(
            "DESCRIBE, SHOW and SUMMARIZE are not allowed; ask without SQL for the names of tables "
            "and columns"
        )
    if kind not in _SOURCES:
        raise RefusedStatement(f"{kind.replace('_', ' ').lower()} is not allowed here; {_ONLY}")
    if kind == "TABLE_FUNCTION":
        name = str((node.get("function") or {}).get("function_name", "")).lower()
        if name not in TABLE_FUNCTIONS:
            raise RefusedStatement(f"the table function {name!r} is not allowed; {_ONLY}")
    if kind == "JOIN" and node.get("ref_type") == "NATURAL":
        raise RefusedStatement(
            "a NATURAL JOIN would compare _row, too; name the columns, as in JOIN … USING (x)"
        )
    if kind != "BASE_TABLE":
        return []
    path = node["qualified_name"]["path"]
    if len(path) == 1 and same_name(path[0]) in known:
        return []
    name = next((each for each in tables if same_name(each) == same_name(path[0])), "")
    if len(path) > 1 or not name:
        shown = ".".join(path)
        near = get_close_matches(shown, tables, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise RefusedStatement(
            f"there is no table {shown!r}{hint}; the tables: {', '.join(tables)}"
        )
    return [name]


def _called(node: Node, columns: Collection[str]) -> str:
    """Return the name of the function that a node calls, with brackets or without; else ""."""
    if node.get("class") == "FUNCTION":
        return same_name(str(node.get("function_name", "")))
    if node.get("class") == "COLUMN_REF" and len(node["column_names"]) == 1:
        name = same_name(node["column_names"][0])
        return name if name in _BARE | _CLOCK and name not in columns else ""
    return ""


def _made(tree: Node) -> set[str]:
    """Return all names that a statement gives to columns and tables itself."""
    found: set[str] = set()
    for each, _ in nodes(tree):
        names = (each.get("alias"), *each.get("aliases", ()), *each.get("column_name_alias", ()))
        found |= {same_name(name) for name in names if name}
    return found
