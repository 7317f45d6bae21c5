"""Divide work on a list among the processes of a training, before its first step."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from sat_retriever.encoder.onnx.device import Device

Item = TypeVar("Item")
Made = TypeVar("Made")


def in_shares(
    items: Sequence[Item], work: Callable[[Sequence[Item]], Iterable[Made]], device: Device
) -> list[Made]:
    """Return one result for each item, in order, in every process; each works on its share.

    Called in every process. In a single process neither torch nor accelerate is loaded.

    Args:
        items: The items, the same in every process.
        work: Yields one result for each given item, in order, which must not depend on the others;
            results are pickled for the other processes.
        device: Device of the training, which decides how the processes are connected.
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
