"""Cost of contents: the same sheets at `names`, `examples` and `all`, side by side.

    python -m benchmarks run contents_cost [--sheets 10000 100000] [--quick] [--no-eps]

Measured at `eps`, all workbooks, and at made sheets of 200 distinct texts each, which come as
records. The encoder gives every text a random direction at once, so that it is not the encoder that
is measured. Levels take turns in one run: files while they are read, questions while they are
asked, processes while they are started. So a busy machine makes all of them slower, and their
ratios, medians over the turns, stay. A first pass asks words that are new to the process, a second
the same again. What is finished is kept below `--work`; a stopped command goes on.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xlsxwriter

from benchmarks.results import ROOT, Result
from benchmarks.runner import Options, option, suite
from benchmarks.speed.contents_made import KINDS, MadeSheets, TextTokens
from sat_retriever import SheetIndex, SheetRetriever, read_workbook
from sat_retriever.datasets.dataset import load_eps
from sat_retriever.text.period.spans import UNDATED

TEXTS = 200
LEVELS = ("names", "examples", "all")
_BASE = "names"
_CHANGED = ("changed.xlsx", 4, 200)  # name, sheets and texts a sheet of the workbook that changes
# Parts of a file by the table or index that a page belongs to.
_TABLES = {
    "contents": ("contents",),
    "words": ("content_words", "spellings"),
    "names": ("lexical",),
    "tokens": ("tokens",),
    "records": ("sheets", "sqlite_autoindex_sheets"),
    "copies": ("copies", "copy_blocks", "stale_copies"),
}

ByLevel = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is measured.

    Attributes:
        name: Its name in result files.
        levels: What its indexes keep.
        questions: Questions by kind.
        build: Arguments of the part that builds an index, after its path and level.
        files: Workbooks to read; none for made records.
    """

    name: str
    levels: tuple[str, ...]
    questions: Mapping[str, Sequence[str]]
    build: tuple[str, ...]
    files: tuple[Path, ...] = ()


def eps(folder: Path, count: int) -> Corpus:
    """Return all workbooks of `eps`, asked its development questions."""
    asked = [
        query.text
        for query in load_eps(folder).queries
        if all(sheet.startswith("trans/") for sheet in query.positives)
    ]
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".xlsx", ".csv"))
    kinds = {"questions": asked[:count]}
    return Corpus("eps", LEVELS, kinds, ("read", str(folder)), tuple(files))


def made(sheets: int, count: int) -> Corpus:
    """Return so many made sheets, asked every kind of question."""
    corpus = MadeSheets(sheets, TEXTS)
    kinds = {kind: corpus.questions(kind, count) for kind in KINDS}
    build = ("build", str(sheets), str(TEXTS))
    return Corpus(f"made_{sheets}x{TEXTS}", ("names", "all"), kinds, build)


def measure(corpus: Corpus, work: Path, rounds: int) -> list[Result]:
    """Return the figures of every level; those of stages that are done are taken from `work`."""
    work.mkdir(parents=True, exist_ok=True)
    paths = {level: work / f"{level}.sat" for level in corpus.levels}
    stages: dict[str, Callable[[], ByLevel]] = {
        "reading": lambda: reading(corpus, rounds),
        "building": lambda: {
            level: _part(corpus.build[0], path, level, *corpus.build[1:])
            for level, path in paths.items()
        },
        "bytes": lambda: {level: bytes_a_sheet(path) for level, path in paths.items()},
        "asking": lambda: asking(corpus.questions, paths),
        "first": lambda: first_answers(corpus.questions, paths, work, rounds),
        "changing": lambda: changing(paths, work / "changing", rounds),
    }
    found: ByLevel = {level: {} for level in corpus.levels}
    for name, stage in stages.items():
        kept = work / f"{name}.json"
        if not kept.exists():
            kept.write_text(json.dumps(stage()))
            sys.stderr.write(f"{corpus.name}: {name} done\n")
        for level, figures in json.loads(kept.read_text()).items():
            found[level] |= figures
    return [Result(level, corpus.name, figures) for level, figures in found.items()]


def reading(corpus: Corpus, rounds: int) -> ByLevel:
    """Return seconds to read all workbooks, the sum of each one's median, and times `names`."""
    spent: dict[str, float] = dict.fromkeys(corpus.levels, 0.0)
    for place, path in enumerate(corpus.files):
        times: dict[str, list[float]] = {level: [] for level in corpus.levels}
        read_workbook(path)  # the disk's cache and the reading process are warm
        for turn in range(rounds):
            for level in _turned(corpus.levels, place + turn):
                start = time.perf_counter()
                read_workbook(path, contents=level)
                times[level].append(time.perf_counter() - start)
        for level, seconds in times.items():
            spent[level] += statistics.median(seconds)
    if not corpus.files:
        return {}
    return {
        level: {"reading_s": round(seconds, 2), "reading_times": _times(seconds, spent[_BASE])}
        for level, seconds in spent.items()
    }


def bytes_a_sheet(path: Path) -> dict[str, float]:
    """Return the bytes of a file, and of the tables in it, a sheet."""
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        [(sheets,)] = opened.execute("SELECT count(*) FROM sheets")
        pages = opened.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").fetchall()
    found = {"sheets": sheets, "bytes_a_sheet": round(path.stat().st_size / sheets)}
    for part, names in _TABLES.items():
        own = [
            size for name, size in pages
            if name in names or any(name.startswith(f"{each}_") for each in names)
        ]  # fmt: skip
        found[f"{part}_bytes"] = round(sum(own) / sheets)
    return found


