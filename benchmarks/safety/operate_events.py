"""What happens to a server and its indexer while people ask: edits, kills, restarts, full disks."""

from __future__ import annotations

import json
import random
import resource
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import psutil

from benchmarks.safety.operate_parts import WORKERS, PartError, Parts, until
from benchmarks.safety.operate_people import Client, Request
from benchmarks.safety.operate_record import QUARTERS
from benchmarks.safety.operate_scene import (
    EDITED_FOR,
    Person,
    Scene,
    edited_folder,
    written,
)
from benchmarks.safety.versions import write_version

EVENTS = (
    "edits", "indexer_killed", "worker_killed", "restart", "hangup", "token_changed",
    "rules_changed", "audit_full", "index_full", "clock_jumps", "restored", "model_hangs",
    "model_refuses", "log_renamed",
)  # fmt: skip
_OFTEN_S = 300.0  # a quarter that is as long has every event
_DAY_S = 86_400
_PAUSE_S = 3.0  # for which a state lasts, so that people meet it


def plan(minutes: float, kinds: Sequence[str], seed: int) -> list[tuple[float, str]]:
    """Return events and their times in seconds: all kinds in each quarter, if that is long enough.

    >>> [kind for _, kind in plan(1, ["a", "b", "c", "d"], 0)] == ["a", "b", "c", "d"]
    True
    >>> len(plan(20, EVENTS, 0)) == 4 * len(EVENTS)
    True
    """
    draw, length = random.Random(seed), 60 * minutes / QUARTERS
    found = []
    for quarter in range(QUARTERS):
        mine = [*kinds[quarter::QUARTERS]]
        if length >= _OFTEN_S:
            mine = [*kinds]
            draw.shuffle(mine)
        gap = length / (len(mine) + 1)
        found += [(quarter * length + gap * (n + 1), kind) for n, kind in enumerate(mine)]
    return found


@dataclass(frozen=True, slots=True)
class Happened:
    """An event, and its seconds of the monotonic clock."""

    kind: str
    start: float
    end: float


