"""DuckDB's syntax tree of one statement, and what each name in it can mean at its place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sat_retriever.records.typedtable import ROW

MAX_MESSAGE = 2_000  # characters; DuckDB repeats a value of any length in its own
Node = Any  # of a syntax tree in JSON
_SMALL = str.maketrans({chr(code): chr(code + 32) for code in range(ord("A"), ord("Z") + 1)})


class RefusedStatement(Exception):  # noqa: N818 - an answer to the asker
    """The statement is not run; the message says why, for its writer."""


def same_name(name: str) -> str:
    """Return the form that is equal for two names exactly if DuckDB takes them for one.

    >>> same_name("Orders") == same_name("ORDERS"), same_name("\u017fet") == same_name("set")
    (True, False)
    """
    return name.translate(_SMALL)


def parsed(connection: Any, sql: str) -> Node:
    """Return the syntax tree of the one SELECT that a text holds."""
    try:
        statements = connection.extract_statements(sql)
    except Exception as error:  # the parser's errors share no other class with the binder's
        raise RefusedStatement(first_line(error)) from error
    if len(statements) != 1:
        raise RefusedStatement(f"{len(statements)} statements; give one SELECT")
    try:
        kind = str(statements[0].type).rpartition(".")[2]
    except ValueError:  # DuckDB's Python does not name all kinds
        kind = "this kind of statement"
    if kind == "MULTI":
        raise RefusedStatement(
            "a PIVOT that looks for its columns itself is not allowed; name the values, as in "
            "FROM t PIVOT (sum(x) FOR y IN ('a', 'b') GROUP BY z)"
        )
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
    """Return the first line of DuckDB's message, without its last point; a long one is cut."""
    lines = [line for line in str(error).split("\n") if line.strip()]
    return bounded(" ".join(" ".join(lines[:1]).split()).rstrip(".") or type(error).__name__)


def bounded(message: str) -> str:
    """Return a message that is cut after `MAX_MESSAGE` characters."""
    return message if len(message) <= MAX_MESSAGE else f"{message[: MAX_MESSAGE - 1]}…"


def nodes(tree: Node) -> Iterator[tuple[dict[str, Any], frozenset[str]]]:
    """Yield every object of a syntax tree with the names of CTEs that it can mean.

    A CTE is known in those that follow it in its list, and in the query below the list with all
    its subqueries; in itself only if it is recursive, in the part that recurs. Names are as
    `same_name` has them.
    """
    left: list[tuple[Node, frozenset[str]]] = [(tree, frozenset())]
    while left:
        each, known = left.pop()
        if isinstance(each, list):
            left.extend((part, known) for part in reversed(each))
        elif isinstance(each, dict):
            yield each, known
            left.extend(reversed(list(_parts(each, known))))


def _parts(node: dict[str, Any], known: frozenset[str]) -> Iterator[tuple[Node, frozenset[str]]]:
    for entry in ctes(node):
        yield entry["value"], known
        known |= {same_name(entry["key"])}
    for key, value in node.items():
        own = key == "right" and node.get("type") == "RECURSIVE_CTE_NODE"
        if key != "cte_map":
            yield value, known | {same_name(node["cte_name"])} if own else known


def ctes(node: Node) -> list[dict[str, Any]]:
    """Return the entries of a query's own list of CTEs."""
    found: list[dict[str, Any]] = (node.get("cte_map") or {}).get("map") or []
    return found


def inside(node: Node) -> Iterator[dict[str, Any]]:
    """Yield every object of an expression, but none of its subqueries and windows."""
    left = [node]
    while left:
        each = left.pop()
        if isinstance(each, list):
            left += each
        elif isinstance(each, dict) and each.get("class") not in ("SUBQUERY", "WINDOW"):
            yield each
            left += each.values()


def direct(source: Node) -> Iterator[Node]:
    """Yield the tables whose rows a FROM clause joins, left to right."""
    left = [source]
    while left:
        each = left.pop()
        if each["type"] == "JOIN":
            filters = each["join_type"] in ("SEMI", "ANTI")
            left += [each["left"]] if filters else [each["right"], each["left"]]
        elif each["type"] == "BASE_TABLE":
            yield each


def text_of(connection: Any, tree: Node) -> str:
    """Return the SQL of a syntax tree."""
    told = connection.execute("SELECT json_deserialize_sql(?)", [json.dumps(tree)]).fetchone()
    return str(told[0])


def row_of(alias: str) -> Mapping[str, Any]:
    """Return the syntax tree of `alias._row`."""
    return {
        "class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "query_location": 0,
        "query_location_length": 0, "column_names": [alias, ROW],
    }  # fmt: skip
