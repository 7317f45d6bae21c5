"""Queries that compare whole rows, which the column of rows makes all different."""

from __future__ import annotations

from sat_retriever.records.typedtable import ROW
from sat_retriever.tools.sql.located import direct
from sat_retriever.tools.sql.tree import Node, ctes, same_name

WHOLE_ROWS = f"{ROW} makes all rows different here: name the columns, or write * EXCLUDE ({ROW})."


def compares_whole_rows(node: Node, known: frozenset[str]) -> bool:
    """Return True for a query that compares rows of a table with its column of rows among them.

    That is DISTINCT, GROUP BY ALL, UNION, EXCEPT and INTERSECT of all columns (`*`), and a PIVOT
    without a GROUP BY.

    Args:
        node: An object of a syntax tree.
        known: Names of CTEs that it can mean.
    """
    match node.get("type"):
        case "SELECT_NODE":
            distinct = any(
                each["type"] == "DISTINCT_MODIFIER" and not each["distinct_on_targets"]
                for each in node["modifiers"]
            )
            grouped = node["aggregate_handling"] == "FORCE_AGGREGATES"
            return (distinct or grouped) and _has_rows(node, known)
        case "SET_OPERATION_NODE":
            if node["setop_type"].startswith("UNION") and node["setop_all"]:
                return False
            return any(_has_rows(each, known) for each in node["children"])
        case "PIVOT":
            bare = node["aggregates"] and not node["groups"]
            return bool(bare) and _reads_table(node["source"], known)
    return False


def _has_rows(query: Node, known: frozenset[str]) -> bool:
    """Return True if a query gives all columns of a table, with that of rows."""
    if query["type"] != "SELECT_NODE":
        return False
    every = any(
        each["class"] == "STAR"
        and not each["columns"]
        and ROW not in map(same_name, each["exclude_list"])
        and ROW not in (same_name(other["column"]) for other in each["qualified_exclude_list"])
        for each in query["select_list"]
    )
    own = known | {same_name(entry["key"]) for entry in ctes(query)}
    return every and _reads_table(query["from_table"], own)


def _reads_table(source: Node, known: frozenset[str]) -> bool:
    return any(same_name(each["table_name"]) not in known for each in direct(source))
