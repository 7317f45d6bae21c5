"""The rows of the tables behind each row of a result, asked for by a statement of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sat_retriever.records.typedtable import ROW
from sat_retriever.tools.sql.tree import Node, ctes, nodes, same_name

_ORDERS = frozenset({"ORDER_MODIFIER", "LIMIT_MODIFIER"})


@dataclass(frozen=True, slots=True)
class Located:
    """A statement with the columns of rows of some tables behind its own columns.

    More columns can change what a statement answers, or make it wrong. So the answer is never taken
    from this one: its rows count only where they are those of the answer.

    Attributes:
        sql: The statement.
        tables: The tables, in the order of the columns.
    """

    sql: str
    tables: tuple[str, ...]


def located(connection: Any, tree: Node, mentions: Sequence[str]) -> Located | None:
    """Return the statement that tells the rows of tables; None where no row stands for itself.

    Rows of a table are told where it is read once: elsewhere other rows of it count, too.

    Args:
        connection: An open connection, whose parser is used.
        tree: The syntax tree, which is changed.
        mentions: The tables that the statement reads, one entry each time.
    """
    node = tree["statements"][0]["node"]
    if not _row_by_row(node):
        return None
    own = {same_name(entry["key"]) for entry in ctes(node)}
    once = {same_name(name): name for name in mentions if mentions.count(name) == 1}
    found = []
    for source in direct(node["from_table"]):
        name = same_name(source["table_name"])
        hidden = any(same_name(alias) == ROW for alias in source["column_name_alias"])
        if name in once and name not in own and not hidden and not source["sample"]:
            found.append((source["alias"] or source["table_name"], once[name]))
    if not found:
        return None
    node["select_list"] += [_row_of(alias) for alias, _ in found]
    text = connection.execute("SELECT json_deserialize_sql(?)", [json.dumps(tree)]).fetchone()[0]
    return Located(text, tuple(name for _, name in found))


def _row_by_row(node: Node) -> bool:
    """Return True if each row of a query comes from one row of what it reads."""
    if node["type"] != "SELECT_NODE" or node["aggregate_handling"] != "STANDARD_HANDLING":
        return False
    if any(node[part] for part in ("group_expressions", "having", "qualify", "sample")):
        return False
    if any(each["type"] not in _ORDERS for each in node["modifiers"]):
        return False
    return all(each.get("class") != "WINDOW" for each, _ in nodes(node["select_list"]))


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


def _row_of(alias: str) -> Mapping[str, Any]:
    """Return the syntax tree of `alias._row`."""
    return {
        "class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "query_location": 0,
        "query_location_length": 0, "column_names": [alias, ROW],
    }  # fmt: skip
