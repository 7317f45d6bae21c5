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
    """Share of process `rank`, from 0, of the query indices of a batch, or of one part of it."""

    batch: NDArray[np.int64]
    rank: int = 0
    world: int = 1

    @property
    def total(self) -> int:
        """Number of queries over all processes."""
        return len(self.batch)

    @property
    def counts(self) -> bool:
        """True if this process has a query of its own."""
        return self.rank < len(self.batch)

    @property
    def items(self) -> NDArray[np.int64]:
        """Indices of this process's training queries; never empty.

        A process without a query of its own gets another's with a loss of weight 0: every process
        must take part in every exchange.
        """
        return self.batch[self.rank :: self.world] if self.counts else self.batch[:1]


class Task(Protocol):
    """One model in training; a task inherits from this class.

    For every epoch from 1 the loop calls `prepare`, then `inputs` and `loss` for each batch, then
    `validate`, and `save` if the epoch is the best so far. It may call `validate` for the untrained
    model first.
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
        return

    def inputs(self, share: Share, device: torch.device) -> Any:
        """Return what `loss` reads of a share: arrays and tensors of the host.

        With a GPU the loop calls this in another thread while earlier steps run. So it depends
        only on the share and on what `prepare` made, draws no random number, and exchanges
        nothing with other processes. `device` says whether to pin memory; see `staged`.
        """
        ...

    def loss(
        self, module: torch.nn.Module, inputs: Any, share: Share, accelerator: Accelerator
    ) -> torch.Tensor:
        """Return the loss of one share; its mean over processes is the batch's loss.

        `module` is the module as accelerate wrapped it. Call it exactly once.
        """
        ...

    def validate(self, accelerator: Accelerator) -> Mapping[str, float | None]:
        """Return metrics on the validation queries, equal in every process.

        An undefined metric is None or not finite; `MEASURE` must always be defined.
        """
        ...

    def save(self, folder: Path) -> None:
        """Write the current model into a new folder (called in one process)."""
        ...

    def state(self) -> State:
        """Return arrays that a resumed epoch needs beside weights and optimiser state."""
        return {}

    def restore(self, state: State) -> None:
        """Restore the arrays from `state`."""
        return


def batches(size: int, batch_size: int, epoch: int, seed: int) -> Sequence[NDArray[np.int64]]:
    """Return the query indices of each batch of an epoch, in a new order; the last may be short.

    >>> [len(batch) for batch in batches(5, 2, epoch=1, seed=0)]
    [2, 2, 1]
    """
    order = np.random.default_rng((seed, epoch)).permutation(size)
    return [order[start : start + batch_size] for start in range(0, size, batch_size)]
