"""Run one query in a process of its own, with limits on time and memory."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sat_retriever._extras import require
from sat_retriever.errors import InputError, QueryError
from sat_retriever.records.typedtable import ROW
from sat_retriever.stages import Stage, Told, stage, tell
from sat_retriever.system import LOOK_EVERY_S, check_wanted
from sat_retriever.tools.sql.names import SqlTable

_START_SECONDS = 30.0  # for the process to start and to read the tables


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """Limits on one query.

    Attributes:
        seconds: Processor time, and wall-clock time of the query itself.
        memory_mb: MiB of memory beside the tables.
        columns: Most columns of the result, and of a table where its columns are named.

    Raises:
        InputError: If one is 0 or less.
    """

    seconds: float = 10.0
    memory_mb: int = 512
    rows: int = 200
    columns: int = 100
    cells: int = 5_000_000

    def __post_init__(self) -> None:
        for name in ("seconds", "memory_mb", "rows", "columns", "cells"):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} is {getattr(self, name)}; give a number above 0")


DEFAULT_LIMITS = QueryLimits()


def can_query() -> bool:
    """True if the extra `[sql]` is installed."""
    return all(find_spec(module) is not None for module in ("duckdb", "pyarrow"))


@stage(Stage.SQL)
def ask(
    sql: str, tables: Sequence[SqlTable], limits: QueryLimits, now: dt.datetime
) -> Mapping[str, Any]:
    """Return the answer of a process to one query: its columns, rows and places, or an error.

    Args:
        now: The moment that `now()` and `current_date` give, without a zone.

    Raises:
        MissingExtraError: If DuckDB or pyarrow is not installed.
        QueryError: If the query is refused, or takes too long or too much memory.
    """
    tell(Told.SQL, sql)
    require("duckdb", "sql")
    arrow = require("pyarrow", "sql")
    parts = [_packed(arrow, table) for table in tables]
    asked = {
        "sql": sql,
        "tables": [[table.name, len(part)] for table, part in zip(tables, parts, strict=True)],
        "rows": limits.rows,
        "columns": limits.columns,
        "seconds": limits.seconds,
        "memory_mb": limits.memory_mb,
        "day": now.date().isoformat(),
        "time": now.time().isoformat(),
    }
    line = json.dumps(asked).encode() + b"\n"
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "sat_retriever.tools.sql.process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(),
        start_new_session=True,
    ) as process:
        out, err = _said(process, b"".join([line, *parts]), _START_SECONDS + limits.seconds)
    lines = out.split(b"\n")[:-1]  # a line without an end was not written to it
    if not lines:
        raise QueryError(_ended(process.returncode, err, limits))
    answer: dict[str, Any] = {"places": [], "located": []}
    for line in lines:
        answer |= json.loads(line)
    return answer


def _said(process: subprocess.Popen[bytes], asked: bytes, seconds: float) -> tuple[bytes, bytes]:
    """What a process says, to its end or until it is killed: late, or as nobody waits for it.

    Another thread writes and reads: a `communicate` that timed out writes nothing more.
    """
    end = time.monotonic() + seconds
    with ThreadPoolExecutor(max_workers=1) as pool:
        said = pool.submit(process.communicate, asked)
        try:
            while True:
                try:
                    return said.result(timeout=LOOK_EVERY_S)
                except TimeoutError:
                    check_wanted()
                    if time.monotonic() > end:
                        process.kill()
        finally:  # ends the thread, too
            with contextlib.suppress(OSError):
                process.kill()


def _packed(arrow: Any, table: SqlTable) -> bytes:
    """Return a table as an Arrow stream: its columns under their SQL names, then that of rows."""
    found = table.table.to_arrow()
    renamed = found.rename_columns([ROW, *table.columns]).select([*table.columns, ROW])
    sink = io.BytesIO()
    with arrow.ipc.new_stream(sink, renamed.schema) as writer:
        writer.write_table(renamed)
    return sink.getvalue()


def _ended(code: int, err: bytes, limits: QueryLimits) -> str:
    """Return the reason why a process gave no answer."""
    if b"MemoryError" in err or b"bad_alloc" in err or code in (-6, -11):
        return too_much_memory(limits)
    if code > 0:  # the process ended by itself; limits end it by a signal
        said = err.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return f"the query could not be run: {said or 'its process ended without a word'}"
    return f"the query took more than {limits.seconds:g} seconds; {_LESS}"


def too_much_memory(limits: QueryLimits) -> str:
    """Return the message about a query beyond its limit on memory."""
    return f"the query needs more than {limits.memory_mb:,} MiB of memory; {_LESS}"


_LESS = "read fewer rows, join on more columns, or aggregate first"


def _environment() -> dict[str, str]:
    """The environment of the process: the same packages, nothing of the user's settings."""
    here = str(Path(__file__).resolve().parents[3])
    paths = [here, *(path for path in sys.path if path and path != here)]
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG") if name in os.environ}
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
