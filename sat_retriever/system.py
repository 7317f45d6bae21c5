"""What this process is: its cores and memory, where the system tells, and if work is wanted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextvars import ContextVar

LOOK_EVERY_S = 0.2  # seconds after which waiting work looks whether it is still wanted
_CHECK: ContextVar[Callable[[], None]] = ContextVar("check")


def stop_by(check: Callable[[], None]) -> None:
    """Let a function end the work of this context: it raises an exception if nobody waits for it.

    Long work calls `check_wanted` now and then, and cleans up after any exception.
    """
    _CHECK.set(check)


def check_wanted() -> None:
    """Raise what `stop_by` was given to raise, if the caller of this work has gone."""
    _CHECK.get(lambda: None)()


def usable_cores() -> int:
    """Number of processor cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def address_space() -> int:
    """Bytes of address space in use; 0 if the system does not report it (only Linux does)."""
    if sys.platform != "linux":
        return 0
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def peak_memory_mib() -> float:
    """Peak memory of this process in MiB; 0 if the system does not report it (only Linux does).

    `ru_maxrss` is not used, because it starts with the parent's peak, which may be large.
    """
    try:
        with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123
            peak = next(line for line in status if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return 0.0
    return int(peak.split()[1]) / 1024
