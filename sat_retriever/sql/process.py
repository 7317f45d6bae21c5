"""The process that runs one query: a request and tables on stdin, one JSON answer on stdout.

It is started as `python -m sat_retriever.sql.process` and ends after its answer. DuckDB is in
memory, without files, network, extensions and settings; the system's limits on memory, processor
time, written and opened files stand behind that.
"""

from __future__ import annotations

import decimal
import io
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any

from sat_retriever.records.typedtable import value_text
from sat_retriever.sql.check import RefusedStatement, check, first_line
from sat_retriever.system import address_space
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
    for name, size in asked["tables"]:
        stream = pyarrow.ipc.open_stream(io.BytesIO(sys.stdin.buffer.read(size)))
        connection.register(name, stream.read_all())
    connection.execute("SET lock_configuration = true")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    _limit(asked)
    _write(answers, _answer(connection, asked))


def _write(answers: IO[str], answer: Mapping[str, Any]) -> None:
    json.dump(answer, answers)
    answers.flush()
    os._exit(0)  # nothing is left to be done, and no file can be opened any more


def _answer(connection: Any, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    import duckdb

    names = [name for name, _ in asked["tables"]]
    found = connection.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"
    ).fetchall()
    try:
        checked = check(connection, asked["sql"], names, frozenset(name for (name,) in found))
        connection.execute(checked.sql)
        rows, more = _fetched(connection, asked["rows"])
    except RefusedStatement as refused:
        return {"refused": str(refused)}
    except (MemoryError, duckdb.OutOfMemoryException):
        return {"beyond": "memory"}
    except duckdb.Error as error:  # an answer to the writer of the SQL
        return {"error": first_line(error)}
    columns = [(column[0], str(column[1])) for column in connection.description]
    own = len(columns) - len(checked.located)
    return {
        "columns": columns[:own],
        "rows": [row[:own] for row in rows],
        "places": [row[own:] for row in rows],
        "used": checked.used,
        "located": checked.located,
        "more": more,
    }


def _fetched(connection: Any, most: int) -> tuple[list[list[Any]], bool]:
    """Return the first rows of a result as JSON values, and True if there are more."""
    rows: list[list[Any]] = []
    size = 0
    while part := connection.fetchmany(_AT_ONCE):
        for row in part:
            if len(rows) == most or size > _MAX_ANSWER:
                return rows, True
            values = [_plain(value) for value in row]
            size += sum(len(value) for value in values if isinstance(value, str))
            rows.append(values)
    return rows, False


def _plain(value: Any) -> str | int | float | bool | None:
    """Return a value of a result as a JSON value; a long text is cut."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float | decimal.Decimal):
        return plain_value(float(value))
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
