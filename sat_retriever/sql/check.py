"""Allow a statement, or refuse it: one SELECT over the given tables, by DuckDB's own parser."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from sat_retriever.records.typedtable import ROW

Node = Any  # of DuckDB's syntax tree in JSON
MAX_SQL = 20_000  # characters
TABLE_FUNCTIONS = frozenset({"range", "generate_series", "unnest"})
REFUSED = frozenset(
    """
    current_setting getvariable getenv nextval currval txid_current pg_typeof in_search_path
    current_schemas current_database current_schema current_catalog sleep sleep_ms error write_log
    parse_duckdb_log_message get_type version
    """.split()
)
"""Functions that tell of the program, change something or wait; none is about data."""
_SOURCES = frozenset(
    {"BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST", "EMPTY", "PIVOT"}
)
_ORDERS = frozenset({"ORDER_MODIFIER", "LIMIT_MODIFIER"})


class RefusedStatement(Exception):  # noqa: N818 - an answer to the asker
    """The statement is not run; the message says why, for its writer."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A statement that may be run.

    Attributes:
        sql: The statement, with a column of rows for each table at its end where that is possible.
        used: Tables that it reads, in the order of their first mention.
        located: Those of them whose rows are in the last columns.
    """

    sql: str
    used: tuple[str, ...]
    located: tuple[str, ...] = ()


def check(connection: Any, sql: str, tables: Sequence[str], aggregates: frozenset[str]) -> Checked:
    """Return a statement as it may be run.

    Args:
        connection: An open connection, whose parser is used.
        sql: The statement.
        tables: Names of the tables that may be read.
        aggregates: Names of aggregate functions, which hide rows.

    Raises:
        RefusedStatement: If it is no single SELECT, or reads or calls anything else.
    """
    if len(sql) > MAX_SQL:
        raise RefusedStatement(f"the SQL has {len(sql):,} characters; give at most {MAX_SQL:,}")
    tree = _parsed(connection, sql)
    node = tree["statements"][0]["node"]
    own = {name.casefold() for name in _cte_names(node)}
    used: dict[str, None] = {}
    for each in _nodes(node):
        _check_source(each, tables, own, used)
        _check_function(each)
    places = _places(node, own, aggregates)
    if not places:
        return Checked(sql, tuple(used))
    node["select_list"] += [_row_of(alias) for alias, _ in places]
    text = connection.execute("SELECT json_deserialize_sql(?)", [json.dumps(tree)]).fetchone()[0]
    return Checked(text, tuple(used), tuple(_known(name, tables) for _, name in places))


def _parsed(connection: Any, sql: str) -> Mapping[str, Any]:
    """Return the syntax tree of the one SELECT that a text holds."""
    try:
        statements = connection.extract_statements(sql)
    except Exception as error:  # the parser's errors share no other class with the binder's
        raise RefusedStatement(first_line(error)) from error
    if len(statements) != 1:
        raise RefusedStatement(f"{len(statements)} statements; give one SELECT")
    kind = str(statements[0].type).rpartition(".")[2]
    if kind != "SELECT":
        raise RefusedStatement(f"{kind} is not allowed; only one SELECT is")
    [told] = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    try:
        tree: dict[str, Any] = json.loads(told)
    except RecursionError as error:
        raise RefusedStatement("it is nested too deeply; write it in steps") from error
    if tree["error"] or len(tree["statements"]) != 1:
        said = tree.get("error_message", "it is no plain SELECT")
        raise RefusedStatement(f"this cannot be checked, so it is not run: {said}")
    return tree


def first_line(error: BaseException) -> str:
    """Return the first line of DuckDB's message, without its last point."""
    lines = [line for line in str(error).split("\n") if line.strip()]
    return " ".join(" ".join(lines[:1]).split()).rstrip(".") or type(error).__name__


def _nodes(node: Node) -> Iterator[dict[str, Any]]:
    """Yield every object of a syntax tree."""
    left = [node]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            yield each
            left.extend(reversed(each.values()))
        elif isinstance(each, list):
            left.extend(reversed(each))


def _cte_names(node: Node) -> Iterator[str]:
    for each in _nodes(node):
        for entry in (each.get("cte_map") or {}).get("map", []) if "cte_map" in each else ():
            yield entry["key"]
        if each.get("type") == "RECURSIVE_CTE_NODE" and each.get("cte_name"):
            yield each["cte_name"]


def _check_source(
    node: Mapping[str, Any], tables: Sequence[str], own: set[str], used: dict[str, None]
) -> None:
    """Refuse a source of rows that is not allowed; note a table that is read."""
    if "class" in node or "sample" not in node or node.get("type", "").endswith("_NODE"):
        return
    kind = node["type"]
    if kind not in _SOURCES:
        raise RefusedStatement(f"{kind.replace('_', ' ').lower()} is not allowed here; {_ONLY}")
    if kind == "TABLE_FUNCTION":
        name = str((node.get("function") or {}).get("function_name", "")).lower()
        if name not in TABLE_FUNCTIONS:
            raise RefusedStatement(f"the table function {name!r} is not allowed; {_ONLY}")
    if kind == "BASE_TABLE":
        name, place = node["table_name"], (node.get("catalog_name"), node.get("schema_name"))
        if not any(place) and name.casefold() in own:
            return
        known = _known(name, tables)
        if any(place) or not known:
            shown = ".".join(part for part in (*place, name) if part)
            near = get_close_matches(name, tables, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise RefusedStatement(
                f"there is no table {shown!r}{hint}; the tables: {', '.join(tables)}"
            )
        used[known] = None


_ONLY = "read the given tables, subqueries of them, VALUES, range or unnest"


def _known(name: str, tables: Sequence[str]) -> str:
    """Return a table's name as it was given, whatever the case; "" if there is none."""
    return next((each for each in tables if each.casefold() == name.casefold()), "")


def _check_function(node: Mapping[str, Any]) -> None:
    if node.get("class") == "FUNCTION" and str(node.get("function_name", "")).lower() in REFUSED:
        raise RefusedStatement(f"the function {node['function_name']!r} is not allowed")


def _places(
    node: Mapping[str, Any], own: set[str], aggregates: frozenset[str]
) -> list[tuple[str, str]]:
    """Return alias and name of each table whose rows the result can tell; none if hidden."""
    modifiers = {each["type"] for each in node.get("modifiers", ())}
    grouped = node.get("group_expressions") or node.get("having") or node.get("qualify")
    if node.get("type") != "SELECT_NODE" or grouped or node.get("sample") or modifiers - _ORDERS:
        return []
    selected = list(_nodes(node["select_list"]))
    if any(str(each.get("function_name", "")).lower() in aggregates for each in selected):
        return []
    if any(each.get("function_name") == "unnest" for each in selected):
        return []
    found: list[tuple[str, str]] = []
    left = [node["from_table"]]
    while left:
        source = left.pop(0)
        if source["type"] == "JOIN" and source.get("join_type") not in ("SEMI", "ANTI"):
            left[:0] = [source["left"], source["right"]]
        elif source["type"] == "BASE_TABLE" and source["table_name"].casefold() not in own:
            found.append((source["alias"] or source["table_name"], source["table_name"]))
        else:
            return []
    return found


def _row_of(alias: str) -> Mapping[str, Any]:
    """Return the syntax tree of `alias._row`."""
    return {
        "class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "query_location": 0,
        "query_location_length": 0, "column_names": [alias, ROW],
    }  # fmt: skip
