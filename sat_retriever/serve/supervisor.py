"""Several processes on one socket; one that dies is started again.

plan → worker, worker, … → signals: SIGTERM and Ctrl-C stop all, SIGHUP replaces one by one
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import os
import signal
import socket
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sat_retriever._extras import require
from sat_retriever.errors import InputError, SatError
from sat_retriever.serve.limits import Counts
from sat_retriever.serve.plan import Plan
from sat_retriever.serve.serving import INTERRUPTED

try:
    from prometheus_client.multiprocess import mark_process_dead
except ModuleNotFoundError:
    require("prometheus_client", "serve")  # names the extra to install
    raise

assert sys.platform != "win32", "`sat serve` starts no workers there"

DEATHS, WITHIN_S = 5, 60.0  # of one worker: more end the server
# A worker that stands still at so many looks in a row is killed. Looks are counted, not seconds,
# since all processes of a machine that sleeps stand still for any time.
LOOKS, LOOK_S = 12, 5.0
_KILL_AFTER_S = 5.0  # beyond the time that a worker has to stop
_MODULE = "sat_retriever.serve.worker"

_logger = logging.getLogger(__name__)


def supervise(
    plan_of: Callable[[], Plan], listening: socket.socket, started: Callable[[int], object]
) -> int:
    """Serve from several processes until a signal; return the exit code.

    SIGTERM and Ctrl-C let running requests end, a second one does not. After SIGHUP the plan is
    made anew, and each process is replaced as soon as its successor is ready.

    Args:
        plan_of: Makes the plan; called at the start and at each SIGHUP.
        started: Called with the number of sheets when all processes are ready.

    Raises:
        SatError: If the processes cannot start, or die again and again.
    """
    with tempfile.TemporaryFile() as counts, tempfile.TemporaryDirectory() as metrics:
        counts.truncate(Counts.SIZE)
        files = (listening.fileno(), counts.fileno())
        return asyncio.run(_Supervisor(plan_of, files, metrics, started).run())


@dataclass(frozen=True, slots=True)
class _Worker:
    process: Process
    said: asyncio.Task[bytes]
    number: int
    freeing: asyncio.Task[None]  # its number, for another one

    async def sheets(self) -> int:
        line = await asyncio.shield(self.said)
        told: dict[str, Any] = json.loads(line or b"{}")
        if "sheets" in told:
            return int(told["sheets"])
        raise (InputError if told.get("usage") else SatError)(
            told.get("error") or f"a worker did not start: it {await self.ending()}"
        )

    async def ending(self) -> str:
        code = await self.process.wait()
        return f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"

    def signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)


class _Supervisor:
    def __init__(
        self,
        plan_of: Callable[[], Plan],
        files: tuple[int, int],
        metrics: str,
        started: Callable[[int], object],
    ) -> None:
        self._plan_of = plan_of
        self._plan = plan_of()
        self._files = files
        self._metrics = metrics  # folder in which the workers count
        self._numbers: set[int] = set()  # of those that run, each with its own counts in there
        self._started = started
        self._workers: list[_Worker] = []
        self._running: list[_Worker] = []  # these, those that retire, and those that begin
        self._stopped_by = 0
        self._stopping = asyncio.Event()
        self._renewing: asyncio.Task[None] | None = None

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, number)
        loop.add_signal_handler(signal.SIGHUP, self._renew_soon)
        serving = asyncio.create_task(self._serve())
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()  # raises: it ends by an error alone
            return INTERRUPTED if self._stopped_by == signal.SIGINT else 0
        finally:
            self._stopping.set()
            for task in (serving, stopping, self._renewing):
                if task:
                    task.cancel()
            await self._end()

    async def _serve(self) -> None:
        """Start one worker alone, so that an error of all is said once, then keep their number."""
        self._workers.append(await self._begun())
        sheets = await self._workers[0].sheets()
        for _ in range(self._plan.workers - 1):
            self._workers.append(await self._begun())
        for worker in self._workers:
            await worker.sheets()
        self._started(sheets)
        kept = (self._kept(place) for place in range(len(self._workers)))
        await asyncio.gather(*kept, self._killed_if_still())

    async def _begun(self) -> _Worker:
        number = next(each for each in itertools.count() if each not in self._numbers)
        self._numbers.add(number)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", _MODULE, *map(str, (*self._files, number))),
            stdin=PIPE,
            stdout=PIPE,
            pass_fds=self._files,
            start_new_session=True,  # Ctrl-C reaches this process alone, which tells the workers
            env={**_environment(), "PROMETHEUS_MULTIPROC_DIR": self._metrics},
        )
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(asdict(self._plan)).encode() + b"\n")
        said = asyncio.create_task(process.stdout.readline())
        freeing = asyncio.create_task(self._freed(number, process))
        self._running.append(_Worker(process, said, number, freeing))
        return self._running[-1]

    async def _freed(self, number: int, process: Process) -> None:
        """Let another process go on with the counts of one that has ended."""
        await process.wait()
        mark_process_dead(number, self._metrics)  # it does no more what it was doing
        self._numbers.discard(number)
        self._running = [each for each in self._running if each.process is not process]

    async def _kept(self, place: int) -> None:
        """Start another worker whenever the one at a place dies."""
        deaths: deque[float] = deque(maxlen=DEATHS)
        while not self._stopping.is_set():
            worker = self._workers[place]
            ending = await worker.ending()
            if self._stopping.is_set() or self._workers[place] is not worker:
                continue  # a newer one has taken its place
            if len(deaths) == DEATHS and time.monotonic() - deaths[0] < WITHIN_S:
                raise SatError(
                    f"a worker died {DEATHS + 1} times within {WITHIN_S:g} s, so the server "
                    f"stopped: the last one {ending}{_why(worker)}"
                )
            deaths.append(time.monotonic())
            _logger.warning(
                "worker %d %s%s; another one starts", worker.process.pid, ending, _why(worker)
            )
            self._workers[place] = await self._begun()

    async def _killed_if_still(self) -> None:
        """Kill workers whose event loop does not turn; another one starts as for any that dies."""
        beats, still = Counts(self._files[1]).beats, Counter[int]()
        before: dict[int, float] = {}
        while not self._stopping.is_set():
            await asyncio.sleep(LOOK_S)
            for worker in list(self._running):
                pid, beat = worker.process.pid, beats[worker.number]
                if not worker.said.done() or worker.process.returncode is not None:
                    continue  # it loads models, or has ended
                still[pid] = still[pid] + 1 if before.get(pid) == beat else 0
                before[pid] = beat
                if still[pid] >= LOOKS:
                    _logger.warning("worker %d answers no more and is killed", pid)
                    worker.signal(signal.SIGKILL)

    def _renew_soon(self) -> None:
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew())

    async def _renew(self) -> None:
        """Replace every worker by one of a new plan; at an error the rest stay as they are."""
        before = self._plan
        _logger.warning("SIGHUP: %d workers are replaced one by one", len(self._workers))
        try:
            self._plan = self._plan_of()
            for place in range(len(self._workers)):
                newer = await self._begun()
                await newer.sheets()
                older, self._workers[place] = self._workers[place], newer
                older.signal(signal.SIGHUP)
            _logger.warning("every worker was replaced")
        except SatError as error:
            self._plan = before
            _logger.warning("not every worker was replaced: %.500s", error)

    def _stop(self, number: signal.Signals) -> None:
        """Let all workers end at the first signal, and kill them at the second."""
        for worker in list(self._running):
            worker.signal(signal.SIGKILL if self._stopped_by else signal.SIGTERM)
        if self._stopped_by:
            os._exit(128 + number)
        self._stopped_by = number
        self._stopping.set()

    async def _end(self) -> None:
        every = list(self._running)
        for worker in every:
            worker.signal(signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._plan.stop_s + _KILL_AFTER_S):
                for worker in every:
                    await worker.process.wait()
        for worker in every:
            worker.signal(signal.SIGKILL)


def _why(worker: _Worker) -> str:
    """Return what a worker said before it ended, if that was an error."""
    line = worker.said.result() if worker.said.done() else b""
    error = json.loads(line or b"{}").get("error")
    return f" ({error})" if error else ""


def _environment() -> dict[str, str]:
    here = str(Path(__file__).resolve().parents[2])
    paths = [here, *(path for path in sys.path if path and path != here)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
