"""Processor time and peak memory of a call, with those of the processes that work for it."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

_TICKS = os.sysconf("SC_CLK_TCK")
_CLEAR_PEAK = "5"  # what Linux takes for: count the peak from now on
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Usage:
    """Time and memory of a call.

    Attributes:
        wall_s: Wall time.
        cpu_s: Processor time of this process and its children.
        child_mib: Most memory of any child; one that ended during the call counts only
            if no earlier child used more; 0 without children.
    """

    wall_s: float
    cpu_s: float
    child_mib: float


def measured(
    call: Callable[[], Result], others: Callable[[], Collection[int]] = frozenset
) -> tuple[Result, Usage]:
    """Return a call's result with its time and memory; Linux only.

    Args:
        call: The call to measure.
        others: Returns ids of unrelated child processes, which are left out.
    """
    for child in _children(others()):
        _clear_peak(child)
    cpu, ended, start = _cpu_s(others()), _ended_mib(), time.perf_counter()
    result = call()
    wall = time.perf_counter() - start
    most = max(map(_peak_mib, _children(others())), default=0.0)
    if _ended_mib() > ended:
        most = max(most, _ended_mib())
    return result, Usage(wall, _cpu_s(others()) - cpu, most)


def _children(others: Collection[int]) -> list[int]:
    """Return processes that threads of this one have started."""
    found: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        try:
            found += map(int, (task / "children").read_text(encoding="ascii").split())
        except OSError:  # the thread has ended
            continue
    return [child for child in found if child not in others]


def _cpu_s(others: Collection[int]) -> float:
    """Return the processor seconds of this process, its ended children and those that live."""
    used = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        used += usage.ru_utime + usage.ru_stime
    for child in _children(others):
        fields = _read(child, "stat").rpartition(")")[2].split()
        if fields:
            used += (int(fields[11]) + int(fields[12])) / _TICKS  # utime, stime
    return used


def _ended_mib() -> float:
    """Return the most memory of a child that has ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def _peak_mib(child: int) -> float:
    for line in _read(child, "status").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def _clear_peak(child: int) -> None:
    try:
        Path(f"/proc/{child}/clear_refs").write_text(_CLEAR_PEAK, encoding="ascii")
    except OSError:  # it has ended
        return


def _read(child: int, name: str) -> str:
    """Return a file that the system keeps of a process; empty once it has ended."""
    try:
        return Path(f"/proc/{child}/{name}").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
