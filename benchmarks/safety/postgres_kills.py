"""Kill writers, the server and connections, and look at every workbook after each.

    python -m benchmarks run postgres_kills [--writers 1000 --servers 50 --cuts 50]

A process replaces one workbook by its next state, over and over. After a moment, longer each time
up to a whole write, the process is killed, the server is killed and started anew, or a proxy
between the two drops the connection. Then the workbook must be wholly in one state: its sheets,
records, tokens, contents and words; and this state must be the last one that was told as written,
or a later one. The server waits for its log on disk, as it does by default.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.pgserver import DURABLE, Server, new_server, started
from benchmarks.results import Result
from benchmarks.runner import Options, suite
from sat_retriever.index.store.opening import create_store, open_store
from sat_retriever.index.store.place import place_of
from sat_retriever.index.store.rows import NewWorkbook, SheetRow, WorkbookState
from sat_retriever.index.store.store import Store
from sat_retriever.links.claims import discover
from sat_retriever.records.contents import CellText, SheetContents
from sat_retriever.records.sheets import Column, SheetRecord

WIDTH = 64
SHEETS = 4
PATH = "Plan.xlsx"
LETTERS = str.maketrans("0123456789", "bcdfghklmp")  # a number in a name can be a word of its own
SLICES = 40  # of the time of a write and a half, at which it is killed


def word_of(state: int) -> str:
    """Return a word that only this state has, and that no stemming changes."""
    return f"{str(state).translate(LETTERS)}o"  # a vowel at the end: "statell" became "statel"


def replace(store: Store, state: int) -> None:
    """Replace the workbook by a state, which its hash, headers, cells and tokens tell."""
    records = [
        SheetRecord(
            f"{PATH}#{month} 2024",
            f"{month} 2024",
            workbook=PATH,
            path=PATH,
            columns=(Column("plan_id"), Column(word_of(state))),
            contents=SheetContents(notes=(CellText("A1", word_of(state)),)),
        )
        for month in ("Jan", "Feb", "Mar", "Apr")
    ]
    token = np.zeros(WIDTH, dtype=np.float32)
    token[state % WIDTH] = 1
    rows = [SheetRow(record, token) for record in records]
    told = WorkbookState("/root", PATH, 1, 1, 1, str(state))
    store.replace_workbooks([NewWorkbook(told, rows, discover(records))])
    store.settle()


def fault(store: Store) -> str | None:
    """What of the workbook is not of the state that it tells; None if it is whole."""
    with store.reading():
        [told] = store.workbooks()
        state = int(told.content_hash)
        word = word_of(state)
        ids = store.all_sheet_ids()
        tokens = store.tokens_of([store.row_ids(ids)[each] for each in ids], WIDTH)
        rows = set(store.row_ids(ids).values())
        checks = {
            "sheets": len(ids) == SHEETS,
            "records": {r.columns[1].name for r in store.records(ids).values()} == {word},
            "contents": {c.notes[0].text for c in store.contents(ids).values()} == {word},
            "tokens": bool((tokens[:, state % WIDTH] == 1).all()),
            "names": set(store.postings(word)[2].tolist()) == rows,
            "words": set(store.content_postings(word).tolist()) == rows,
        }
    return next((name for name, right in checks.items() if not right), None)


def write_on(url: str) -> None:
    """Replace the workbook over and over, until killed; tell every state that is written."""
    store = open_store(place_of(url))
    state = int(store.workbooks()[0].content_hash)
    while True:
        state += 1
        replace(store, state)
        sys.stdout.write(f"{state}\n")
        sys.stdout.flush()


@contextmanager
def writer(url: str) -> Iterator[list[int]]:
    """A process that writes; it is killed in the end, and then the states that it told are known.

    The block begins after its first write, which takes longer.
    """
    code = (
        "import sys; from benchmarks.safety.postgres_kills import write_on; write_on(sys.argv[1])"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, url],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    told: list[int] = []
    try:
        assert running.stdout is not None
        told.append(int(running.stdout.readline()))
        yield told
    finally:
        running.kill()
        told += map(int, running.communicate()[0].split())


class Proxy:
    """Passes connections on to a server's socket, until they are dropped.

    Args:
        server: The server.
        folder: Folder of the proxy's own socket.
    """

    def __init__(self, server: Server, folder: Path) -> None:
        self._to = str(server.folder / ".s.PGSQL.5432")
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near = self._listener.accept()[0]
                far = socket.socket(socket.AF_UNIX)
                far.connect(self._to)
                self._open += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=_pass, args=(one, other), daemon=True).start()

    def drop(self) -> None:
        """Cut all connections in the middle of whatever they carry."""
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._open.clear()

    def close(self) -> None:
        """Take no more connections, and cut all."""
        self._listener.close()
        self.drop()


def _pass(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(65_536):
            other.sendall(data)


def seconds_of_a_write(store: Store) -> float:
    """Median time of replacing the workbook."""
    times = []
    for state in range(9):
        begin = time.perf_counter()
        replace(store, state)
        times.append(time.perf_counter() - begin)
    return median(times)


@suite("postgres_kills", writers=1_000, servers=50, cuts=50)
def main(options: Options) -> Iterator[Result]:
    """Kill and look; fails if a workbook was found in parts."""
    counts = {"writer": options.writers, "server": options.servers, "cut": options.cuts}
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    faults: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    states: dict[str, set[int]] = {kind: set() for kind in counts}
    folder = Path(tempfile.mkdtemp(prefix="satcut."))
    with new_server(DURABLE) as server:
        url = server.url("kills")
        create_store(place_of(url), {"width": str(WIDTH)}).close()
        store = open_store(place_of(url))
        span = 1.5 * seconds_of_a_write(store)
        proxy = Proxy(server, folder)
        through = url.replace(str(server.folder), str(folder))
        for number, kind in enumerate(kinds):
            with writer(through if kind == "cut" else url) as told:
                time.sleep(span * (7 * number % SLICES + 1) / SLICES)
                if kind == "server":
                    server.kill()
                    while (server.folder / "data" / "postmaster.pid").exists():
                        time.sleep(0.05)
                    started(server.folder)
                if kind == "cut":
                    proxy.drop()
            found = fault(store)
            state = int(store.workbooks()[0].content_hash)
            states[kind].add(state)
            lost[kind] += state < told[-1]
            if found:
                faults[f"{kind}: {found}"] += 1
        store.close()
        proxy.close()
    shutil.rmtree(folder)
    for kind, count in counts.items():
        if count:
            in_parts = sum(number for name, number in faults.items() if name.startswith(kind))
            yield Result(
                "sat-retriever",
                kind,
                {
                    "killed": count,
                    "states": len(states[kind]),
                    "in_parts": in_parts,
                    "lost": lost[kind],
                },
            )
    if faults or lost.total():
        sys.exit(f"in parts: {dict(faults)}")
