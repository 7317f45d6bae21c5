"""Choose the device of a training, bring arrays to it, and gather them from all processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from accelerate import Accelerator
from accelerate.state import AcceleratorState, GradientState
from accelerate.utils import (
    DistributedDataParallelKwargs,
    GradientAccumulationPlugin,
    parse_flag_from_env,
)
from numpy.typing import NDArray

from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import TrainingError
from sat_retriever.train.loop.parallel import depth_on, made_ahead
from sat_retriever.train.settings import Schedule

Made = TypeVar("Made")
_NAMES = {"fp32": "no", "fp16": "fp16", "bf16": "bf16"}  # ours: accelerate's


def multiplies_bf16() -> bool:
    """True if this CPU multiplies bf16 matrices in hardware (AVX-512 BF16 or AMX)."""
    flags = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return any(flags.get(name, False) for name in ("avx512_bf16", "amx_bf16"))


def make_accelerator(schedule: Schedule, device: Device = "auto") -> Accelerator:
    """Make an accelerator of the schedule's precision.

    It joins the processes that `accelerate launch --multi_gpu --num_processes 2` or torchrun
    started, on CPUs as well (`accelerate launch --cpu` always starts one process). Accelerators
    made earlier in this process become invalid: accelerate keeps one state for all, and this call
    renews it. Apple's GPU is not used. "auto" is CUDA if torch has it and accelerate is not told
    otherwise (ACCELERATE_USE_CPU), else the CPU.

    Raises:
        TrainingError: If torch has no such device, or it cannot compute in that precision.
    """
    cpu = is_cpu(device)
    precision = schedule.precision
    if precision == "fast" and cpu and multiplies_bf16():
        precision = "bf16"
    if precision in ("auto", "fast"):
        precision = "fp32" if cpu else "fp16"
    if cpu and precision == "fp16":
        raise TrainingError(
            "fp16 needs a CUDA device, and this training runs on the CPU; choose precision "
            "bf16 or fp32"
        )
    AcceleratorState._reset_state()  # else another precision is refused; processes stay
    GradientState._reset_state()
    try:
        return Accelerator(
            cpu=cpu,
            mixed_precision=_NAMES[precision],
            # The loop weighs its parts itself, so accelerate must not divide by their number,
            # whatever its environment says.
            gradient_accumulation_plugin=GradientAccumulationPlugin(num_steps=1),
            # A backbone may have weights that no loss reaches, such as a pooler.
            kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
        )
    except ValueError as error:
        raise TrainingError(
            f"this device cannot train in {precision} ({error}); choose precision fp32"
        ) from error


def staged(array: NDArray[Any], device: torch.device) -> torch.Tensor:
    """Return an array as a tensor of the host: pinned for a GPU, else on the array's memory."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory() if device.type == "cuda" else tensor


def moved(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a staged tensor on the device; a GPU copies it while the host goes on."""
    return tensor.to(device, non_blocking=True)


def on_device(batch: tuple[torch.Tensor, ...], device: torch.device) -> tuple[torch.Tensor, ...]:
    """Return the tensors of a staged batch on the device."""
    return tuple(moved(each, device) for each in batch)


def computed_in_groups(
    rows: torch.Tensor,
    groups: Sequence[Sequence[int]],
    batch_of: Callable[[Sequence[int]], Made],
    compute: Callable[[Made], torch.Tensor],
    accelerator: Accelerator,
) -> NDArray[np.float32]:
    """Fill rows of zeros on the device without gradients; the result is equal in every process.

    Each process computes its share of the groups of places; batches are made ahead.
    """
    device = accelerator.device
    own = groups[accelerator.process_index :: accelerator.num_processes]
    with (
        torch.no_grad(),
        closing(made_ahead(batch_of, own, depth_on(device.type))) as batches,
    ):
        for group, batch in zip(own, batches, strict=True):
            rows[group] = compute(batch)
    # Every row is zero in all processes but one.
    shared: NDArray[np.float32] = accelerator.reduce(rows, "sum").cpu().numpy()
    return shared


@contextmanager
def tensor_float_32(device: torch.device) -> Iterator[None]:
    """Let a GPU multiply fp32 matrices in TF32 within the block: faster, three digits fewer."""
    if device.type != "cuda":
        yield
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def is_cpu(device: Device) -> bool:
    """True if a training on this device runs on the CPU; a TrainingError if CUDA cannot be used."""
    known = torch.cuda.is_available()
    if device == "cuda" and not known:
        raise TrainingError(
            f"torch {torch.__version__} has no CUDA device; install torch for CUDA (pytorch.org) "
            "on a machine with an NVIDIA GPU, or choose device 'cpu'"
        )
    told = bool(parse_flag_from_env("ACCELERATE_USE_CPU"))
    if device == "cuda" and told:
        raise TrainingError(
            "device 'cuda' is asked for, but ACCELERATE_USE_CPU asks for the CPU; unset it"
        )
    return device == "cpu" or (device == "auto" and (told or not known))


def gather_rows(rows: torch.Tensor, counts: list[int], accelerator: Accelerator) -> torch.Tensor:
    """Return the rows of all processes in order, the same in every process, with gradients.

    A row's gradient is the sum of its gradients from the losses of all processes. `counts` has the
    number of rows of each process; this one's are (counts[rank], d).
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
