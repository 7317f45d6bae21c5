"""Measure time and memory to find, store and show links, by the number of sheets.

    python -m benchmarks run links_scale [--sheets 1000 10000 30000 100000] [--repeats 3]

Workbooks of a made company are generated one after the other, as records, references of formulas
and profiles of columns, so that no time is spent reading files: monthly sales workbooks with
orders, customers and products, yearly budgets with a sheet per month, and registers that others
refer to. Every size runs in its own process. The timed phases are

- discovery: links and claims of each workbook by itself;
- storing: each workbook in a transaction of an index file, with the links to other
  workbooks that are resolved there, and the families of periods at the end (tokens are
  short and texts have one word, so that the time is spent on links);
- graph: all links of the index file as a networkx graph.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.made.company import Book, Maker
from benchmarks.results import ROOT, Result
from benchmarks.runner import Options, hidden, suite
from sat_retriever.index.store.opening import create_store
from sat_retriever.index.store.rows import NewWorkbook, SheetRow, WorkbookState
from sat_retriever.index.store.store import Store
from sat_retriever.links.claims import Discovery, discover
from sat_retriever.links.graph import link_graph
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.structure import ColumnProfile, Reference, Structure

SIZES = (1_000, 10_000, 30_000, 100_000)
REPEATED = 10_000  # larger sizes are measured once
PHASES = ("discovery", "storing", "graph")
WIDTH = 8  # of tokens


class Clock:
    """A sum of wall and processor time by phase; other programs may use the machine."""

    def __init__(self) -> None:
        self._wall = dict.fromkeys(PHASES, 0.0)
        self._processor = dict.fromkeys(PHASES, 0.0)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time the block."""
        wall, processor = time.perf_counter(), time.process_time()
        yield
        self._wall[name] += time.perf_counter() - wall
        self._processor[name] += time.process_time() - processor

    def seconds(self) -> dict[str, float]:
        """Return seconds by phase."""
        wall = {f"{name}_s": round(spent, 3) for name, spent in self._wall.items()}
        spent = self._processor.items()
        return wall | {f"{name}_processor_s": round(each, 3) for name, each in spent}


def measure(sheets: int, folder: Path) -> dict[str, Any]:
    """Return seconds, links and memory of every phase for `sheets` sheets."""
    found: dict[str, Any] = {"workbooks": 0, "sheets": 0, "own_links": 0, "keys": 0}
    process = psutil.Process()
    clock = Clock()
    store = create_store(folder / "index.sat", {"width": str(WIDTH)})
    discover(*_parts(next(Maker(1).books(1))))  # keeps imports and tables out of the timing
    found["start_mib"] = _mib(process)
    for book in Maker(0).books(sheets):
        with clock.phase("discovery"):
            discovery = discover(*_parts(book))
        with clock.phase("storing"):
            _put(store, book, discovery)
        found["workbooks"] += 1
        found["sheets"] += len(book.records)
        found["own_links"] += len(discovery.links)
        found["keys"] += len(discovery.claims.keys)
    with clock.phase("storing"):
        store.settle()
    found["stored_mib"] = _mib(process)
    with clock.phase("graph"):
        graph = link_graph(_records(store), store.links.all())
    found |= {"graph_mib": _mib(process), "nodes": len(graph), "links": graph.number_of_edges()}
    found |= {f"{kind}_links": count for kind, count in store.links.counts().items()}
    store.close()
    found["index_mib"] = round((folder / "index.sat").stat().st_size / 2**20, 1)
    return found | clock.seconds()


def _parts(
    book: Book,
) -> tuple[Sequence[SheetRecord], Sequence[Reference], Structure, Sequence[ColumnProfile]]:
    return book.records, book.references, Structure(), book.profiles


def _put(store: Store, book: Book, discovery: Discovery) -> None:
    """Store a workbook as sync does, with a short token."""
    token = np.full(WIDTH, WIDTH**-0.5, dtype=np.float32)
    rows = [SheetRow(record, token) for record in book.records]
    state = WorkbookState("/made", book.records[0].path, 1, 1, 1, "0" * 64)
    store.replace_workbooks([NewWorkbook(state, rows, discovery)])


def _records(store: Store) -> Iterator[SheetRecord]:
    ids = store.all_sheet_ids()
    for start in range(0, len(ids), 1000):
        yield from store.records(ids[start : start + 1000]).values()


def _mib(process: psutil.Process) -> float:
    return round(int(process.memory_info().rss) / 2**20, 1)


def run_apart(sheets: int) -> dict[str, Any]:
    """Run `measure` in a new process, so that the memory is of this size alone."""
    command = [sys.executable, "-m", "benchmarks", "run", "links_scale", "--one", str(sheets)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def median_of(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the median of every number; counts are the same in every run."""
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


@suite("links_scale", sheets=SIZES, repeats=3, one=hidden(type=int))
def main(options: Options) -> Iterator[Result]:
    """Measure every size, or one in this process."""
    if options.one:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(options.one, Path(folder))))
        return
    for sheets in sorted(options.sheets):
        repeats = options.repeats if sheets <= REPEATED else 1
        metrics = median_of([run_apart(sheets) for _ in range(repeats)]) | {"repeats": repeats}
        yield Result("generated", f"sheets_{sheets}", metrics, seed=0)
