"""Odd and damaged files: crashes, hangs, reasons, and worksheets missed, against two oracles.

    python -m benchmarks run robustness --data ../shared/data
    python -m benchmarks run robustness --data ../shared/data --only fuzz --mutants 10000 --seed 1

A stopped command continues. Results hold counts, seconds, memory and file names of
public test files, never file contents.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.progress import progress_bar
from benchmarks.results import Result, data_hash
from benchmarks.runner import Options, console, option, suite
from benchmarks.safety.mutants import made_seeds, mutants, real_seeds
from benchmarks.safety.oracle import READERS, Oracle
from benchmarks.safety.usage import measured
from sat_retriever.workbook.read import Workbook, read_workbook

HANG_SECONDS = 30.0
_SHOWN = 100
_KEPT_EVERY = 100  # files between two saves of the tally


@dataclass(slots=True)
class Tally:
    """Counts and findings over the files of one corpus.

    Attributes:
        files: Files tried.
        crashes: Exceptions raised by `read_workbook`, by file.
        silent: Files with neither a record nor a reason.
        seconds: Wall time of each file.
        cpu_s: Processor time of each file, of the processes that read it.
        memory_mib: Peak memory of a process that read it.
        reasons: Files and sheets skipped, by reason.
        records: Total number of records.
        expected: Worksheets with a non-empty cell that an oracle opens.
        missed: Expected worksheets without a record: (file, sheet, reasons given).
        reader_gains: Worksheets indexed that neither oracle opens.
    """

    files: int = 0
    crashes: list[tuple[str, str]] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    seconds: list[tuple[float, str]] = field(default_factory=list)
    cpu_s: list[tuple[float, str]] = field(default_factory=list)
    memory_mib: list[tuple[float, str]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    records: int = 0
    expected: int = 0
    missed: list[tuple[str, str, str]] = field(default_factory=list)
    reader_gains: int = 0

    def add(self, path: Path, label: str, oracles: Sequence[Oracle]) -> None:
        """Read a file and compare the result with the oracles."""
        self.files += 1
        others = frozenset().union(*(oracle.processes for oracle in oracles))
        try:
            book, used = measured(partial(read_workbook, path), lambda: others)
        except Exception as error:  # noqa: BLE001 - any exception is a finding
            self.crashes.append((label, f"{type(error).__name__}: {error}"[:200]))
            return
        self.seconds.append((round(used.wall_s, 3), label))
        self.cpu_s.append((round(used.cpu_s, 2), label))
        self.memory_mib.append((round(used.child_mib, 1), label))
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
        """Return the tally as numbers and names."""
        slowest, busiest, largest = (
            max(each, default=(0.0, "")) for each in (self.seconds, self.cpu_s, self.memory_mib)
        )
        return {
            "files": self.files,
            "crashes": len(self.crashes),
            "hangs_over_30_s": sum(seconds > HANG_SECONDS for seconds, _ in self.seconds),
            "files_without_record_or_reason": len(self.silent),
            "max_seconds": slowest[0],
            "slowest_file": slowest[1],
            "max_cpu_s": busiest[0],
            "busiest_file": busiest[1],
            "max_memory_mib": largest[0],
            "largest_file": largest[1],
            "total_seconds": round(sum(seconds for seconds, _ in self.seconds), 1),
            "records": self.records,
            "worksheets_an_oracle_opens": self.expected,
            "worksheets_missed": len(self.missed),
            "worksheets_no_oracle_opens": self.reader_gains,
            "skipped_by_reason": dict(sorted(self.reasons.items())),
        }

    @classmethod
    def of(cls, kept: dict[str, Any]) -> Tally:
        """Return a tally from its saved form; JSON has lists for tuples."""
        rows = ("crashes", "seconds", "cpu_s", "memory_mib", "missed")
        tuples = {name: list(map(tuple, kept[name])) for name in rows}
        return cls(**kept | tuples | {"reasons": Counter(kept["reasons"])})


@dataclass(frozen=True, slots=True)
class Notes:
    """The saved form of a growing tally.

    Attributes:
        path: The file; removed when the corpus is finished.
        of: Description of the input; notes of another input are ignored.
    """

    path: Path
    of: str

    def read(self) -> Tally:
        """Return the tally so far; a new one if none of the same input is saved."""
        if self.path.is_file():
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            if kept["of"] == self.of:
                return Tally.of(kept["tally"])
        return Tally()

    def write(self, tally: Tally) -> None:
        """Replace the saved tally."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(".partial")
        kept = {each.name: getattr(tally, each.name) for each in fields(tally)}
        draft.write_text(json.dumps({"of": self.of, "tally": kept}), encoding="utf-8")
        draft.replace(self.path)


