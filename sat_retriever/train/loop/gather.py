"""Gather arrays from all processes within one step."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from accelerate import Accelerator


def gather_rows(rows: torch.Tensor, counts: list[int], accelerator: Accelerator) -> torch.Tensor:
    """Return the rows of all processes in order, with gradients.

    A row's gradient is the sum of its gradients from the losses of all processes.

    Args:
        rows: This process's rows, (counts[rank], d).
        counts: Number of rows of each process.
        accelerator: Connects the processes.

    Returns:
        (sum of counts, d), the same values in every process.
    """
    if accelerator.num_processes == 1:
        return rows
    missing = max(counts) - len(rows)
    padded = torch.nn.functional.pad(rows, (0, 0, 0, missing))  # (c, d), c the largest count
    everyone: torch.Tensor = _Gather.apply(padded)  # type: ignore[no-untyped-call]  # (p, c, d)
    return torch.cat([part[:count] for part, count in zip(everyone, counts, strict=True)])


class _Gather(torch.autograd.Function):
    """All processes' tensors of one shape, stacked; torch's own gather is deprecated."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor) -> torch.Tensor:
        parts = [torch.empty_like(tensor) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, tensor.contiguous())
        return torch.stack(parts)  # (p, …)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        total = gradients[0].contiguous().clone()
        dist.all_reduce(total)
        return total[dist.get_rank()]