def asking(questions: Mapping[str, Sequence[str]], paths: Mapping[str, Path]) -> ByLevel:
    """Return milliseconds of whole calls by kind, new and again, levels in turns."""
    found: ByLevel = {level: {} for level in paths}
    with ExitStack() as stack:
        opened = {
            level: stack.enter_context(SheetIndex.open(path, TextTokens()))
            for level, path in paths.items()
        }
        retrievers = {level: SheetRetriever(index) for level, index in opened.items()}
        for retriever in retrievers.values():
            retriever.retrieve("warm up", top_k=5, today=UNDATED)
        for kind, asked in questions.items():
            for turn in ("new", "again"):
                times: dict[str, list[float]] = {level: [] for level in paths}
                for place, question in enumerate(asked):
                    for level in _turned(tuple(paths), place):
                        start = time.perf_counter()
                        retrievers[level].retrieve(question, top_k=5, today=UNDATED)
                        times[level].append((time.perf_counter() - start) * 1000)
                for level, ms in times.items():
                    p50, p95 = np.percentile(ms, (50, 95))
                    found[level][f"{kind}_{turn}_p50_ms"] = round(float(p50), 2)
                    found[level][f"{kind}_{turn}_p95_ms"] = round(float(p95), 2)
                    found[level][f"{kind}_{turn}_times"] = _times(
                        float(p50), float(np.median(times[_BASE]))
                    )
    return found


def first_answers(
    questions: Mapping[str, Sequence[str]], paths: Mapping[str, Path], work: Path, rounds: int
) -> ByLevel:
    """Return milliseconds from opening to the first answer of a process, and its peak memory."""
    few, every = work / "few.json", work / "every.json"
    every.write_text(json.dumps([each for asked in questions.values() for each in asked]))
    few.write_text(json.dumps([next(iter(questions.values()))[0]]))
    first: dict[str, list[float]] = {level: [] for level in paths}
    for turn in range(rounds):
        for level in _turned(tuple(paths), turn):
            first[level].append(_part("ask", paths[level], str(few))["first_ms"])
    found = {level: _part("ask", path, str(every)) for level, path in paths.items()}
    return {
        level: found[level] | {"first_ms": round(statistics.median(times), 1)}
        for level, times in first.items()
    }


def changing(paths: Mapping[str, Path], folder: Path, rounds: int) -> ByLevel:
    """Return seconds of a sync after one workbook of four sheets has changed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    times: dict[str, list[float]] = {level: [] for level in paths}
    with ExitStack() as stack:
        opened = {
            level: stack.enter_context(SheetIndex.open(path, TextTokens()))
            for level, path in paths.items()
        }
        for turn in range(rounds + 1):
            _write_changed(folder, turn)
            for level in _turned(tuple(paths), turn):
                start = time.perf_counter()
                opened[level].sync(folder, workers=1)
                times[level].append(time.perf_counter() - start)
        (folder / _CHANGED[0]).unlink()
        for index in opened.values():
            index.sync(folder, workers=1)  # the index is as it was
    return {
        level: {"one_changed_s": round(statistics.median(seconds[1:]), 3)}
        for level, seconds in times.items()
    }


def _write_changed(folder: Path, turn: int) -> None:
    name, sheets, texts = _CHANGED
    corpus = MadeSheets(10**9, texts)
    with xlsxwriter.Workbook(folder / name) as book:
        for number in range(sheets):
            sheet = book.add_worksheet(f"Q{number + 1}")
            sheet.write_row(0, 0, ("Customer", "Product", "Status", "Amount"))
            own = corpus.texts_of(10**8 + turn * sheets + number)
            for row in range(texts // 2):
                sheet.write_row(row + 1, 0, (own[2 * row], own[2 * row + 1], "open", row * 1.5))


def _part(part: str, path: Path, *rest: str) -> dict[str, float]:
    """Return the figures of a part, run in its own process.

    Raises:
        SystemExit: If it fails.
    """
    command = [sys.executable, "-m", "benchmarks.speed.contents_part", part, str(path), *rest]
    done = subprocess.run(command, stdout=subprocess.PIPE, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"{part} of {path} failed with exit code {done.returncode}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _turned(levels: Sequence[str], turn: int) -> list[str]:
    """Return the levels, each first in its turn."""
    at = turn % len(levels)
    return [*levels[at:], *levels[:at]]


def _times(value: float, base: float) -> float:
    return round(value / base, 2)


@suite(
    "contents_cost",
    "data",
    "work",
    "quick",
    sheets=option(None, "made sheets", type=int, nargs="*", metavar="N"),
    questions=option(60, "of each kind"),
    rounds=5,
    no_eps=option(False, "made sheets alone"),
)
def main(options: Options) -> Iterator[Result]:
    """Measure every corpus."""
    if options.quick:
        options.questions, options.rounds, options.no_eps = 5, 1, True
    sizes = options.sheets or ([500] if options.quick else [10_000, 100_000])
    corpora = [made(sheets, options.questions) for sheets in sizes]
    folder = options.data / "eps"
    if not options.no_eps and folder.is_dir():
        corpora.insert(0, eps(folder.resolve(), options.questions))
    for corpus in corpora:
        yield from measure(corpus, options.work.resolve() / corpus.name, options.rounds)
