"""Statements meant to do harm, or silly ones: what `query_tables` makes of each.

    python -m benchmarks run hostile_sql [--show]

Five hundred statements over one small table: reads of files and of the network, writes, ATTACH,
COPY, INSTALL, settings, pragmas, several statements, hidden ones in comments and subqueries, bombs
of rows, of recursion, of memory, of nesting, and texts that are no SQL. A secret file and a folder
stand by: no answer may hold the secret's text, no file may appear, and none may take longer than
its limits. Random letters are drawn from a fixed seed.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import string
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from benchmarks.progress import track
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.errors import InputError
from sat_retriever.records.area import Area
from sat_retriever.records.typedtable import ColumnKind, TypedColumn, TypedTable
from sat_retriever.tools.sql.ask import QueryLimits
from sat_retriever.tools.sql.query import TableQuery

LIMITS = QueryLimits(seconds=2.0, memory_mb=128)
COUNT = 500
SECRET = "do-not-tell-7731"  # a statement must not reach it
_STATEMENTS = Path(__file__).with_name("hostile_sql.json")
_LETTERS = string.ascii_letters + string.digits + " ()*,;'\"-/\\\0%$#@!\u00e9\u4e2d"


def statements(secret: Path, seed: int = 0) -> Iterator[str]:
    """Yield statements without end, each kind in turn, then letters that are no SQL.

    Args:
        secret: A file that exists.
        seed: Decides random letters.
    """
    known = json.loads(_STATEMENTS.read_text(encoding="utf-8"))
    written = str(secret.with_name("written"))
    reading, bombs = known["reading functions"], known["bombs"]
    yield from (each.replace("{file}", written) for each in known["other kinds"])
    for file in (str(secret), *known["elsewhere"]):
        yield from (f"SELECT * FROM {function}('{file}')" for function in reading)
        yield f"SELECT * FROM '{file}'"
        yield f'FROM "{file}"'
    for function in reading:
        yield f"SELECT amount, (SELECT max(x) FROM {function}('{secret}') t(x)) FROM sales"
        yield f"WITH sales AS (SELECT * FROM {function}('{secret}')) SELECT * FROM sales"
    for function in known["telling functions"]:
        yield f"SELECT * FROM {function}()"
        yield f"SELECT count(*) FROM sales, {function}('SELECT 1')"
    yield from (f"SELECT * FROM {table}" for table in known["tables of the system"])
    yield from (f"SELECT {call}" for call in known["calls"])
    yield from bombs
    yield from (f"SELECT 1 WHERE EXISTS ({bomb})" for bomb in bombs[:8])
    for depth in (100, 1_000, 10_000):
        yield f"SELECT {'(' * depth}1{')' * depth}"
        yield f"SELECT {'-' * depth}1"
        yield f"SELECT {'[' * depth}{']' * depth}"
        yield f"SELECT {' OR '.join(['true'] * depth)}"
        yield f"SELECT * FROM {'(SELECT * FROM ' * depth}sales{')' * depth}"
    yield from (each.replace("{file}", written) for each in known["several"])
    rng = random.Random(seed)
    while True:
        text = "".join(rng.choice(_LETTERS) for _ in range(rng.randrange(1, 120)))
        yield rng.choice(("", "SELECT ", "SELECT * FROM sales WHERE ")) + text


def asked(tables: TableQuery, sql: str) -> tuple[str, str, float]:
    """Return how one statement ended, what came out, and its seconds."""
    start = time.perf_counter()
    try:
        found = tables.run(sql)
        said, kind = f"{found.columns} {found.rows}", "answered"
    except InputError as error:
        said = str(error)
        beyond = "more than" in said and ("seconds" in said or "MiB" in said)
        kind = "beyond its limits" if beyond else "refused or wrong"
    return kind, said, time.perf_counter() - start


@suite("hostile_sql", show=option(False, "print every statement and its end"))
def main(options: Options) -> Iterator[Result]:
    """Ask all statements."""
    column = TypedColumn("Amount", ColumnKind.NUMBER, [1, 2, 3])
    table = TypedTable("shop.xlsx#Sales", Area(1, 1, 4, 1), (column,), (2, 3, 4))
    tables = TableQuery.over([table], LIMITS)
    ends: Counter[str] = Counter()
    times, told, silent = [], 0, 0
    with tempfile.TemporaryDirectory() as place:
        secret = Path(place, "secret.csv")
        secret.write_text(f"x\n{SECRET}\n", encoding="utf-8")
        before, here = {*Path(place).iterdir()}, Path.cwd()
        os.chdir(place)
        try:
            for sql in track(islice(statements(secret), COUNT), "statements", COUNT):
                kind, said, seconds = asked(tables, sql)
                ends[kind] += 1
                told += SECRET in said
                silent += not said.strip()
                times.append(seconds)
                if options.show:
                    console.print(repr(sql[:90]), "->", kind, repr(said[:120]), markup=False)
            written = len({*Path(place).iterdir()} - before)
        finally:
            os.chdir(here)
    metrics = {
        "statements": COUNT,
        "refused": ends["refused or wrong"],
        "beyond": ends["beyond its limits"],
        "answered": ends["answered"],
        "secrets_told": told,
        "files_written": written,
        "without_words": silent,
        "median_s": round(statistics.median(times), 3),
        "longest_s": round(max(times), 2),
        "limit_s": LIMITS.seconds,
    }
    yield Result("query_tables", "statements", metrics)
