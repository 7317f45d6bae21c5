"""How much Python a piece of code runs, without a clock: a busy machine counts as a quiet one does.

What numpy and other compiled code do in one call counts as one line, however long it takes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(work: Callable[[], object]) -> int:
    """Number of lines of Python that were run, each as often as it was."""
    count = 0

    def counted(_: FrameType, event: str, __: Any) -> Any:
        nonlocal count
        count += event == "line"
        return counted

    before = sys.gettrace()
    sys.settrace(counted)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
