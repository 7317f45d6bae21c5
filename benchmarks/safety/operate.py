"""Run a server and an indexer under mixed load, with kills, restarts and full disks.

    python -m benchmarks run operate --data ../shared/data [--minutes 30] [--work .cache/operate]
    python -m benchmarks run operate --corpus made --minutes 3      # without that data

Half an hour holds what a team asks in eight hours. Six people with tokens and groups of their own
ask `sat serve`, which has two workers, an audit log, and a language model that replies from a
script. `sat watch` follows the workbooks. Meanwhile workbooks come, change and go,
processes are killed and restarted, tokens, rules and the index are replaced, files cannot grow as
if the disk were full, and the processes' clock jumps by a day. Every answer is looked through for
sheets that its reader may not see. At the end the audit log must have each answer, and the index
must equal a fresh one. Ctrl-C ends the load and keeps what was measured, as a result of its own.
"""

from __future__ import annotations

import random
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.progress import progress_bar
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from benchmarks.safety.operate_events import EVENTS, Operator, plan
from benchmarks.safety.operate_index import in_step, other_answers
from benchmarks.safety.operate_parts import PartError, Parts, language_model, until
from benchmarks.safety.operate_people import Client, crowd
from benchmarks.safety.operate_record import (
    SEARCHES,
    Asked,
    Book,
    Timeline,
    audit_faults,
    audit_lines,
    by_quarter,
)
from benchmarks.safety.operate_scene import (
    EDITED_FOR,
    Person,
    Scene,
    edited_folder,
    people,
    rules_of,
    written,
)
from benchmarks.safety.soak import eps_folder
from benchmarks.safety.stored import differing_files
from benchmarks.safety.versions import check_integrity, write_version
from benchmarks.speed.turns import percentiles

_SAMPLE_S = 2.0
_COMPARED = 40  # questions, for each person
_EXPECTED = (
    "hidden", "token_refused", "restart", "worker_killed", "audit_full", "model",
)  # fmt: skip
_AUDIT = ("missing", "twice", "unknown", "other_person", "other_status", "other_sheets")
_NOT_RUN = (
    "the clock of the system, which decides the times of files",
    "a disk that is full for the whole system",
)


@suite(
    "operate",
    "data",
    "work",
    corpus=option("eps", choices=("eps", "made")),
    minutes=30.0,
    pause=option(0.9, "mean seconds between an answer and the person's next question"),
    events=option(EVENTS, "kinds of events", choices=EVENTS),
    seed=0,
)
def main(options: Options) -> Iterator[Result]:
    """Run it, and fail if anything was lost, shown or left."""
    # A shell's background job ignores it, and so would the parts, which are stopped by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    home, books = _prepared(options)
    model = Timeline("answers")
    with language_model(model) as url:
        parts = Parts.of(home, books, url)
        run = _Run(parts, options, model)
        try:
            run.load()
            run.end()
        finally:
            for each in parts.left():
                with suppress(Exception):
                    each.kill()
    yield from run.results()
    if run.faults:
        sys.exit("\n".join(run.faults))


def _prepared(options: Options) -> tuple[Path, Path]:
    """Make a new folder with a copy of the workbooks; return it, and the copy."""
    home = (options.work / options.corpus).resolve()
    shutil.rmtree(home, ignore_errors=True)
    books = home / "workbooks"
    if options.corpus == "eps":
        shutil.copytree(eps_folder(options.data), books)
    else:
        for number in range(12):
            folder = books / f"folder{number % 6}"
            folder.mkdir(parents=True, exist_ok=True)
            write_version(folder / f"Plan {number:02}.xlsx", f"made{number:02}")
    for group in EDITED_FOR:
        folder = books / edited_folder(group)
        folder.mkdir(parents=True)
        write_version(folder / "Book 0000.xlsx", "v0000")
    return home, books