@dataclass
class Operator:
    """Makes things happen, one after the other, and looks that all is well after each.

    Attributes:
        client: Asks, as everyone does.
        own: Who looks for edited workbooks: one who sees every sheet.
        people: Everyone else, by name.
        happened: What happened, in its order.
        followed_s: Seconds from an edit until a search found it.
        faults: What went wrong.
        not_run: Events that this machine cannot have, with the reason.
    """

    parts: Parts
    scene: Scene
    client: Client
    own: Person
    people: dict[str, Person]
    draw: random.Random
    happened: list[Happened] = field(default_factory=list)
    followed_s: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    not_run: dict[str, str] = field(default_factory=dict)
    _versions: dict[str, str] = field(default_factory=dict)  # of edited workbooks, by path
    _number: int = 0
    _edited_at: float = 0.0

    def happen(self, kind: str) -> None:
        """Let something happen; a fault is noted, and the next event comes all the same."""
        start = time.monotonic()
        try:
            getattr(self, f"_{kind}")()
        except (PartError, OSError, psutil.Error, subprocess.SubprocessError) as error:
            self.faults.append(f"{kind}: {type(error).__name__}: {error}"[:1000])
        self.happened.append(Happened(kind, start, time.monotonic()))

    # ---- workbooks

    def _edit(self, *, new: int = 1, changed: int = 1) -> list[str]:
        """Write workbooks; return their paths."""
        known = self.draw.sample(sorted(self._versions), min(changed, len(self._versions)))
        for _ in range(new):
            self._number += 1
            folder = edited_folder(EDITED_FOR[self._number % len(EDITED_FOR)])
            known.append(f"{folder}/Book {self._number:04}.xlsx")
        for path in known:
            self._number += 1
            self._versions[path] = f"v{self._number:04}"
            (self.parts.books / path).parent.mkdir(parents=True, exist_ok=True)
            write_version(self.parts.books / path, self._versions[path])
        self._edited_at = time.monotonic()
        return known

    def _follow(self, paths: Sequence[str]) -> None:
        """Wait until searches find workbooks as they are now."""
        for path in paths:
            version = self._versions.get(path)
            what = f"{path} is found " + (f"as {version}" if version else "no more")
            until(partial(self._is_found, path, version), what)
            self.followed_s.append(round(time.monotonic() - self._edited_at, 1))

    def _is_found(self, path: str, version: str | None) -> bool:
        return self._found(path) == version

    def _found(self, path: str) -> str | None:
        """Return the version of a workbook in the hits; None without hits, "" if not answered."""
        name = Path(path).stem
        asked = {"question": f"Key of {name}", "path": path}
        request = Request("find", f"/api/search?{urlencode(asked)}")
        answer, text = self.client.ask(self.own, request)
        if answer.status != 200:
            return ""
        found = {each["columns"][1] for each in json.loads(text)["sheets"]}
        return next(iter(found)) if len(found) == 1 else ("torn" if found else None)

    def _edits(self) -> None:
        paths = self._edit(new=2)
        if len(self._versions) > 4:
            gone = self.draw.choice(sorted({*self._versions} - {*paths}))
            (self.parts.books / gone).unlink()
            del self._versions[gone]
            paths.append(gone)
        self._follow(paths)

    def _indexer_killed(self) -> None:
        paths = self._edit(new=2, changed=2)
        time.sleep(self.draw.uniform(0.3, 3.0))  # in the middle of reading, encoding, writing
        self.parts.stop(self.parts.indexer, signal.SIGKILL)
        self.parts.start_indexer()
        self._follow(paths)

    # ---- processes

    @contextmanager
    def _trouble(self, kind: str) -> Iterator[None]:
        """Excuse the errors of a kind in the block."""
        try:
            with self.scene.trouble.changing(kind):
                yield
        finally:
            self.scene.trouble.switch("")

    def _worker_killed(self) -> None:
        # One that has handed over to its successor is not replaced when it dies.
        until(lambda: len(self.parts.workers()) == WORKERS, "no worker retires")
        before = {each.pid for each in self.parts.workers()}
        with self._trouble("worker_killed"):
            gone = psutil.Process(self.draw.choice(sorted(before)))
            gone.kill()
            with suppress(psutil.NoSuchProcess):
                until(lambda: gone.status() == psutil.STATUS_ZOMBIE, "the worker ended")
        until(lambda: len({x.pid for x in self.parts.workers()} - before) == 1, "another worker")

    def _restart(self) -> None:
        with self._trouble("restart"):
            code = self.parts.stop(self.parts.server, signal.SIGTERM)
            if code:
                self.faults.append(f"restart: after SIGTERM the server ended with {code}")
            self.parts.start_server()

    def _hangup(self) -> None:
        self._reload()

    def _reload(self) -> None:
        assert self.parts.server is not None
        done = "every worker was replaced"
        before = self.parts.said("server").count(done)
        self.parts.server.send_signal(signal.SIGHUP)
        until(lambda: self.parts.said("server").count(done) > before, done)

    # ---- tokens and rules

    def give_token(self, person: Person, expires: str = "90d") -> None:
        """Make a person's token."""
        groups = [x for group in person.groups or () for x in ("--groups", group)]
        who = ["--owner"] if person.groups is None else groups
        tokens = self.parts.home / "tokens.toml"
        person.token = self.parts.sat(
            "tokens", "add", person.name, *who, "--expires", expires, "--tokens", tokens
        ).strip()

    def _token_changed(self) -> None:
        person = self.people[self.draw.choice(["ada", "bo", "cy", "eve"])]
        with person.lets_in.changing(False):
            self.parts.sat("tokens", "revoke", person.name, "--tokens", "tokens.toml")
        time.sleep(_PAUSE_S)
        with person.lets_in.changing(True):
            self.give_token(person)

    def _rules_changed(self) -> None:
        one, other = self.scene.turns
        after = other if self.scene.rules.now == one else one
        file = self.parts.home / "rules.toml"
        file.write_text(written(after))
        with self.scene.rules.changing(after):
            self.parts.sat("permissions", "--index", self.parts.index, "--rules", file)

    # ---- the disk, the clock, a backup

    def _audit_full(self) -> None:
        size = self.parts.audit.stat().st_size + 10  # a line would fit in part
        pids = [each.pid for each in self.parts.workers()]
        with self._trouble("audit_full"), _largest_file(pids, size):
            time.sleep(_PAUSE_S)

    def _index_full(self) -> None:
        assert self.parts.indexer is not None
        before = len(self.parts.said("indexer"))
        with _largest_file([self.parts.indexer.pid], 4096):
            paths = self._edit(new=1, changed=1)
            until(lambda: "trying again" in self.parts.said("indexer")[before:], "it is told")
        self._follow(paths)

    def _clock_jumps(self) -> None:
        if self.parts.clock is None:
            self.not_run["clock_jumps"] = "no C compiler for the library that shifts the clock"
            return
        fay = self.people["fay"]
        for seconds in (_DAY_S, 0, -_DAY_S, 0):
            over = seconds == _DAY_S  # her token ends within a day
            with fay.lets_in.changing(not over):
                self.parts.jump(seconds)
            self._follow(self._edit())

    def _restored(self) -> None:
        self._follow(self._edit())
        told = json.loads(
            self.parts.sat(
                "backup", self.parts.home / "backups", "--index", self.parts.index, "--json"
            )
        )
        after = self._edit(new=1, changed=2)
        self._follow(after)
        self.parts.stop(self.parts.indexer, signal.SIGINT)
        self.parts.sat("restore", told["backup"], "--index", self.parts.index, "--replace")
        self._reload()
        self.parts.start_indexer()
        self._follow(after)

    # ---- the language model and the logs

    def _model_hangs(self) -> None:
        self._model("hangs")

    def _model_refuses(self) -> None:
        self._model("refuses")

    def _model(self, mode: str) -> None:
        model = self.scene.model
        model.switch(mode)
        time.sleep(4 * _PAUSE_S)
        model.switch("answers")

    def _log_renamed(self) -> None:
        self._number += 1
        for each in (self.parts.audit, self.parts.home / "access.jsonl"):
            each.rename(each.with_suffix(f".{self._number}.jsonl"))


@contextmanager
def _largest_file(pids: Sequence[int], size: int) -> Iterator[None]:
    """Let processes write no file beyond a size, as a full disk would."""
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    try:
        for pid in pids:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
