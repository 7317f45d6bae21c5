"""What was asked of a server, what was in force meanwhile, and whether the audit log has it."""

from __future__ import annotations

import json
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import Any, Generic, TypeVar

from benchmarks.speed.turns import percentiles

QUARTERS = 4
SEARCHES = ("page", "search")
Value = TypeVar("Value")


class Timeline(Generic[Value]):
    """Which values were in force, and when.

    A change takes a while, during which both values count: the one before may still be met, the
    one after already.

    >>> clock = iter([10, 12])
    >>> rules = Timeline("old", lambda: next(clock))
    >>> with rules.changing("new"):
    ...     pass
    >>> [sorted(rules.during(*each)) for each in ((1, 9), (9, 11), (13, 14))]
    [['old'], ['new', 'old'], ['new']]
    """

    def __init__(self, first: Value, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._spans: list[tuple[Value, float, float]] = [(first, -inf, inf)]
        self._lock = threading.Lock()

    @contextmanager
    def changing(self, value: Value) -> Iterator[None]:
        """Change to another value in the block: it may count from its beginning, alone after it."""
        with self._lock:  # a request that ends within the block may have met the new one already
            self._spans.append((value, self._clock(), inf))
        try:
            yield
        finally:
            with self._lock:
                before, since, _ = self._spans[-2]
                self._spans[-2] = (before, since, self._clock())

    def switch(self, value: Value) -> None:
        """Change to another value at once."""
        with self.changing(value):
            pass

    def during(self, start: float, end: float) -> set[Value]:
        """Return the values that were in force at any moment from start to end."""
        with self._lock:
            return {value for value, since, until in self._spans if since <= end and start <= until}

    @property
    def now(self) -> Value:
        """The last value."""
        with self._lock:
            return self._spans[-1][0]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request and what became of it.

    Attributes:
        trace: Its id in the audit log.
        person: Name of who asked; "" if the token did not count.
        kind: "search", "sql", ….
        start: Seconds of the monotonic clock.
        status: Of HTTP; 0 without an answer.
        outcome: "expected", why an error is expected, or "unexpected".
        detail: What was wrong.
        shown: Ids of the sheets in a list of hits.
    """

    trace: str
    person: str
    kind: str
    start: float
    end: float
    status: int
    outcome: str
    detail: str = ""
    shown: tuple[str, ...] = ()


class Book:
    """All requests, kept in a file as they come, so that a stopped run leaves them."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("a", buffering=1, encoding="utf-8")
        self._lock = threading.Lock()
        self._number = 0
        self.asked: list[Asked] = []

    def trace(self) -> str:
        """Return the id of another request."""
        with self._lock:
            self._number += 1
            return f"{self._number:032x}"

    def note(self, asked: Asked) -> None:
        """Keep a request."""
        with self._lock:
            self.asked.append(asked)
            self._file.write(json.dumps(asdict(asked), ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def quarter_of(moment: float, start: float, seconds: float) -> int:
    """Return the quarter of a moment, from 1 to 4; what is later belongs to the last.

    >>> [quarter_of(each, 100, 40) for each in (100, 109.9, 110, 140, 150)]
    [1, 1, 2, 4, 4]
    """
    return min(QUARTERS, 1 + int((moment - start) * QUARTERS / seconds))


def by_quarter(
    asked: Sequence[Asked], samples: Sequence[Mapping[str, float]], start: float, seconds: float
) -> list[dict[str, Any]]:
    """Return times, memory, threads and open files of each quarter.

    Args:
        asked: All requests.
        samples: Of the processes: "at" in seconds of the monotonic clock, and other numbers.
        start: Beginning of the first quarter.
        seconds: Length of all quarters.
    """
    found = []
    for quarter in range(1, QUARTERS + 1):
        mine = [each for each in asked if quarter_of(each.start, start, seconds) == quarter]
        here = [each for each in samples if quarter_of(each["at"], start, seconds) == quarter]
        right = [each for each in mine if each.status == 200]
        took_ms = [1000 * (each.end - each.start) for each in right if each.kind in SEARCHES]
        names = [name for name in (samples[0] if samples else ()) if name != "at"]
        medians = {name: statistics.median(row[name] for row in here) for name in names if here}
        found.append(
            {
                "asked": len(mine),
                "answered": len(right),
                **percentiles("search", took_ms),
                **{f"{name}_median": round(value, 1) for name, value in medians.items()},
            }
        )
    return found


def audit_lines(files: Iterable[Path]) -> tuple[list[dict[str, Any]], int]:
    """Return the entries of audit logs, and the number of lines that are no JSON object."""
    entries, torn = [], 0
    for file in files:
        for line in file.read_bytes().split(b"\n")[:-1]:
            try:
                entries.append(json.loads(line.decode("utf-8")))
            except ValueError:
                torn += 1
        torn += not file.read_bytes().endswith(b"\n") and file.stat().st_size > 0
    return entries, torn


def audit_faults(asked: Sequence[Asked], entries: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """Count what is wrong with an audit log; a request and its line have the id of a trace.

    Each answer of 200 needs a line with its person, its status and, for a list of hits, its sheets.
    A request that lost its connection may have a line, since the answer was on its way.
    """
    sent = {each.trace: each for each in asked}
    lines = Counter(str(entry.get("trace")) for entry in entries)
    by_trace = {str(entry.get("trace")): entry for entry in entries}
    faults: Counter[str] = Counter()
    faults["missing"] = sum(each.status == 200 and each.trace not in lines for each in asked)
    faults["twice"] = sum(count > 1 for count in lines.values())
    faults["unknown"] = sum(trace not in sent for trace in lines)
    for trace, entry in by_trace.items():
        each = sent.get(trace)
        if each is None or not each.status:
            continue
        faults["other_person"] += entry.get("user", "") != each.person and each.status == 200
        faults["other_status"] += entry["status"] != each.status
        faults["other_sheets"] += bool(set(each.shown) - {*entry.get("found", ())})
    return faults
