"""Keep every core busy with processes while something else is measured."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_WORK = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(100_000))"


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Run busy processes until the block, or this process, ends."""
    running = [subprocess.Popen([sys.executable, "-c", _WORK]) for _ in range(processes)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()
