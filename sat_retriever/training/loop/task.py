"""The protocol between the training loop and a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch
    from accelerate import Accelerator

State = Mapping[str, NDArray[Any]]
MEASURE = "NDCG@5"  # checkpoints are chosen by it, on validation queries


@dataclass(frozen=True, slots=True)
class Share:
    """The part of a batch that one process works on.

    Attributes:
        items: Indices of training queries, this process's part; never empty: a process that
            would go without gets another one's, and its loss counts nothing.
        total: Queries over all processes; of an accumulated batch those of the part at hand.
        rank: Number of this process, from 0.
        world: Number of processes.
    """

    items: NDArray[np.int64]
    total: int
    rank: int
    world: int


class Task(Protocol):
    """One model in training.

    The loop calls, for every epoch from 1: `prepare`, then for each batch `loss`, then
    `validate`, and `save` when the epoch is the best so far. It may call `validate` for the
    untrained model before.
    """

    @property
    def module(self) -> torch.nn.Module:
        """The module; the loop trains its parameters that require gradients."""
        ...

    @property
    def size(self) -> int:
        """Number of training queries; a batch holds indices below it."""
        ...

    def prepare(self, epoch: int, accelerator: Accelerator) -> None:
        """What an epoch needs first, such as mining hard negatives with the present weights."""
        ...

    def loss(self, module: torch.nn.Module, share: Share, accelerator: Accelerator) -> torch.Tensor:
        """Loss of one share, scaled so that the mean over processes is the batch's loss.

        `module` is the module as accelerate wrapped it; it is called exactly once.
        """
        ...

    def validate(self, accelerator: Accelerator) -> Mapping[str, float | None]:
        """Metrics on the validation queries, the same in every process; has `MEASURE`.

        A metric is None, or no finite number, where it is undefined; `MEASURE` never is.
        """
        ...

    def save(self, folder: Path) -> None:
        """Write the model as it is now into a new folder (called in one process)."""
        ...

    def state(self) -> State:
        """Arrays beside weights and optimiser that a resumed epoch needs, such as negatives."""
        ...

    def restore(self, state: State) -> None:
        """Take back what `state` gave."""
        ...


def batches(size: int, batch_size: int, epoch: int, seed: int) -> Sequence[NDArray[np.int64]]:
    """Query indices of each batch of an epoch: a new order each epoch, the last one shorter.

    >>> [len(batch) for batch in batches(5, 2, epoch=1, seed=0)]
    [2, 2, 1]
    """
    order = np.random.default_rng((seed, epoch)).permutation(size)
    return [order[start : start + batch_size] for start in range(0, size, batch_size)]
