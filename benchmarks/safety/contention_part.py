"""Define a writer and a reader of an index that others use at the same time."""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.synchronize import Barrier
from pathlib import Path

from benchmarks.safety.versions import SHEETS, version_of, versions_in, write_version
from sat_retriever import SheetIndex, SheetRecord, SheetRetriever, SheetTools
from sat_retriever.errors import IndexBusyError, InputError

_WRITTEN_AT_ONCE = 5  # workbooks between two syncs, at most
_GOES = 0.15  # share of them that are removed instead
_OPENED_EVERY = 40  # reads between two openings of the index
_ALL_THERE_S = 120.0
_FINDINGS = 20  # most findings that a part names
_VERSION = re.compile(r"w\d+n(\d+)")


@dataclass(frozen=True, slots=True)
class Ground:
    """The settings that all parts share.

    Attributes:
        folder: Workbooks.
        file: The index.
        names: Names of all possible workbooks.
        seconds: Running time of each part.
        seed: Seed of all draws.
    """

    folder: Path
    file: Path
    names: tuple[str, ...]
    seconds: float
    seed: int


@dataclass(slots=True)
class Report:
    """The results of a part.

    Attributes:
        counts: Number of ends of each operation, and of refusals because the index was busy.
        findings: Errors by name, and answers that match no committed state.
        search_ms: Milliseconds of each search.
    """

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    search_ms: list[float] = field(default_factory=list)

    def did(self, what: str, call: Callable[[], None]) -> None:
        """Run an operation and count its end."""
        try:
            call()
        except IndexBusyError:  # documented: another process held the index for too long
            self.counts[f"{what}_busy"] += 1
        except (Exception, SystemExit) as error:  # noqa: BLE001 - any other one is a finding
            self.counts["findings"] += 1
            if len(self.findings) < _FINDINGS:
                self.findings.append(f"{what}: {type(error).__name__}: {error!s:.300}")
        else:
            self.counts[what] += 1


def start_together(gate: Barrier) -> None:
    """Wait until all processes have started and imported the library."""
    gate.wait(_ALL_THERE_S)


def write(ground: Ground, number: int, writers: int) -> Report:
    """Change own workbooks and sync the whole folder, repeatedly."""
    rng, report, written = random.Random(f"{ground.seed}:w{number}"), Report(), 0
    own, until = ground.names[number::writers], time.monotonic() + ground.seconds
    with SheetIndex.open(ground.file) as index:
        while time.monotonic() < until:
            for name in rng.sample(own, rng.randint(1, min(_WRITTEN_AT_ONCE, len(own)))):
                if rng.random() < _GOES:
                    (ground.folder / name).unlink(missing_ok=True)
                    continue
                written += 1
                write_version(ground.folder / name, f"w{number}n{written}")
            report.did("syncs", lambda: _sync(index, ground.folder))
    report.counts["workbooks_written"] = written
    return report


def _sync(index: SheetIndex, folder: Path) -> None:
    index.sync(folder, workers=1)


def read(ground: Ground, number: int) -> Report:
    """Search, show and ask for the status, repeatedly, and check each answer."""
    rng, report, seen = random.Random(f"{ground.seed}:r{number}"), Report(), Seen({})
    until = time.monotonic() + ground.seconds
    while time.monotonic() < until:
        report.did("openings", lambda: _read_until(until, ground, rng, report, seen))
    return report


def _read_until(
    until: float, ground: Ground, rng: random.Random, report: Report, seen: Seen
) -> None:
    """Open the index and read a number of times."""
    with SheetIndex.open(ground.file) as index:
        retriever, tools = SheetRetriever(index), SheetTools(index)

        def search() -> None:
            start = time.perf_counter()
            name, version = rng.choice(ground.names), f"w{rng.randrange(2)}n{rng.randrange(60)}"
            hits = retriever.retrieve(f"amount of {Path(name).stem} {version}", 10)
            report.search_ms.append(1000 * (time.perf_counter() - start))
            seen.check(hit.record for hit in hits)

        def show() -> None:
            name = rng.choice(ground.names)
            records = index.records(index.sheet_ids(name)).values()
            versions_in(records)  # all sheets of one version, or none if it was removed
            seen.check(records)
            try:
                tools.describe_sheet(f"{name}#S{rng.randrange(SHEETS)}")
            except InputError as error:  # it was removed, and that is the answer
                if "there is no" not in str(error):
                    raise

        def status() -> None:
            sheets = index.status()["sheets"]
            if not isinstance(sheets, int) or sheets % SHEETS:
                raise SystemExit(f"{sheets} sheets are no whole number of workbooks")

        kinds = (("searches", search), ("shows", show), ("statuses", status))
        for _ in range(_OPENED_EVERY):
            if time.monotonic() >= until:
                return
            what, call = rng.choices(kinds, (6, 3, 1))[0]
            report.did(what, call)


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest version of each workbook that was read, as a number."""

    newest: dict[str, int]

    def check(self, records: Iterable[SheetRecord]) -> None:
        """Refuse sheets of one read that do not belong to one committed state.

        Raises:
            SystemExit: If sheets of one workbook have two versions, a record belongs to another
                workbook than its place, or a version is older than one read before.
        """
        found: dict[str, str] = {}
        for record in records:
            version, stem = version_of(record), Path(record.path).stem
            if found.setdefault(record.path, version) != version:
                raise SystemExit(f"{record.path} is of {version} and {found[record.path]} at once")
            if record.columns[2].name != f"Amount of {stem}" or not record.sheet_id.startswith(
                f"{record.path}#S"
            ):
                raise SystemExit(f"{record.sheet_id} holds what is of another workbook")
        for path, version in found.items():
            match = _VERSION.fullmatch(version)
            number = int(match[1]) if match else -1
            if number < self.newest.get(path, 0):
                raise SystemExit(f"{path} went back to {version}")
            self.newest[path] = number
