"""Define the protocol between the training loop and a model."""

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
MEASURE = "NDCG@5"  # on validation queries; chooses the checkpoint


@dataclass(frozen=True, slots=True)
class Share:
    """The part of a batch that one process works on.

    Attributes:
        items: Indices of this process's training queries; never empty. A process without a query
            of its own gets another's, with weight 0.
        total: Number of queries over all processes; of an accumulated batch, in this part.
        rank: Number of this process, from 0.
        world: Number of processes.
    """

    items: NDArray[np.int64]
    total: int
    rank: int
    world: int


class Task(Protocol):
    """One model in training.

    For every epoch from 1 the loop calls `prepare`, then `loss` for each batch, then `validate`,
    and `save` if the epoch is the best so far. It may call `validate` for the untrained model
    first.
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
        """Prepare an epoch, for example mine hard negatives with the current weights."""
        ...

    def loss(self, module: torch.nn.Module, share: Share, accelerator: Accelerator) -> torch.Tensor:
        """Return the loss of one share; its mean over processes is the batch's loss.

        `module` is the module as accelerate wrapped it. Call it exactly once.
        """
        ...

    def validate(self, accelerator: Accelerator) -> Mapping[str, float | None]:
        """Return metrics on the validation queries, equal in every process, including `MEASURE`.

        An undefined metric is None or not finite. `MEASURE` must always be defined.
        """
        ...

    def save(self, folder: Path) -> None:
        """Write the current model into a new folder (called in one process)."""
        ...

    def state(self) -> State:
        """Return arrays that a resumed epoch needs beside weights and optimiser state."""
        ...

    def restore(self, state: State) -> None:
        """Restore the arrays from `state`."""
        ...


def batches(size: int, batch_size: int, epoch: int, seed: int) -> Sequence[NDArray[np.int64]]:
    """Return the query indices of each batch of an epoch, in a new order; the last may be short.

    >>> [len(batch) for batch in batches(5, 2, epoch=1, seed=0)]
    [2, 2, 1]
    """
    order = np.random.default_rng((seed, epoch)).permutation(size)
    return [order[start : start + batch_size] for start in range(0, size, batch_size)]