@contextmanager
def _oracles() -> Iterator[list[Oracle]]:
    found = [Oracle(reader) for reader in READERS]
    try:
        yield found
    finally:
        for oracle in found:
            oracle.close()


def tallied(
    files: Iterator[tuple[str, bytes | Path]], count: int, name: str, notes: Notes
) -> Tally:
    """Return the tally of labelled files, each given as a path or as content.

    Args:
        files: All files; those tallied before are skipped.
        count: Number of files.
        name: Name of the corpus.
        notes: Saved tally of an earlier run, updated for the next.
    """
    tally = notes.read()
    before = tally.files
    with (
        _oracles() as oracles,
        tempfile.TemporaryDirectory() as folder,
        progress_bar(name, count) as told,
    ):
        for number, (label, content) in enumerate(files):
            if number < before:
                continue
            if isinstance(content, Path):
                tally.add(content, label, oracles)
            else:
                path = Path(folder, f"{number}{Path(label).suffix}")
                path.write_bytes(content)
                tally.add(path, label, oracles)
                path.unlink()
            told(tally.files, count)
            if tally.files % _KEPT_EVERY == 0:
                notes.write(tally)
    return tally


def read_folder(folder: Path, work: Path) -> Tally:
    """Return the tally of all files below a folder."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    named = ((path.relative_to(folder).as_posix(), path) for path in files)
    notes = Notes(work / f"{folder.name}.json", f"{data_hash([folder])}")
    return tallied(named, len(files), folder.name, notes)


def fuzz(seeds: dict[str, bytes], count: int, seed: int, work: Path) -> Tally:
    """Return the tally of mutants; each is written to a temporary file and then removed."""
    digest = hashlib.sha256(b"".join(seeds[name] for name in sorted(seeds))).hexdigest()
    notes = Notes(work / f"fuzz-{seed}.json", f"{count} of {digest}")
    made = (
        (f"{number}:{mutant.damage}:{mutant.seed}", mutant.content)
        for number, mutant in enumerate(mutants(seeds, count, seed))
    )
    return tallied(made, count, "fuzz", notes)


def _rows(tally: Tally) -> list[dict[str, Any]]:
    findings: list[dict[str, Any]] = [
        {"finding": "missed", "file": file, "sheet": sheet, "reasons": why}
        for file, sheet, why in tally.missed
    ]
    findings += [{"finding": "crash", "file": file, "error": why} for file, why in tally.crashes]
    most = {"slow": ("seconds", tally.seconds), "busy": ("cpu_s", tally.cpu_s)}
    most["large"] = ("memory_mib", tally.memory_mib)
    return findings + [
        {"finding": what, "file": file, unit: value}
        for what, (unit, found) in most.items()
        for value, file in sorted(found, reverse=True)[:10]
    ]


@suite(
    "robustness",
    "data",
    "work",
    only=option(None, choices=["odd_files", "eps", "fuzz"]),
    mutants=10_000,
    seed=0,
)
def main(options: Options) -> Iterator[Result]:
    """Run the chosen corpora and the fuzzer."""
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
            tally = fuzz(seeds, options.mutants, options.seed, options.work)
        else:
            tally = read_folder(folder, options.work)
        for title, rows in (("crash", tally.crashes), ("missed", tally.missed)):
            for row in rows[:_SHOWN]:
                console.print(title, *row, markup=False)
        for label in tally.silent:
            console.print("neither record nor reason:", label, markup=False)
        seed, data = (options.seed, []) if name == "fuzz" else (None, [folder])
        yield Result("ours", name, tally.metrics(), seed=seed, per_query=_rows(tally), data=data)
        for notes in options.work.glob(f"{name}*.json"):
            notes.unlink()
