"""Choose the device of a training: CUDA if available, else the CPU; one or several processes."""

from __future__ import annotations

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState, GradientState
from accelerate.utils import (
    DistributedDataParallelKwargs,
    GradientAccumulationPlugin,
    parse_flag_from_env,
)

from sat_retriever.errors import TrainingError
from sat_retriever.training.loop.schedule import Schedule

_NAMES = {"fp32": "no", "fp16": "fp16", "bf16": "bf16"}  # ours: accelerate's


def multiplies_bf16() -> bool:
    """True if this CPU multiplies bf16 matrices in hardware (AVX-512 BF16 or AMX)."""
    flags = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return any(flags.get(name, False) for name in ("avx512_bf16", "amx_bf16"))


def make_accelerator(schedule: Schedule) -> Accelerator:
    """Make an accelerator of the schedule's precision, on CUDA if available, else on the CPU.

    It joins the processes that `accelerate launch --multi_gpu --num_processes 2` or torchrun
    started, on CPUs as well (`accelerate launch --cpu` always starts one process). Accelerators
    made earlier in this process become invalid: accelerate keeps one state for all, and this call
    renews it. Apple's GPU is not used.

    Raises:
        TrainingError: If the device cannot compute in that precision.
    """
    cpu = not torch.cuda.is_available() or parse_flag_from_env("ACCELERATE_USE_CPU")
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
