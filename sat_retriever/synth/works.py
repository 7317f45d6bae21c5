"""Make units in parallel, in their order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path

from sat_retriever.errors import InputError
from sat_retriever.synth.plan.plan import Plan
from sat_retriever.synth.unit import MadeUnit, Retold, made_unit

_AHEAD = 3  # units per worker that wait for earlier ones: limits memory
_ENDED = (
    "a worker process ended early: either it ran out of memory, "
    'or a script runs this without `if __name__ == "__main__":`; try one worker'
)
_FEW = 8  # fewer units are made sooner than a worker has started


def made_units(
    plan: Plan,
    folder: Path,
    retold: Retold | None = None,
    workers: int | None = None,
    *,
    asked: bool = False,
    answered: bool = False,
) -> Iterator[MadeUnit]:
    """Write the workbooks of a plan, and yield the data of each unit in the plan's order.

    Args:
        plan: The plan.
        folder: Folder of the workbooks.
        retold: Language of their texts; None for English. A language model's answers are kept
            in one file, so with a model everything is made in this process.
        workers: Number of processes; all cores by default. Each imports the script that calls
            this, so the script needs `if __name__ == "__main__":` around its actions.
        asked: True gives the workbooks contents worth asking for, and tells them.
        answered: True makes questions with their SQL and answer.

    Raises:
        InputError: If a process ends early.
        OutputError: If a workbook cannot be written.
    """
    make = partial(
        made_unit,
        folder=folder,
        fabricated=plan.scale.fabricated,
        retold=retold,
        asked=asked,
        answered=answered,
    )
    units = plan.units()
    first = list(islice(units, _FEW))
    workers = workers or os.cpu_count() or 1
    if workers == 1 or len(first) < _FEW or (retold is not None and retold.model):
        for unit in (*first, *units):
            yield make(unit)
        return
    waiting: deque[Future[MadeUnit]] = deque()
    context = multiprocessing.get_context("spawn")  # a fork copies threads' locks
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        try:
            for unit in (*first, *units):
                with _shielded():
                    waiting.append(pool.submit(make, unit))
                if len(waiting) > _AHEAD * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            raise InputError(_ENDED) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _shielded() -> Iterator[None]:
    """Protect processes started inside from Ctrl+C, and delay it here until the block ends.

    The processes inherit the blocked signal. A handler delays it as well, because another
    thread may receive it, so blocking alone is not enough.
    """
    if sys.platform == "win32":
        yield
        return
    late: list[int] = []
    here = threading.current_thread() is threading.main_thread()  # only it may set handlers
    handler = signal.signal(signal.SIGINT, lambda number, _: late.append(number)) if here else None
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if here:
            signal.signal(signal.SIGINT, signal.SIG_DFL if handler is None else handler)
    if late:
        signal.raise_signal(signal.SIGINT)
