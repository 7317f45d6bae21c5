"""Kill the writer of one index repeatedly, and check the index after each kill."""

from __future__ import annotations

import json
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks.safety.versions import check_file, versions_of, write_version
from sat_retriever import SheetIndex
from sat_retriever.records.tokens import Encoder

_NEW_EVERY = 5  # one round in so many begins without an index
_STARTING = 0.35  # share of a whole run before the first write, in which Python starts
_EARLY, _ANY_TIME = 0.15, 0.35  # shares of the kills before the first write, and anywhere after it
_WRITING = 0.15  # share of a whole run after the first write in which the other kills come
_POLL_S = 0.001
_KEPT = 9  # number of whole runs whose median is the expected time
_GONE_S = 30.0  # longest wait for reading processes to end after the kill

Versions = dict[str, str | None]  # version of each workbook in the index, by its name


@dataclass(slots=True)
class Lane:
    """A folder of workbooks, its index, and the counts so far.

    Attributes:
        folder: Folder of all files and counts, from which a stopped lane goes on.
        seed: Decides which workbooks change and when a process is killed.
        round: Number of finished rounds.
        newest: Version of each workbook in the folder.
        indexed: Version of each workbook in the index; None if it is not in it.
        seconds: Times of the last runs that were not killed.
        counts: Counts of the events.
    """

    folder: Path
    seed: str
    round: int = 0
    newest: dict[str, str] = field(default_factory=dict)
    indexed: Versions = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def open(cls, folder: Path, seed: str, workbooks: int) -> Lane:
        """Open the lane as it was left, or make a new one with an index of all its workbooks."""
        state = folder / "state.json"
        if state.is_file():
            kept = json.loads(state.read_text(encoding="utf-8"))
            counts = Counter(kept.pop("counts"))
            found = cls(folder, counts=counts, **kept)
            if found.seed == seed and len(found.newest) == workbooks:
                found._settle()
                return found
        shutil.rmtree(folder, ignore_errors=True)
        made = cls(folder, seed)
        made.corpus.mkdir(parents=True)
        made._write([f"book{number:03}.xlsx" for number in range(workbooks)])
        made.let_through()
        made.indexed = dict(made.newest)
        made._save()
        return made

    def _settle(self) -> None:
        """Restore files and index to the last saved state, since a round may have been stopped."""
        for name, version in self.newest.items():
            write_version(self.corpus / name, version)
        self.let_through()
        self.indexed = dict(self.newest)

    @property
    def corpus(self) -> Path:
        """Folder of the workbooks."""
        return self.folder / "corpus"

    @property
    def file(self) -> Path:
        """The index."""
        return self.folder / "crash.sat"

    def step(self, encoder: Encoder) -> None:
        """Change half of the workbooks, kill the run that indexes them, check, and finish.

        Raises:
            SystemExit: If a check fails; all files stay for inspection.
        """
        rng = random.Random(f"{self.seed}:{self.round + 1}")
        self._write(rng.sample(sorted(self.newest), len(self.newest) // 2))
        if (self.round + 1) % _NEW_EVERY == 0:
            self._forget()
        anew = not self.file.exists()  # also if the last run was killed before it made one
        killed = self._killed(rng)
        copy = self._copied()
        now = self._checked(anew=anew, encoder=encoder)
        self._count(now, killed=killed, anew=anew)
        self._complete(copy, encoder)
        self.indexed, self.round = now, self.round + 1
        self._save()

    def let_through(self) -> None:
        """Let one run finish, and time it."""
        start = time.perf_counter()
        subprocess.run(self._command(), check=True, capture_output=True)
        self._took(time.perf_counter() - start)

    def finish(self, encoder: Encoder) -> None:
        """Check that a last run without a kill brings every workbook up to date.

        Raises:
            SystemExit: If it does not.
        """
        self.let_through()
        self._check_newest(self.file, encoder)

    def _write(self, names: list[str]) -> None:
        version = f"version{self.round + 1}"
        for name in names:
            self.newest[name] = version
            write_version(self.corpus / name, version)

    def _forget(self) -> None:
        """Delete the index as people do, without the log of the killed writer."""
        self.file.unlink(missing_ok=True)
        log = self.folder / "left.wal"
        if log.exists():
            shutil.copyfile(log, _log_of(self.file))
        self.indexed = dict.fromkeys(self.newest)

    def _command(self) -> list[str]:
        command = [sys.executable, "-m", "sat_retriever", "index", str(self.corpus)]
        return [*command, "--index", str(self.file)]

    def _took(self, seconds: float) -> None:
        self.seconds = [*self.seconds, seconds][-_KEPT:]

    def _killed(self, rng: random.Random) -> bool:
        """True if a run was killed before its end; its reading processes must end, too."""
        start = time.perf_counter()
        process = psutil.Popen(
            self._command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(timeout=self._moment(rng, process))
        except psutil.TimeoutExpired:
            readers = process.children(recursive=True)
            process.kill()
            process.wait()
            left = psutil.wait_procs(readers, timeout=_GONE_S)[1]
            self.counts["processes_left_behind"] += len(left)
            return True
        if process.returncode:
            raise SystemExit(f"sat index ended with {process.returncode} in {self.folder}")
        self._took(time.perf_counter() - start)
        return False

    def _moment(self, rng: random.Random, process: psutil.Popen) -> float:
        """Return the seconds until the kill; may first wait for the process's first write."""
        kind, whole = rng.random(), statistics.median(self.seconds)
        if kind < _EARLY:
            return whole * rng.uniform(0, _STARTING)
        if kind < _EARLY + _ANY_TIME:
            return whole * rng.uniform(_STARTING, 1.1)
        before = self._written()
        while self._written() == before and process.poll() is None:
            time.sleep(_POLL_S)
        return whole * rng.uniform(0, _WRITING)

    def _written(self) -> tuple[int, int]:
        """Return the sizes of the index and its log, which grow with every write."""
        sizes = []
        for file in (self.file, _log_of(self.file)):
            try:
                sizes.append(file.stat().st_size)
            except FileNotFoundError:
                sizes.append(0)
        return sizes[0], sizes[1]

    def _copied(self) -> Path:
        """Copy the index and its log as they were after the kill."""
        copy = self.folder / "copy.sat"
        for suffix in ("", "-wal", "-shm"):
            copy.with_name(copy.name + suffix).unlink(missing_ok=True)
        if self.file.exists():
            shutil.copyfile(self.file, copy)
            if _log_of(self.file).exists():
                shutil.copyfile(_log_of(self.file), _log_of(copy))
                shutil.copyfile(_log_of(self.file), self.folder / "left.wal")
        return copy

    def _checked(self, *, anew: bool, encoder: Encoder) -> Versions:
        """Return the versions in the index; each must be that before the run, or the new one."""
        now: Versions = dict.fromkeys(self.newest)
        if self.file.exists():
            check_file(self.file)
            with SheetIndex.open(self.file, encoder) as index:
                now.update(versions_of(index))
        elif not anew:
            raise SystemExit(f"{self.file} is gone")
        for name, version in now.items():
            if version not in (self.indexed[name], self.newest[name]):
                raise SystemExit(f"{self.file}: {name} is in no whole state: {version}")
        return now

    def _count(self, now: Mapping[str, str | None], *, killed: bool, anew: bool) -> None:
        there = self.file.exists()
        behind = [name for name, version in self.indexed.items() if version != self.newest[name]]
        written = sum(now[name] == self.newest[name] for name in behind)
        self.counts["runs"] += 1
        self.counts["opened"] += there
        self.counts["workbook_states_checked"] += len(now)
        if not killed:
            return
        self.counts["killed"] += 1
        self.counts["workbooks_advanced_by_killed_runs"] += written
        if not there:
            when = "killed_before_a_first_index"
        elif not written:
            when = "killed_before_a_write"
        else:
            when = "killed_between_writes" if written < len(behind) else "killed_after_all_writes"
        self.counts[when] += 1
        self.counts["killed_without_an_index_before"] += anew

    def _complete(self, copy: Path, encoder: Encoder) -> None:
        """Check that another run over a copy of the killed one's files finishes its work."""
        made = SheetIndex.open if copy.exists() else SheetIndex.create
        with made(copy, encoder) as index:
            index.sync(self.corpus, workers=1)
        check_file(copy)
        self._check_newest(copy, encoder)
        self.counts["reruns_that_completed"] += 1

    def _check_newest(self, file: Path, encoder: Encoder) -> None:
        with SheetIndex.open(file, encoder) as index:
            found, newest = versions_of(index), max(self.newest.values(), key=len)
            if found != self.newest:
                raise SystemExit(f"{file}: a whole run did not bring every workbook up to date")
            if not index.candidates(index.question(newest, dense_weight=0.0), 1):
                raise SystemExit(f"{file}: a whole run left nothing to find")

    def _save(self) -> None:
        kept = {
            name: getattr(self, name)
            for name in ("seed", "round", "newest", "indexed", "seconds", "counts")
        }
        partial = self.folder / "state.partial"
        partial.write_text(json.dumps(kept), encoding="utf-8")
        partial.replace(self.folder / "state.json")


def _log_of(file: Path) -> Path:
    """Return the path of SQLite's log of an index file."""
    return file.with_name(f"{file.name}-wal")
