"""Find tables whose records a query adds up more than once, because a join repeats them.

`SELECT sum(budget.amount) FROM budget JOIN staff USING (department)` counts a budget once for each
member of staff. Only the query at the top is looked at, and only where all that is added up comes
from one of the tables that it joins: a product of two tables' columns belongs to each pair.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sat_retriever.records.typedtable import ROW
from sat_retriever.tools.sql.tree import Node, ctes, direct, inside, row_of, same_name, text_of

_ADDING = frozenset(
    """
    sum fsum sumkahan kahan_sum avg mean favg product geomean geometric_mean median quantile
    quantile_cont quantile_disc stddev stddev_pop stddev_samp variance var_pop var_samp
    """.split()
)


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often the records of a table are added up.

    Attributes:
        table: Its name.
        tree: Syntax tree of the statement that gives its records, once for each time that they are
            added up, with what is grouped by.
    """

    table: str
    tree: Node

    def counts(self, connection: Any) -> tuple[int, int]:
        """Return how many records are added up, each time counted, and how many different ones."""
        inner = text_of(connection, self.tree)
        each = "count(record), count(DISTINCT t) FILTER (record IS NOT NULL)"
        times, records = connection.execute(f"SELECT {each} FROM ({inner}) t").fetchone()
        return times, records


def repeats(tree: Node, tables: Mapping[str, Sequence[str]]) -> tuple[Repeats, ...]:
    """Return what tells how often a table's records are added up, for each that a join may repeat.

    Args:
        tables: Columns of each table that may be read.
    """
    node = tree["statements"][0]["node"]
    if node["type"] != "SELECT_NODE" or node["from_table"]["type"] != "JOIN":
        return ()
    if any(node[part] for part in ("having", "qualify", "sample")) or len(node["group_sets"]) > 1:
        return ()
    columns = _columns(node, tables)
    added = {found for each in _added(node["select_list"]) if (found := _table_of(each, columns))}
    groups = _groups(node)
    return tuple(
        Repeats(name, _records(tree, alias, groups))
        for alias, (name, _) in columns.items()
        if alias in added
    )


def _columns(
    node: Node, tables: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, frozenset[str]]]:
    """Return the name and the columns of each table that a query joins, by its alias."""
    named = {same_name(name): name for name in tables}
    own = {same_name(entry["key"]) for entry in ctes(node)}
    found = {}
    for source in direct(node["from_table"]):
        name = same_name(source["table_name"])
        hidden = any(same_name(alias) == ROW for alias in source["column_name_alias"])
        if name in named and name not in own and not hidden:
            columns = frozenset(map(same_name, tables[named[name]]))
            found[same_name(source["alias"] or source["table_name"])] = named[name], columns
    return found


def _added(expression: Node) -> Iterator[Node]:
    """Yield what an expression adds up, outside its subqueries."""
    for each in inside(expression):
        adds = each.get("class") == "FUNCTION" and same_name(each["function_name"]) in _ADDING
        if adds and not each["distinct"] and not each["filter"]:
            yield each["arguments"]


def _table_of(arguments: Node, columns: Mapping[str, tuple[str, frozenset[str]]]) -> str | None:
    """Return the alias of the one table that arguments read; None if there is no such one."""
    found = set()
    for each in inside(arguments):
        if each.get("class") == "COLUMN_REF":
            *path, name = map(same_name, each["column_names"])
            holding = [x for x in columns if (x == path[-1] if path else name in columns[x][1])]
            found.add(holding[0] if len(holding) == 1 else None)
    return found.pop() if len(found) == 1 else None


def _groups(node: Node) -> list[Node]:
    """Return what a query groups by; a place or a name of a selected column stands for that."""
    listed = node["select_list"]
    if node["aggregate_handling"] == "FORCE_AGGREGATES":  # GROUP BY ALL
        return [each for each in listed if not any(True for _ in _added(each))]
    named = {same_name(each["alias"]): each for each in listed if each.get("alias")}

    def meant(each: Node) -> Node:
        place = str((each.get("literal") or {}).get("text", ""))
        if place.isdecimal() and 0 < int(place) <= len(listed):  # DuckDB refuses others
            return listed[int(place) - 1]
        [*path, name] = each.get("column_names") or [""]
        return each if path else named.get(same_name(name), each)

    return list(map(meant, node["group_expressions"]))


def _records(tree: Node, alias: str, groups: Sequence[Node]) -> Node:
    """Return the tree of the statement that gives a table's records, with what is grouped by."""
    changed = copy.deepcopy(tree)
    node = changed["statements"][0]["node"]
    named = [copy.deepcopy(each) | {"alias": f"by_{at}"} for at, each in enumerate(groups)]
    node["select_list"] = [*named, {**row_of(alias), "alias": "record"}]
    node |= {"group_expressions": [], "group_sets": [], "modifiers": []}
    node["aggregate_handling"] = "STANDARD_HANDLING"
    return changed
