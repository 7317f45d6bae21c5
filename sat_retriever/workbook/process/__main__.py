"""The reading process: requests in on stdin, messages out on stdout, one JSON line each.

Started as `python -m sat_retriever.workbook.process`. It holds no state between files,
may be killed at any moment, and ends by itself when its parent is gone.
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

from sat_retriever.workbook.formats.load import load
from sat_retriever.workbook.request import Request

_PARENT_POLL_SECONDS = 1.0
_MIB = 1 << 20
_GRACE_SECONDS = 1  # of processor time beyond the limit, to tell what was read
_RETIRE_MIB = 512  # peak memory after which the parent had better start a fresh worker


def main() -> None:
    """Answer requests until stdin ends."""
    answers = _private_stdout()
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    import python_calamine  # noqa: F401 - loaded before the memory cap is laid down

    gc.disable()  # a sheet is millions of objects and no cycles; swept after each file
    gc.freeze()
    base = _address_space()
    for line in sys.stdin:
        request = Request.from_json(json.loads(line))
        _cap(base, request)
        for message in load(request):
            if "done" in message:
                message["done"]["retire"] = _peak_mib() > _RETIRE_MIB
            answers.write(json.dumps(message, separators=(",", ":"), default=str) + "\n")
            if "record" in message:
                answers.flush()  # it is kept if what follows ends this process
        answers.flush()
        gc.collect()


def _private_stdout() -> IO[str]:
    """Stdout for answers only; whatever else prints there goes nowhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii", buffering=1 << 16)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return answers


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PARENT_POLL_SECONDS)
    os._exit(3)


def _address_space() -> int:
    """Bytes of address space taken so far; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _cap(base: int, request: Request) -> None:
    """Bound memory and processor time of the next file; a hard stop on Linux only."""
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


def _peak_mib() -> float:
    """Most memory this process held, MiB; 0 where the system does not tell.

    Not `ru_maxrss`: that begins with the peak of the parent, which may be large.
    """
    try:
        with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123
            peak = next(line for line in status if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return 0.0
    return int(peak.split()[1]) / 1024


if __name__ == "__main__":
    main()
