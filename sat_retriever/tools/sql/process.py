"""The process that runs one query: a request and tables on stdin, JSON answers on stdout.

It is started as `python -m sat_retriever.tools.sql.process`. Its first line is the answer; a second
line has the sheet rows behind it, where they are known and time is left to ask for them. DuckDB is
in memory, without files, network, extensions and settings; the system's limits on memory, processor
time, written and opened files stand behind that.
"""

from __future__ import annotations

import contextlib
import decimal
import io
import json
import math
import os
import re
import sys
import zoneinfo
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sat_retriever.records.typedtable import value_text
from sat_retriever.system import address_space
from sat_retriever.tools.sql.check import DATES, MOMENTS, REFUSED, TIMES, Checked, check
from sat_retriever.tools.sql.tree import RefusedStatement, bounded, first_line
from sat_retriever.workbook.values.window import plain_value

_MIB = 1 << 20
_CONFIG = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "max_temp_directory_size": "0B",
    "threads": "1",
}
_DURATION = "INTERVAL"
_AT_ONCE = 256  # rows fetched at a time
_MAX_TEXT = 2_000  # characters of a cell
_MAX_ANSWER = 4 * _MIB  # characters of all cells


def main() -> None:
    """Answer the one request on stdin."""
    import duckdb
    import pyarrow

    asked = json.loads(sys.stdin.buffer.readline())
    config: dict[str, Any] = {**_CONFIG, "memory_limit": f"{asked['memory_mb']}MB"}
    connection = duckdb.connect(":memory:", config=config)
    tables = {}
    for name, size in asked["tables"]:
        stream = pyarrow.ipc.open_stream(io.BytesIO(sys.stdin.buffer.read(size)))
        connection.register(name, stream.read_all())
        tables[name] = stream.schema.names
    _set_clock(connection, asked["day"], asked["time"])
    connection.execute("SET lock_configuration = true")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    _limit(asked)
    for answer in answers_of(connection, asked, tables):
        answers.write(f"{json.dumps(answer)}\n")
        answers.flush()
    os._exit(0)  # nothing is left to be done, and no file can be opened any more


def _set_clock(connection: Any, day: str, time: str) -> None:
    """Let the functions of DuckDB's clock give one day and time, in the zone of the asker.

    They are moments without a zone, as those of sheets are, so that both can be compared.
    """
    with contextlib.suppress(zoneinfo.ZoneInfoNotFoundError):
        zone = zoneinfo.ZoneInfo("UTC")  # kept, as later no file of zones can be opened
        connection.execute(f"SET TimeZone = '{zone.key}'")
    told = {
        **dict.fromkeys(DATES, f"DATE '{day}'"),
        **dict.fromkeys(MOMENTS, f"TIMESTAMP '{day} {time}'"),
        **dict.fromkeys(TIMES, f"TIME '{time}'"),
    }
    for name, value in told.items():
        connection.execute(f"CREATE TEMP MACRO {name}() AS {value}")
    connection.execute(f"CREATE TEMP MACRO ago(past) AS TIMESTAMP '{day} {time}' - past::INTERVAL")


def answers_of(
    connection: Any, asked: Mapping[str, Any], tables: Mapping[str, Sequence[str]]
) -> Iterator[Mapping[str, Any]]:
    """Yield the answer, then the rows behind it and the records that repeat, if they are known."""
    import duckdb

    try:
        checked = check(connection, asked["sql"], tables, _reading(connection))
        names = _executed(connection, checked.sql)
        shown = range(min(len(names), asked["columns"]))
        rows, more = fetched(connection, asked["rows"], shown)
    except RefusedStatement as refused:
        yield {"refused": bounded(str(refused))}
    except (MemoryError, duckdb.OutOfMemoryException):
        yield {"beyond": "memory"}
    except duckdb.Error as error:  # an answer to the writer of the SQL
        yield {"error": first_line(error)}
    else:
        answer = {"columns": names[: len(shown)], "width": len(names), "rows": rows, "more": more}
        told = {"used": checked.used, "dated": checked.dated, "whole": checked.whole}
        yield {**answer, **told, "compared": checked.compared}
        for part in (_behind(connection, asked, checked, answer), _repeated(connection, checked)):
            with contextlib.suppress(MemoryError, duckdb.Error):  # the answer stands without them
                yield from part


