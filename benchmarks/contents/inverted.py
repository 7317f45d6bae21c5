"""An inverted index of cell texts: SQLite's FTS5, tantivy and our own arrays.

    python -m benchmarks run inverted [--shapes 100000x200 1000000x20] [--engines fts5_columns ...]

Made sheets: words by Zipf's law, one to four a text, a tenth of the texts codes of their own. One
commit is four sheets, a usual workbook; tantivy's, which cost far more, are 512 sheets. Beyond
500,000 sheets a commit of the others is 64 sheets. The
clock runs while an engine writes, not while sheets are made. Cold means that the system was told
to forget the files. tantivy is no dependency: it is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contents.engines import ENGINES, emptied, folder_bytes
from benchmarks.contents.made_texts import Shape, made_questions, made_sheets, spelled
from benchmarks.results import Result, write_result

KINDS = ("rare", "mixed", "common")
_WORKBOOK = 4  # sheets of one
_MANY = 500_000  # sheets from which on commits are larger
_ASKED, _COLD, _UPDATES = 40, 6, 20
_KEPT = 512  # sheets that are made and spelled at a time


def build(names: Sequence[str], shape: Shape, work: Path) -> dict[str, dict[str, float]]:
    """Seconds of writing, wall and processor, with everything on disk, by engine."""
    folders = {name: folder_of(name, shape, work) for name in names}
    made = {name: ENGINES[name](emptied(folders[name]), shape.sheets) for name in names}
    spent = {name: [0.0, 0.0] for name in names}

    def timed(name: str, call: Callable[[], object]) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        call()
        spent[name][0] += time.perf_counter() - wall
        spent[name][1] += time.process_time() - cpu

    sheets = enumerate(made_sheets(shape))
    while part := list(itertools.islice(sheets, _KEPT)):
        for words in itertools.chain.from_iterable(fields for _, fields in part):
            for word in words.tolist():
                spelled(word)
        for name in names:
            size = commit_of(name, shape)
            for at in range(0, len(part), size):
                timed(name, partial(made[name].add, part[at : at + size]))
    for name in names:
        timed(name, made[name].close)
    return {
        name: {
            "build_s": round(spent[name][0], 1),
            "build_cpu_s": round(spent[name][1], 1),
            "sheets_a_commit": commit_of(name, shape),
            "bytes_a_sheet": round(folder_bytes(folders[name]) / shape.sheets),
        }
        for name in names
    }


def commit_of(name: str, shape: Shape) -> int:
    """Sheets of one commit: a workbook, or more where that would take too long."""
    return _KEPT if name == "tantivy" else _WORKBOOK * (16 if shape.sheets > _MANY else 1)


def folder_of(name: str, shape: Shape, work: Path) -> Path:
    """Folder of an engine; the bounded one only reads otherwise."""
    return work / f"{name.replace('bounded', 'contentless')}-{shape.sheets}"


def ask(name: str, shape: Shape, folder: Path) -> dict[str, float]:
    """Milliseconds of questions of each kind, warm and cold."""
    found = {}
    for kind in KINDS:
        asked = made_questions(shape, kind, _ASKED)
        engine = ENGINES[name](folder, shape.sheets)
        for words in asked[:5]:
            engine.search(words)
        warm = [_timed_ms(engine, words) for words in asked]
        engine.close()
        cold = []
        for words in asked[-_COLD:]:
            _forget(folder)
            engine = ENGINES[name](folder, shape.sheets)
            cold.append(_timed_ms(engine, words))
            engine.close()
        for when, times in (("warm", warm), ("cold", cold)):
            for share in (50, 95):
                found[f"{kind}_{when}_p{share}_ms"] = round(float(np.percentile(times, share)), 2)
    return found


def _timed_ms(engine: Any, words: Sequence[int]) -> float:
    start = time.perf_counter()
    engine.search(words)
    return (time.perf_counter() - start) * 1000


def _forget(folder: Path) -> None:
    """Drop the files from the system's memory."""
    gc.collect()
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def change(name: str, shape: Shape, folder: Path) -> dict[str, float]:
    """Milliseconds to replace a workbook of four sheets by others."""
    rng = np.random.default_rng(2)
    places = set(rng.choice(shape.sheets // _WORKBOOK, _UPDATES, replace=False).tolist())
    places = {place % 5_000 for place in places}
    head = itertools.islice(made_sheets(shape), 5_000 * _WORKBOOK)
    old = [(n, f) for n, f in enumerate(head) if n // _WORKBOOK in places]
    fresh = list(itertools.islice(made_sheets(shape, seed=3), len(old)))
    engine = ENGINES[name](folder, shape.sheets)
    times = []
    for at in range(0, len(old), _WORKBOOK):
        new = [(shape.sheets + at + n, f) for n, f in enumerate(fresh[at : at + _WORKBOOK])]
        start = time.perf_counter()
        engine.replace(old[at : at + _WORKBOOK], new)
        times.append((time.perf_counter() - start) * 1000)
    engine.close()
    p50, p95 = np.percentile(times, (50, 95))
    return {"update_p50_ms": round(float(p50), 2), "update_p95_ms": round(float(p95), 2)}


def survives_kills(name: str, folder: Path, rounds: int = 3) -> bool:
    """True if an engine that was killed while it wrote opens again and answers."""
    for wait in range(1, rounds + 1):
        emptied(folder)
        code = (
            "import sys; from pathlib import Path; "
            "from benchmarks.contents.inverted import endless; "
            f"endless({name!r}, Path({str(folder)!r}))"
        )
        part = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert part.stdout is not None
        part.stdout.readline()  # it writes by now
        time.sleep(0.3 * wait)
        part.send_signal(signal.SIGKILL)
        part.wait()
        try:
            engine = ENGINES[name](folder, 1_000_000)
            engine.search([0, 1])
            engine.close()
        except Exception as error:  # noqa: BLE001 - any failure is the finding
            sys.stderr.write(f"{name}: {type(error).__name__}: {error}\n")
            return False
    return True


def endless(name: str, folder: Path) -> None:
    """Write workbooks until killed."""
    engine = ENGINES[name](folder, 1_000_000)
    sheets = enumerate(made_sheets(Shape(1_000_000, 50)))
    while part := list(itertools.islice(sheets, _WORKBOOK)):
        engine.add(part)
        sys.stdout.write("written\n")
        sys.stdout.flush()


def measure(name: str, shape: Shape, work: Path) -> dict[str, float | int | bool]:
    """All figures of one engine at one size that is built."""
    folder = folder_of(name, shape, work)
    return {
        "sheets": shape.sheets,
        "texts_a_sheet": shape.texts,
        **ask(name, shape, folder),
        **change(name, shape, folder),
        "survives_kills": survives_kills(name, work / f"{name}-killed"),
    }


def _engines(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if name == "tantivy" and importlib.util.find_spec("tantivy") is None:
            sys.stderr.write("tantivy is not installed, so it is not run\n")
            continue
        yield name


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, write `results/inverted/`."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--shapes", nargs="+", default=["100000x200", "1000000x20"])
    parser.add_argument("--engines", nargs="+", choices=[*ENGINES], default=[*ENGINES])
    parser.add_argument("--work", type=Path, default=Path(".cache/inverted"))
    parser.add_argument("--results", type=Path, help="folder of the results")
    options = parser.parse_args(arguments)
    for text in options.shapes:
        shape = Shape(*map(int, text.split("x")))
        names = list(_engines(options.engines))
        built = build([name for name in names if name != "fts5_bounded"], shape, options.work)
        for name in names:
            found = measure(name, shape, options.work) | built.get(name, {})
            result = Result(name, f"made_{shape.sheets}x{shape.texts}", found)
            sys.stdout.write(f"{name} {text} {found}\n")
            write_result("inverted", result, folder=options.results)
