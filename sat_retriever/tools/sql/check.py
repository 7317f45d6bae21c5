"""Allow a statement, or refuse it: one SELECT over the given tables, by DuckDB's own parser.

The syntax tree also tells what else an answer needs: the sheet rows behind each of its rows, the
texts that its conditions compare, and whether it compares whole rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from sat_retriever.records.typedtable import ROW
from sat_retriever.tools.sql.repeats import Repeats, repeats
from sat_retriever.tools.sql.tree import (
    Node,
    RefusedStatement,
    ctes,
    direct,
    inside,
    nodes,
    parsed,
    row_of,
    same_name,
    text_of,
)

MAX_SQL = 20_000  # characters
TABLE_FUNCTIONS = frozenset({"range", "generate_series", "unnest"})
REFUSED = frozenset(
    """
    current_setting getvariable getenv nextval currval setval txid_current pg_typeof in_search_path
    current_schemas current_database current_schema current_catalog current_user session_user user
    current_role current_query current_query_id current_connection_id current_transaction_id sleep
    sleep_ms error write_log parse_duckdb_log_message get_type version setseed json_serialize_plan
    """.split()
)
"""Functions that tell of the program, change something or wait; none is about data.

`json_serialize_plan` plans any statement that it is given as a text, past this check.
"""
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
WHOLE_ROWS = f"{ROW} makes all rows different here: name the columns, or write * EXCLUDE ({ROW})."
_ORDERS = frozenset({"ORDER_MODIFIER", "LIMIT_MODIFIER"})
_LIKE = frozenset({"~~", "~~*"})  # and ILIKE; their text is a pattern
_UNLIKE = frozenset({"!~~", "!~~*"})
_FOLDING = frozenset({"lower", "lcase", "upper", "ucase", "trim", "ltrim", "rtrim"})
_ESCAPING = frozenset({"like_escape", "not_like_escape", "ilike_escape", "not_ilike_escape"})
_VARCHAR = {
    "class": "TYPE", "type": "TYPE", "alias": "", "query_location": 0, "query_location_length": 0,
    "catalog": "", "schema": "", "type_name": "VARCHAR", "children": [],
    "qualified_name": {"path": ["VARCHAR"]},
}  # fmt: skip
Compared = tuple[str, str, bool]
"""A column, a text, and True if the text is a pattern."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A statement that may be run.

    Attributes:
        sql: The statement to run: as it was written, but LIKE compares any value as text.
        dated: True if its result depends on the day or time.
        whole: True if it compares whole rows, with the column of rows among them.
        located: The statement that tells the rows behind the result; None where none can.
        compared: Texts that conditions compare with columns, by table.
        repeats: What tells how often records are added up, where a join may repeat them.
    """

    sql: str
    used: tuple[str, ...]
    dated: bool = False
    whole: bool = False
    located: Located | None = None
    compared: Mapping[str, Sequence[Compared]] = field(default_factory=dict)
    repeats: tuple[Repeats, ...] = ()


def check(
    connection: Any, sql: str, tables: Mapping[str, Sequence[str]], refused: frozenset[str]
) -> Checked:
    """Return an allowed statement and the tables that it reads.

    Args:
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
    if _like_texts(tree):
        sql = text_of(connection, tree)
    added = repeats(tree, tables)
    rows = located(connection, tree, mentions)  # changes the tree
    return Checked(sql, tuple(dict.fromkeys(mentions)), dated, whole, rows, compared, added)


def _like_texts(tree: Node) -> bool:
    """Let LIKE compare dates and numbers as texts; return True if the tree was changed.

    `day LIKE '2024-05-%'` is what many write for a month, and other databases take it.
    """
    found = False
    for each, _ in nodes(tree["statements"][0]["node"]):
        if (
            each.get("class") != "FUNCTION"
            or each["function_name"] not in _LIKE | _UNLIKE | _ESCAPING
        ):
            continue
        first = each["arguments"][0]
        if first["expression"]["class"] == "COLUMN_REF":
            first["expression"] = {
                "class": "CAST", "type": "OPERATOR_CAST", "alias": "", "query_location": 0,
                "query_location_length": 0, "try_cast": False, "child": first["expression"],
                "type_expr": _VARCHAR,
            }  # fmt: skip
            found = True
    return found


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


def compares_whole_rows(node: Node, known: frozenset[str]) -> bool:
    """Return True for a query that compares rows of a table with its column of rows among them.

    That is DISTINCT, GROUP BY ALL, UNION, EXCEPT and INTERSECT of all columns (`*`), and a PIVOT
    without a GROUP BY.
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


@dataclass(frozen=True, slots=True)
class Located:
    """A statement with the columns of rows of some tables behind its own columns.

    More columns can change what a statement answers, or make it wrong. So the answer is never taken
    from this one: its rows count only where they are those of the answer.
    """

    sql: str
    tables: tuple[str, ...]


def located(connection: Any, tree: Node, mentions: Sequence[str]) -> Located | None:
    """Return the statement that tells the rows of tables; None where no row stands for itself.

    Rows of a table are told where it is read once: elsewhere other rows of it count, too.

    Args:
        tree: The syntax tree, which is changed.
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
    node["select_list"] += [row_of(alias) for alias, _ in found]
    return Located(text_of(connection, tree), tuple(name for _, name in found))


def _row_by_row(node: Node) -> bool:
    """Return True if each row of a query comes from one row of what it reads."""
    if node["type"] != "SELECT_NODE" or node["aggregate_handling"] != "STANDARD_HANDLING":
        return False
    if any(node[part] for part in ("group_expressions", "having", "qualify", "sample")):
        return False
    if any(each["type"] not in _ORDERS for each in node["modifiers"]):
        return False
    return all(each.get("class") != "WINDOW" for each, _ in nodes(node["select_list"]))


def compared_texts(
    tree: Node, mentions: Sequence[str], tables: Mapping[str, Sequence[str]]
) -> dict[str, list[Compared]]:
    """Texts that WHERE compares with a column, by table.

    Only tables count that have such a condition wherever they are read: a row that is added to one
    of these for the sake of a text then reaches no sum of all rows beside it.

    Args:
        mentions: The tables that it reads, one entry each time.
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
    """Yield the column (with what qualifies it), text and kind of each text that must be there.

    That is what =, IN and LIKE compare with a column alone, or with one in `_FOLDING`; these count
    as patterns, which have no case. A subquery's conditions are its own.
    """
    for each in inside(condition):
        pattern = each.get("function_name") in _LIKE
        if pattern:
            first, *others = (one["expression"] for one in each["arguments"])
        elif each.get("type") == "COMPARE_EQUAL":
            first, *others = each["left"], each["right"]
        elif each.get("type") == "COMPARE_IN":
            first, *others = each["children"]
        else:
            continue
        for column, text in [*((first, one) for one in others), *((one, first) for one in others)]:
            (bare, folded), (literal, _) = _unfolded(column), _unfolded(text)
            told = literal.get("literal") or {}
            if bare.get("class") == "COLUMN_REF" and told.get("kind") == "STRING":
                plain = not any(mark in told["text"] for mark in "%_")
                path = tuple(map(same_name, bare["column_names"]))
                yield path, told["text"], pattern or (folded and plain)


def _unfolded(node: Node) -> tuple[Node, bool]:
    """Return what stands in functions that fold a text, and True if there are any."""
    bare = node
    while bare.get("class") == "FUNCTION" and same_name(bare["function_name"]) in _FOLDING:
        bare = bare["arguments"][0]["expression"]
    return bare, bare is not node