class _Run:
    """One run: its parts, what was asked, what happened, and what is wrong."""

    def __init__(self, parts: Parts, options: Options, model: Timeline[str]) -> None:
        self.parts = parts
        self.options = options
        self.faults: list[str] = []
        self.stopped = False
        self.left_out = 0
        draw = random.Random(options.seed)
        folders = [each.name for each in parts.books.iterdir() if each.name != "edited"]
        turns = (rules_of(folders, 0), rules_of(folders, 1))
        (parts.home / "rules.toml").write_text(written(turns[0]))
        with console.status("index the workbooks"):
            parts.sat("index", parts.books, "--index", parts.index, "--permissions", "rules.toml")
        scene = Scene.of(parts.index, turns, draw)
        self.scene = Scene(
            scene.sheets, scene.tables, scene.questions, turns, scene.rules, model=model
        )
        self.book = Book(parts.home / "requests.jsonl")
        self.everyone = people()
        client = Client(parts.port, self.scene, self.book)
        own = Person("olga", None, "10.0.0.9")
        named = {each.name: each for each in self.everyone}
        self.operator = Operator(parts, self.scene, client, own, named, draw)
        for person in (*self.everyone, own):
            self.operator.give_token(person, "12h" if person.name == "fay" else "90d")
        self.client = client
        self.samples: list[dict[str, float]] = []
        self.start = 0.0

    def load(self) -> None:
        """Let people ask, and let things happen, for the time given or until Ctrl-C."""
        self.parts.start_server()
        self.parts.start_indexer()
        seconds, over = 60 * self.options.minutes, threading.Event()
        sampling = threading.Thread(target=self._sample, args=(over,), daemon=True)
        self.start = time.monotonic()
        stop, threads = crowd(
            self.client, self.everyone, self.scene, self.options.pause, self.options.seed
        )
        sampling.start()
        due = plan(self.options.minutes, self.options.events, self.options.seed)
        try:
            with progress_bar("seconds", int(seconds)) as told:
                for at, kind in [*due, (seconds, "")]:
                    while (now := time.monotonic() - self.start) < at:
                        told(min(int(now), int(seconds)), int(seconds))
                        time.sleep(min(1.0, at - now))
                    told(min(int(now), int(seconds)), int(seconds))
                    done = {each.kind for each in self.operator.happened}
                    if kind and (now < seconds or kind not in done):
                        self.operator.happen(kind)
                    elif kind:  # the machine is slow, and it happened before
                        self.left_out += 1
        except KeyboardInterrupt:
            self.stopped = True
        stop.set()
        for each in threads:
            each.join()
        over.set()
        sampling.join()
        self.seconds = time.monotonic() - self.start

    def _sample(self, over: threading.Event) -> None:
        while not over.wait(_SAMPLE_S):
            self.samples.append(self.parts.sample())

    def end(self) -> None:
        """Stop the parts, and compare what they leave with what they should."""
        parts, found = self.parts, self.operator.faults
        try:
            until(lambda: in_step(parts.index, parts.books), "the index is in step")
        except PartError as error:
            found.append(str(error))
        for process, sign, expected in (
            (parts.indexer, signal.SIGINT, 130),
            (parts.server, signal.SIGTERM, 0),
        ):
            try:
                code = parts.stop(process, sign)
                found += [f"{sign.name}: exit code {code}"] if code != expected else []
            except subprocess.TimeoutExpired as error:
                found.append(f"{sign.name}: {error}")
        self.processes_left = [" ".join(each.cmdline())[:200] for each in parts.left()]
        self.files_left = sorted(each.name for each in (parts.home / "tmp").rglob("*"))
        check_integrity(parts.index)
        fresh = parts.home / "fresh.sat"
        parts.sat("index", parts.books, "--index", fresh, "--permissions", "rules.toml")
        self.differing = differing_files(parts.index, fresh)
        self.other_answers = other_answers(
            parts.index, fresh, self.scene.questions[:_COMPARED], self.everyone
        )
        self.book.close()
        entries, self.torn = audit_lines(sorted(parts.home.glob("audit*.jsonl")))
        self.audit = audit_faults(self.book.asked, entries)
        self.audit_lines = len(entries)
        told = [f"{each.kind} {each.outcome}: {each.detail}" for each in self._wrong()]
        self.faults = [
            *found,
            *told[:20],
            *(f"audit: {name} {count}" for name, count in self.audit.items() if count),
            *([f"audit: torn lines {self.torn}"] if self.torn else []),
            *(f"the index differs from a fresh one: {part}" for part in self.differing),
            *([f"{self.other_answers} answers differ"] if self.other_answers else []),
            *(f"left: {each}" for each in (*self.processes_left, *self.files_left)),
        ]

    def _wrong(self) -> list[Asked]:
        return [
            each for each in self.book.asked if each.outcome in ("unexpected", "shown", "wrong")
        ]

    def results(self) -> Iterator[Result]:
        """Yield the whole and each quarter."""
        asked, operator = self.book.asked, self.operator
        outcomes = Counter(each.outcome for each in asked)
        hangs_ms = [
            1000 * (each.end - each.start)
            for each in asked
            if each.kind in SEARCHES and each.status == 200 and self._hung(each)
        ]
        metrics: dict[str, Any] = {
            "minutes": round(self.seconds / 60, 1),
            "people": len(self.everyone),
            "sheets": len(self.scene.sheets),
            "requests": len(asked),
            "answered": sum(each.status == 200 for each in asked),
            **{f"asked_{kind}": n for kind, n in sorted(Counter(x.kind for x in asked).items())},
            **{f"refused_{name}": outcomes[name] for name in _EXPECTED},
            **{name: outcomes[name] for name in ("unexpected", "shown", "wrong")},
            "events": len(operator.happened),
            **_counted([each.kind for each in operator.happened], "event"),
            "events_left_out": self.left_out,
            "event_faults": len(operator.faults),
            "followed": len(operator.followed_s),
            "followed_p50_s": statistics.median(operator.followed_s or [0.0]),
            "followed_max_s": max(operator.followed_s, default=0.0),
            **percentiles("search_while_the_model_hangs", hangs_ms),
            "audit_lines": self.audit_lines,
            **{f"audit_{name}": self.audit[name] for name in _AUDIT},
            "audit_torn": self.torn,
            "same_as_a_fresh_index": not self.differing,
            "answers_compared": _COMPARED * len(self.everyone),
            "answers_different": self.other_answers,
            "processes_left": len(self.processes_left),
            "temporary_files_left": len(self.files_left),
            "not_run": [*_NOT_RUN, *(f"{k}: {why}" for k, why in operator.not_run.items())],
        }
        rows = [
            {
                "event": each.kind,
                "start_s": round(each.start - self.start, 1),
                "took_s": round(each.end - each.start, 1),
            }
            for each in operator.happened
        ]
        split = "interrupted" if self.stopped else "all"
        data, seed = self.options.corpus, self.options.seed
        yield Result("sat-retriever", data, metrics, split, seed, rows)
        for number, quarter in enumerate(
            by_quarter(asked, self.samples, self.start, self.seconds), start=1
        ):
            name = f"{split}_quarter_{number}" if self.stopped else f"quarter_{number}"
            yield Result("sat-retriever", data, quarter, name, seed)

    def _hung(self, each: Asked) -> bool:
        return "hangs" in self.scene.model.during(each.start, each.end)


def _counted(names: Sequence[str], what: str) -> dict[str, int]:
    return {f"{what}_{name}": count for name, count in sorted(Counter(names).items())}
