"""Odd and damaged files: crashes, hangs, reasons, and worksheets missed against two oracles.

    python -m benchmarks run robustness --data ../shared/data
    python -m benchmarks run robustness --data ../shared/data --only fuzz --mutants 2000 --seed 1

Results hold counts, seconds and file names of public test files, never file contents.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.mutants import made_seeds, mutants, real_seeds
from benchmarks.oracle import READERS, Oracle
from benchmarks.results import Result, write_result
from sat_retriever.workbook.read import Workbook, read_workbook

HANG_SECONDS = 30.0
_SHOWN = 25


@dataclass(slots=True)
class Tally:
    """What happened to the files of one corpus.

    Attributes:
        files: Files tried.
        crashes: Exceptions that came out of `read_workbook`, by file.
        silent: Files that gave neither a record nor a reason.
        seconds: Wall time of each file.
        reasons: Files and sheets skipped, by reason.
        records: Records in all.
        expected: Worksheets with a non-empty cell that an oracle opens.
        missed: Those of them without a record: (file, sheet, reasons given).
        reader_gains: Worksheets indexed that neither oracle opens.
    """

    files: int = 0
    crashes: list[tuple[str, str]] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    seconds: list[tuple[float, str]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    records: int = 0
    expected: int = 0
    missed: list[tuple[str, str, str]] = field(default_factory=list)
    reader_gains: int = 0

    def add(self, path: Path, label: str, oracles: Iterable[Oracle]) -> None:
        """Read a file and compare what comes out with the oracles."""
        self.files += 1
        start = time.perf_counter()
        try:
            book = read_workbook(path)
        except Exception as error:  # noqa: BLE001 - any exception is a finding
            self.crashes.append((label, f"{type(error).__name__}: {error}"[:200]))
            return
        self.seconds.append((time.perf_counter() - start, label))
        self.records += len(book.records)
        self.reasons.update(skip.reason.value for skip in book.skipped)
        if not book.records and not book.skipped:
            self.silent.append(label)
        self._compare(book, label, [oracle.sheets(path) or [] for oracle in oracles])

    def _compare(self, book: Workbook, label: str, found: list[list[str]]) -> None:
        expected = {sheet for sheets in found for sheet in sheets}
        have = {record.sheet for record in book.records}
        self.expected += len(expected)
        self.reader_gains += len(have - expected)
        for sheet in sorted(expected - have):
            why = {s.reason.value for s in book.skipped if s.sheet in (None, sheet)}
            self.missed.append((label, sheet, ",".join(sorted(why))))

    def metrics(self) -> dict[str, Any]:
        """The tally as numbers and names."""
        slowest = max(self.seconds, default=(0.0, ""))
        return {
            "files": self.files,
            "crashes": len(self.crashes),
            "hangs_over_30_s": sum(seconds > HANG_SECONDS for seconds, _ in self.seconds),
            "files_without_record_or_reason": len(self.silent),
            "max_seconds": round(slowest[0], 3),
            "slowest_file": slowest[1],
            "total_seconds": round(sum(seconds for seconds, _ in self.seconds), 1),
            "records": self.records,
            "worksheets_an_oracle_opens": self.expected,
            "worksheets_missed": len(self.missed),
            "worksheets_no_oracle_opens": self.reader_gains,
            "skipped_by_reason": dict(sorted(self.reasons.items())),
        }


def read_folder(folder: Path) -> Tally:
    """The tally of all files below a folder."""
    tally = Tally()
    oracles = [Oracle(reader) for reader in READERS]
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in track(files, description=folder.name):
        tally.add(path, path.relative_to(folder).as_posix(), oracles)
    for oracle in oracles:
        oracle.close()
    return tally


def fuzz(seeds: dict[str, bytes], count: int, seed: int) -> Tally:
    """The tally of mutants; each is written to a temporary file and removed again."""
    tally = Tally()
    oracles = [Oracle(reader) for reader in READERS]
    with tempfile.TemporaryDirectory() as folder:
        all_mutants = mutants(seeds, count, seed)
        for number, mutant in track(enumerate(all_mutants), description="fuzz", total=count):
            path = Path(folder, f"{number}{Path(mutant.seed).suffix}")
            path.write_bytes(mutant.content)
            tally.add(path, f"{number}:{mutant.damage}:{mutant.seed}", oracles)
            path.unlink()
    for oracle in oracles:
        oracle.close()
    return tally


def report(console: Console, name: str, tally: Tally) -> None:
    """Print a tally, with every finding by name."""
    table = Table("measure", "value", title=name)
    for key, value in tally.metrics().items():
        table.add_row(key, str(value))
    console.print(table)
    for title, rows in (("crash", tally.crashes), ("missed", tally.missed)):
        for row in rows[: _SHOWN * 4]:
            console.print(title, *row, markup=False, highlight=False)
    for label in tally.silent:
        console.print("neither record nor reason:", label, markup=False)


def _rows(tally: Tally) -> list[dict[str, Any]]:
    findings: list[dict[str, Any]] = [
        {"finding": "missed", "file": file, "sheet": sheet, "reasons": why}
        for file, sheet, why in tally.missed
    ]
    findings += [{"finding": "crash", "file": file, "error": why} for file, why in tally.crashes]
    slow = sorted(tally.seconds, reverse=True)[:10]
    return findings + [{"finding": "slow", "file": f, "seconds": round(s, 3)} for s, f in slow]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the corpora and the fuzzer asked for, print and save what they show."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", choices=["odd_files", "eps", "fuzz"])
    parser.add_argument("--mutants", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args(arguments)
    console = Console()
    for name in ("odd_files", "eps", "fuzz"):
        if options.only not in (None, name):
            continue
        folder = options.data / name
        if name != "fuzz" and not folder.is_dir():
            console.print(f"{name}: not run, there is no folder {folder}")
            continue
        if name == "fuzz":
            odd = options.data / "odd_files"
            seeds = {**(real_seeds(odd) if odd.is_dir() else {}), **made_seeds()}
            tally = fuzz(seeds, options.mutants, options.seed)
        else:
            tally = read_folder(folder)
        report(console, name, tally)
        if not options.no_save:
            seed = options.seed if name == "fuzz" else None
            result = Result("ours", name, tally.metrics(), seed=seed, per_query=_rows(tally))
            write_result("robustness", result, data=[folder] if name != "fuzz" else [])
