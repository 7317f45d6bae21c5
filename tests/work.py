"""How much a piece of code does, without a clock: a busy machine counts as a quiet one does."""

from __future__ import annotations

import sys
from collections.abc import Callable

# Seconds. Far more than any machine needs for what ends, far less than endless backtracking takes.
HANGS = 30.0


def calls(work: Callable[[], object]) -> int:
    """Number of functions that were called and left, Python's own included."""
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
