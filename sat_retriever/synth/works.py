"""Units made side by side, in their order."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from sat_retriever.synth.plan import Plan
from sat_retriever.synth.unit import MadeUnit, Retold, made_unit

_AHEAD = 3  # units a worker that wait for earlier ones: bounds memory
_FEW = 8  # units that are made sooner than a worker has started


def made_units(
    plan: Plan, folder: Path, retold: Retold | None = None, workers: int | None = None
) -> Iterator[MadeUnit]:
    """Write the workbooks of a plan; what is in them, unit by unit in the plan's order.

    Args:
        plan: What to make.
        folder: Folder of the workbooks.
        retold: Language of their texts; None for English. With a language model, whose
            answers are kept in one file, everything is made in this process.
        workers: Processes; all cores by default.

    Raises:
        InputError: If a workbook cannot be written.
    """
    fabricated = plan.scale.fabricated
    units = plan.units()
    first = list(islice(units, _FEW))
    workers = workers or os.cpu_count() or 1
    if workers == 1 or len(first) < _FEW or (retold is not None and retold.model):
        for unit in (*first, *units):
            yield made_unit(unit, folder, fabricated=fabricated, retold=retold)
        return
    waiting: deque[Future[MadeUnit]] = deque()
    context = multiprocessing.get_context("spawn")  # a fork copies threads' locks
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        try:
            for unit in (*first, *units):
                with _shielded():
                    waiting.append(
                        pool.submit(made_unit, unit, folder, fabricated=fabricated, retold=retold)
                    )
                if len(waiting) > _AHEAD * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _shielded() -> Iterator[None]:
    """Processes started inside never see Ctrl+C: it is for the one that they work for."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows has none
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
