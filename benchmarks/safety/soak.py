"""Measure whether one process grows over many questions.

    python -m benchmarks run soak --data ../shared/data [--queries 20000]
    python -m benchmarks run soak --corpus made            # without that data

No two questions are equal, so no answer comes from a cache. Each question is processed as for a
user: search, reranking and explanation, and after every tenth the first sheet is described.
Memory, threads and open files of the process are recorded every 500 questions. The first quarter
is the warm-up, because the library caches the last 4,096 questions.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

from benchmarks.progress import progress_bar
from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from sat_retriever import SheetIndex, SheetRecord, SheetRetriever, SheetTools, index_paths
from sat_retriever.errors import PathNotFoundError
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import SynthOptions

_WARM_UP = 0.25  # share of the questions
_DESCRIBED_EVERY = 10
_MADE_SHEETS = 1000
_FORMS = (
    "{header} by {other} in {sheet} {number}",
    "which sheet has {header} and {other} for case {number}",
    "{book} {header} {number}",
    "Wo steht {header} für {number}?",
    "{number} {other}",
)


def questions(records: Sequence[SheetRecord], count: int, seed: int) -> Iterator[str]:
    """Yield questions made of words of some sheets, each with a unique number."""
    rng = random.Random(seed)
    for number in range(count):
        record = rng.choice(records)
        names = [column.name for column in record.columns if column.name] or [record.sheet]
        yield rng.choice(_FORMS).format(
            header=rng.choice(names)[:60],
            other=rng.choice(names)[:60],
            sheet=record.sheet,
            book=Path(record.workbook).stem,
            number=10_000 + number,
        )


def sample(process: psutil.Process, asked: int) -> dict[str, float]:
    """Return memory, threads and open files of the process after some questions."""
    with process.oneshot():
        return {
            "queries": asked,
            "rss_mib": round(process.memory_info().rss / 2**20, 2),
            "threads": process.num_threads(),
            "open_files": process.num_fds(),
        }


def ask_all(index: SheetIndex, count: int, every: int, seed: int) -> list[dict[str, float]]:
    """Return samples over all questions; the first is taken before any question."""
    retriever, tools = SheetRetriever(index), SheetTools(index)
    records = list(index.records(index.sheet_ids()).values())
    process, samples = psutil.Process(), []
    samples.append(sample(process, 0))
    with progress_bar("questions", count) as told:
        for done, query in enumerate(questions(records, count, seed), start=1):
            hits = retriever.retrieve(query)
            if done % _DESCRIBED_EVERY == 0 and hits:
                tools.describe_sheet(hits[0].sheet_id)
            if done % every == 0 or done == count:
                samples.append(sample(process, done))
            told(done, count)
    return samples


def growth(samples: Sequence[dict[str, float]], count: int) -> dict[str, float]:
    """Return the growth of the process after the warm-up, in total and as a slope.

    >>> rows = [{"queries": 1000 * n, "rss_mib": 100 + 2 * n, "threads": 4, "open_files": 9}
    ...         for n in range(11)]
    >>> found = growth(rows, 10_000)
    >>> found["rss_slope_mib_per_1000"], found["rss_growth_mib"], found["threads_growth"]
    (2.0, 14, 0)
    """
    steady = [row for row in samples if row["queries"] >= _WARM_UP * count]
    first, last = steady[0], steady[-1]
    thousands = [row["queries"] / 1000 for row in steady]
    memory = [row["rss_mib"] for row in steady]
    slope = statistics.linear_regression(thousands, memory).slope if len(steady) > 1 else 0.0
    return {
        "rss_start_mib": samples[0]["rss_mib"],
        "rss_warm_mib": first["rss_mib"],
        "rss_end_mib": last["rss_mib"],
        "rss_most_mib": max(row["rss_mib"] for row in samples),
        "rss_growth_mib": round(last["rss_mib"] - first["rss_mib"], 2),
        "rss_slope_mib_per_1000": round(slope, 4),
        "threads_growth": last["threads"] - first["threads"],
        "open_files_growth": last["open_files"] - first["open_files"],
    }


def eps_folder(data: Path) -> Path:
    """Return the folder of EPS.

    Raises:
        PathNotFoundError: If the data does not exist.
    """
    folder = data / "eps"
    if not folder.is_dir():
        raise PathNotFoundError(f"not run: there is no folder {folder}; take --corpus made")
    return folder


def corpus_folder(name: str, data: Path, work: Path) -> Path:
    """Return the folder of the workbooks; made workbooks are written once."""
    if name == "eps":
        return eps_folder(data)
    folder = work / "made"
    if not (folder / "corpus.json").is_file():  # written last
        synthesize(folder, SynthOptions(str(_MADE_SHEETS), seed=0))
    return folder / "workbooks"


@suite(
    "soak",
    "data",
    "work",
    corpus=option("eps", choices=("eps", "made")),
    queries=20_000,
    every=option(500, "questions between two samples"),
    seed=0,
)
def main(options: Options) -> Iterator[Result]:
    """Index and ask the questions."""
    folder = corpus_folder(options.corpus, options.data, options.work)
    file = options.work / f"{options.corpus}.sat"
    index_paths(folder, file).close()
    with SheetIndex.open(file) as index:  # as a process that only searches
        start = time.perf_counter()
        samples = ask_all(index, options.queries, options.every, options.seed)
        seconds = time.perf_counter() - start
        metrics: dict[str, Any] = {
            "sheets": len(index),
            "queries": options.queries,
            "seconds": round(seconds, 1),
            "query_mean_ms": round(1000 * seconds / options.queries, 2),
            **growth(samples, options.queries),
        }
    yield Result(
        "sat-retriever",
        options.corpus,
        metrics,
        seed=options.seed,
        per_query=samples,
        data=[folder],
    )
