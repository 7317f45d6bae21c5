"""Texts that the conditions of a statement compare with columns of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sat_retriever.tools.sql.located import direct
from sat_retriever.tools.sql.tree import Node, ctes, nodes, same_name

LIKE = frozenset({"~~", "!~~", "~~*", "!~~*"})
"""Operators whose text is a pattern: LIKE, NOT LIKE, ILIKE, NOT ILIKE."""
Compared = tuple[str, str, bool]
"""A column, a text, and True if the text is a pattern."""


def compared_texts(
    tree: Node, mentions: Sequence[str], tables: Mapping[str, Sequence[str]]
) -> dict[str, list[Compared]]:
    """Texts that WHERE compares with a column, by table.

    Only tables count that have such a condition wherever they are read: a row that is added to one
    of these for the sake of a text then reaches no sum of all rows beside it.

    Args:
        tree: A query's object of the syntax tree.
        mentions: The tables that it reads, one entry each time.
        tables: Columns of each table.
    """
    by_name = {same_name(name): name for name in mentions}
    found: dict[str, list[Compared]] = {}
    read: list[str] = []
    for each, known in nodes(tree):
        if each.get("type") != "SELECT_NODE" or not each["where_clause"]:
            continue
        own = known | {same_name(entry["key"]) for entry in ctes(each)}
        texts = list(_compared(each["where_clause"]))
        for source in direct(each["from_table"]):
            name = by_name.get(same_name(source["table_name"]))
            if name is None or same_name(name) in own:
                continue
            alias = same_name(source["alias"] or name)
            columns = {same_name(column): column for column in tables[name]}
            told = [
                (columns[path[-1]], text, pattern)
                for path, text, pattern in texts
                if path[-1] in columns and path[:-1] in ((), (alias,))
            ]
            if told:
                read.append(name)
                found.setdefault(name, []).extend(told)
    return {name: found[name] for name in found if read.count(name) == mentions.count(name)}


def _compared(condition: Node) -> Iterator[tuple[tuple[str, ...], str, bool]]:
    """Yield the column (with what qualifies it), text and kind of each comparison with a text."""
    for each, _ in nodes(condition):
        pattern = each.get("function_name") in LIKE
        if not (pattern or str(each.get("type")).startswith("COMPARE_")):
            continue
        columns = [
            tuple(map(same_name, part["column_names"]))
            for part, _ in nodes(each)
            if part.get("class") == "COLUMN_REF"
        ]
        if len(columns) == 1:  # perhaps inside lower() or trim()
            for part, _ in nodes(each):
                literal = part.get("literal") or {}
                if literal.get("kind") == "STRING":
                    yield columns[0], literal["text"], pattern