def _reading(connection: Any) -> frozenset[str]:
    """Return the macros that read tables of the system, or call what is refused."""
    macros = connection.execute(
        "SELECT function_name, lower(macro_definition) FROM duckdb_functions() "
        "WHERE function_type = 'macro'"
    ).fetchall()
    plain = REFUSED - {"error"}  # by which macros about data tell of wrong arguments
    found = {name for name, body in macros if "select" in body}
    more = found
    while more:
        called = re.compile(rf'\b({"|".join(plain | found)})"?\(')
        more = {name for name, body in macros if name not in found and called.search(body)}
        found |= more
    return frozenset(found)


def _repeated(connection: Any, checked: Checked) -> Iterator[Mapping[str, Any]]:
    """Yield how many records of a table are added up, and how often in all, where that is more."""
    found = {}
    for each in checked.repeats:
        times, records = each.counts(connection)
        if times > records:
            found[each.table] = [records, times]
    if found:
        yield {"repeated": found}


def _behind(
    connection: Any, asked: Mapping[str, Any], checked: Checked, answer: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    """Yield the sheet rows behind each row of an answer, if another statement tells them."""
    if checked.located is None:
        return
    _executed(connection, checked.located.sql)
    own, width = len(answer["columns"]), answer["width"]
    shown = [*range(own), *range(width, width + len(checked.located.tables))]
    rows, more = fetched(connection, asked["rows"], shown)
    if [row[:own] for row in rows] == answer["rows"] and more == answer["more"]:
        yield {"places": [row[own:] for row in rows], "located": checked.located.tables}


def _executed(connection: Any, sql: str) -> list[tuple[str, str]]:
    """Run a statement and return names and types of its result's columns.

    Durations are made texts by DuckDB: Python has none with months, and takes a year for 360 days.
    """
    connection.execute(sql)
    names = [(column[0], str(column[1])) for column in connection.description]
    if any(_DURATION in kind for _, kind in names):
        [text] = connection.execute(
            "SELECT json_deserialize_sql(json_serialize_sql(?))", [sql]
        ).fetchone()
        told = (
            f"CAST(#{place} AS {kind.replace(_DURATION, 'VARCHAR')})"
            if _DURATION in kind
            else f"#{place}"
            for place, (_, kind) in enumerate(names, start=1)
        )
        connection.execute(f"SELECT {', '.join(told)} FROM ({text})")
    return names


def fetched(connection: Any, most: int, shown: Sequence[int]) -> tuple[list[list[Any]], bool]:
    """Return the first rows of a result as JSON values, and True if there are more."""
    rows: list[list[Any]] = []
    size = 0
    while part := connection.fetchmany(_AT_ONCE):
        for row in part:
            if len(rows) == most or size > _MAX_ANSWER:
                return rows, True
            values = [_plain(row[place]) for place in shown]
            size += sum(len(value) for value in values if isinstance(value, str))
            rows.append(values)
    return rows, False


def _plain(value: Any) -> str | int | float | bool | None:
    """Return a value of a result as a JSON value; a long text is cut."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, decimal.Decimal):
        number = float(value)
        return plain_value(number) if decimal.Decimal(repr(number)) == value else str(value)
    if isinstance(value, float):
        return plain_value(value)
    nested = isinstance(value, list | dict | tuple)
    text = json.dumps(_nested(value), ensure_ascii=False) if nested else value_text(value) or ""
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


def _nested(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _nested(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_nested(each) for each in value]
    return _plain(value)


def _limit(asked: Mapping[str, Any]) -> None:
    """Limit this process from now on; effective on Linux, in part on macOS."""
    if sys.platform == "win32":
        return
    import resource

    held = address_space()
    if held:
        most = held + (asked["memory_mb"] + _SPARE_MB) * _MIB
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    seconds = math.ceil(usage.ru_utime + usage.ru_stime + asked["seconds"])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))  # no further file can be opened


_SPARE_MB = 256  # for Python, and for what DuckDB does not count


if __name__ == "__main__":
    main()
