"""One of several processes that serve an index on one socket; `supervisor` starts it.

It is told its plan in a line on standard input, and tells in a line on standard output how many
sheets it serves, or why it serves none. When standard input ends its parent is gone, and it stops.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sat_retriever.errors import InputError, SatError
from sat_retriever.serve.limits import Counts
from sat_retriever.serve.metrics import Place
from sat_retriever.serve.plan import Plan, log_warnings, service_of
from sat_retriever.serve.serving import Serving

assert sys.platform != "win32", "`sat serve` starts no workers there"


def main() -> None:
    """Serve until SIGTERM, or SIGHUP, after which a newer process has taken over."""
    log_warnings()
    listening, counts, number = (int(each) for each in sys.argv[1:])
    place = Place(Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]), number)
    plan = Plan.of(json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    try:
        with service_of(plan, counts, place) as (service, sheets):
            started = partial(_tell, {"sheets": sheets})
            beats = Counts(counts).beats

            def beat() -> None:
                beats[number] += 1

            serving = Serving(service, plan.proxies, plan.stop_s, started, hurry=False, beat=beat)
            signal.signal(signal.SIGHUP, lambda _signal, _frame: serving.retire())
            serving.serve_until_stopped(socket.socket(fileno=listening))
    except (SatError, OSError) as error:
        _tell({"error": str(error), "usage": isinstance(error, InputError)})
        sys.exit(1)


def _tell(said: Mapping[str, Any]) -> None:
    """Tell the parent, then nothing more: what else is printed goes to the log."""
    sys.stdout.write(f"{json.dumps(said)}\n")
    sys.stdout.flush()
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())


def _stop_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1):  # not by its buffer, whose lock the exit would wait for
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
