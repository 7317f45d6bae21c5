"""Do work in parallel: coming inputs in a thread, and a list in shares of the processes."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from sat_retriever.encoder.onnx.device import Device

Item = TypeVar("Item")
Made = TypeVar("Made")

# On a GPU the host is idle during a step. On a CPU every core computes the step, so a thread beside
# it would only take turns with it.
_DEPTHS = {"cuda": 2}


def depth_on(kind: str) -> int:
    """Return how many steps to prepare ahead on a kind of device, such as "cuda"."""
    return _DEPTHS.get(kind, 0)


def made_ahead(
    make: Callable[[Item], Made], items: Iterable[Item], depth: int
) -> Generator[Made, None, None]:
    """Yield `make(item)` for each item, in order; errors are raised at their item.

    Another thread makes up to `depth` results before they are needed, one at a time; 0 makes each
    when it is.

    >>> list(made_ahead(str, [1, 2, 3], depth=2))
    ['1', '2', '3']
    """
    if depth == 0:
        yield from map(make, items)
        return
    waiting: deque[Future[Made]] = deque()
    pool = ThreadPoolExecutor(1, thread_name_prefix="inputs")
    try:
        for item in items:
            waiting.append(pool.submit(make, item))
            if len(waiting) > depth:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:  # also if the loop ends early: an interrupt, an error
        pool.shutdown(wait=True, cancel_futures=True)


def in_shares(
    items: Sequence[Item], work: Callable[[Sequence[Item]], Iterable[Made]], device: Device
) -> list[Made]:
    """Return one result for each item, in order, in every process; each works on its share.

    Called in every process, with the same items. In a single process neither torch nor accelerate
    is loaded. `work` yields one result for each given item, in order, which must not depend on the
    others; results are pickled for the other processes.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return list(work(items))
    from accelerate import PartialState
    from accelerate.utils import gather_object

    from sat_retriever.train.loop.device import is_cpu

    state = PartialState(cpu=is_cpu(device))
    rank, world = state.process_index, state.num_processes
    found: list[Made] = gather_object(list(work(items[rank::world])))  # process after process
    places = [place for each in range(world) for place in range(each, len(items), world)]
    in_order = dict(zip(places, found, strict=True))
    return [in_order[place] for place in range(len(items))]
