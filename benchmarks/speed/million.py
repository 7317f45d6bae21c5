"""One file of up to a million sheets: time in multiples of encoding, recall, memory, cold start.

    python -m benchmarks run million [--sizes 1000 100000 300000 1000000] [--contents 1000 100000]

Sheets are those of `run latency`: template-like names, in which every word is common, and random
tokens, which no cell of near tokens tells apart. With contents, each has twelve labels and a note
of the same words. Calls take turns in one process, so that a busy machine slows all of them; what
counts is their ratio to encoding one question. Recall compares the 50 best with those of the same
file when every sheet is scored exactly. Processes are new, their files in the system's cache. An
index is made once and kept below `--work`, with the seconds that it took.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from benchmarks.speed.latency import MADE, file_of, index_of, queries, seconds_file
from benchmarks.speed.turns import percentiles
from sat_retriever import SheetIndex, SheetRetriever
from sat_retriever.index.search import columns
from sat_retriever.index.search.mapped import renew_mapped
from sat_retriever.text.period.spans import UNDATED

K = 50
_WARM_UP = 20
_REPEATS = 3
_READERS = 8
_READER = """
import json, sys, time
start = time.perf_counter()
from sat_retriever import SheetIndex, SheetRetriever
imported = time.perf_counter()
index = SheetIndex.open(sys.argv[1])
retriever = SheetRetriever(index)
index.encoder
opened = time.perf_counter()
first, *more = json.loads(sys.argv[2])
retriever.retrieve(first)
answered = time.perf_counter()
for question in more:
    retriever.retrieve(question)
print(json.dumps([imported - start, opened - imported, answered - opened]), flush=True)
sys.stdin.read()
"""

Figures = dict[str, float | int]


def times(index: SheetIndex, asked: Sequence[str]) -> Figures:
    """Return milliseconds of each kind of call, and their ratios to encoding one question."""
    ranked, found = SheetRetriever(index), SheetRetriever(index, None)
    tokens = dict(zip(asked, index.encoder.encode_queries(asked), strict=True))
    calls: dict[str, Callable[[str], object]] = {
        "encode": lambda query: index.encoder.encode_queries([query]),
        "default": lambda query: ranked.retrieve(query, today=UNDATED),
        "no_reranking": lambda query: found.retrieve(query, today=UNDATED),
        "with_token": lambda query: ranked.retrieve(query, token=tokens[query], today=UNDATED),
    }
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for query in asked[:_WARM_UP]:
        for call in calls.values():
            call(query)
    for query in [*asked] * _REPEATS:
        for name, call in calls.items():
            start = time.perf_counter()
            call(query)
            spent[name].append((time.perf_counter() - start) * 1000)
    one = statistics.median(spent["encode"])
    figures: Figures = {}
    for name, values in spent.items():
        figures |= percentiles(name, values)
        figures[f"{name}_times_encoding"] = round(statistics.median(values) / one, 2)
    return figures


def best(path: str | Path, asked: Sequence[str]) -> list[list[str]]:
    """Return the 50 best sheets of each question."""
    with SheetIndex.open(path) as index:
        found = (index.candidates(index.question(query), K) for query in asked)
        return [[each.sheet_id for each in few] for few in found]


def recall(path: str | Path, asked: Sequence[str]) -> Figures:
    """Return the share of the 50 best of all sheets that the index finds, mean and least."""
    here = best(path, asked)
    with every_sheet_scored():
        exact = best(path, asked)
    shares = [
        len(set(few) & set(all_)) / max(len(all_), 1) for few, all_ in zip(here, exact, strict=True)
    ]
    return {
        "recall_at_50": round(statistics.mean(shares), 4),
        "recall_at_50_least": round(min(shares), 4),
    }


@contextmanager
def every_sheet_scored() -> Iterator[None]:
    """Score every sheet exactly, however many an index has."""
    most, columns.ALL = columns.ALL, sys.maxsize
    try:
        yield
    finally:
        columns.ALL = most


def readers(path: str | Path, count: int, asked: Sequence[str]) -> Figures:
    """Return seconds of new processes until their first answer, and their memory after all."""
    command = [sys.executable, "-c", _READER, str(path), json.dumps(list(asked))]
    name = f"{count}_readers" if count > 1 else "reader"
    with ExitStack() as opened:
        started = [
            opened.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            for _ in range(count)
        ]
        spent = [json.loads(each.stdout.readline()) for each in started if each.stdout]
        memory = [psutil.Process(each.pid).memory_full_info() for each in started]
        private = [_private_mib(each.pid) for each in started]
        for each in started:
            each.communicate("")
    found: Figures = {
        f"{name}_pss_mib": round(statistics.median(each.pss for each in memory) / 2**20, 1),
        f"{name}_private_mib": round(statistics.median(private), 1),
    }
    if count == 1:
        [(imported, encoder, first)] = spent
        found |= {"import_s": round(imported, 3), "open_and_load_encoder_s": round(encoder, 3)}
        found["first_answer_s"] = round(first, 3)
    return found


def _private_mib(process: int) -> float:
    """Return the memory of a process that is no part of a file."""
    for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return 0.0


def files(index: SheetIndex, path: Path) -> Figures:
    """Return bytes of the index and of the mapped files, and the seconds to write these anew."""
    folder = path.with_name(f"{path.name}-snapshot")
    for file in sorted(folder.rglob("*.json")):
        file.unlink()  # so that it is written anew
    start = time.perf_counter()
    written = renew_mapped(index._store, index.width)
    seconds = time.perf_counter() - start
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    took = seconds_file(path)
    found: Figures = {"add_s": float(took.read_text("ascii"))} if took.is_file() else {}
    found |= {"file_mib": round(path.stat().st_size / 2**20, 1)}
    if written:
        found |= {"mapped_mib": round(size / 2**20, 1), "mapping_s": round(seconds, 1)}
    return found


def measure(
    size: int, asked: Sequence[str], work: Path, *, contents: bool, compared: int
) -> Figures:
    """Return all figures of one size."""
    made = index_of(size, work, contents=contents)
    path = file_of(size, work, contents=contents)
    figures: Figures = {"sheets": size, "queries": len(asked), **files(made, path)}
    made.close()
    figures |= readers(path, 1, asked[:20])
    figures |= readers(path, _READERS, asked[:20])
    with SheetIndex.open(path) as index:
        figures |= times(index, asked)
    return figures | recall(path, asked[:compared])


@suite(
    "million",
    work=MADE,
    sizes=[1000, 100_000, 300_000, 1_000_000],
    contents=option([1000, 100_000], "sizes with contents", nargs="*"),
    queries=100,
    compared=option(50, "questions of the recall"),
)
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    asked = queries(options.queries)
    sizes = [(size, False) for size in options.sizes]
    for size, contents in [*sizes, *((size, True) for size in options.contents)]:
        found = measure(size, asked, options.work, contents=contents, compared=options.compared)
        name = f"template_{size}{'_contents' if contents else ''}"
        yield Result("sat-retriever", name, found)
