"""The reading process: requests on stdin, messages on stdout, one JSON line each.

It is started as `python -m sat_retriever.workbook.process`. It keeps no state between files, may
be killed at any time, and exits when its parent has ended.
"""

from __future__ import annotations

import gc
import json
import math
import os
import sys
import threading
import time
from typing import IO

from sat_retriever.records.jsonform import Json
from sat_retriever.system import address_space, peak_memory_mib
from sat_retriever.workbook.formats.load import load
from sat_retriever.workbook.messages import Request, read_as

_PARENT_POLL_SECONDS = 1.0
_MIB = 1 << 20
_GRACE_SECONDS = 1  # processor time beyond the limit for sending results
_RETIRE_MIB = 512  # peak memory after which the parent should start a fresh worker


def main() -> None:
    """Answer requests until stdin ends."""
    answers = _Answers(_private_stdout())
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    import python_calamine  # noqa: F401 - loaded before the memory limit is set

    gc.disable()  # a sheet has millions of objects and no cycles; collected after each file
    gc.freeze()
    base = address_space()
    for line in sys.stdin:
        request = read_as(Request, json.loads(line))
        _cap(base, request)
        for message in load(request, None if request.window else answers.tell):
            if "done" in message:
                message["done"]["retire"] = peak_memory_mib() > _RETIRE_MIB
            # A record is kept even if this process crashes later.
            answers.send(message, now="record" in message or "done" in message)
        gc.collect()


class _Answers:
    """Writes messages to the parent process; safe to share between threads."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._lock = threading.Lock()

    def send(self, message: Json, *, now: bool) -> None:
        line = json.dumps(message, separators=(",", ":"), default=str) + "\n"
        with self._lock:
            self._out.write(line)
            if now:
                self._out.flush()

    def tell(self, share: float) -> None:
        """Send the share of the file that was read."""
        self.send({"share": share}, now=True)


def _private_stdout() -> IO[str]:
    """Reserve stdout for answers; other output to it is discarded."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii", buffering=1 << 16)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return answers


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PARENT_POLL_SECONDS)
    os._exit(3)


def _cap(base: int, request: Request) -> None:
    """Limit memory and processor time for the next file; effective on Linux only."""
    if sys.platform != "linux":
        return
    import resource

    limits = request.limits
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    wanted = base + limits.memory_mb * _MIB
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = usage.ru_utime + usage.ru_stime
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    seconds = math.ceil(used + limits.seconds) + _GRACE_SECONDS
    soft = seconds if hard == resource.RLIM_INFINITY else min(seconds, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


if __name__ == "__main__":
    main()
