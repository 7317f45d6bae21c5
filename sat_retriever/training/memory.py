"""Peak memory of this process and of its GPU, in MiB."""

from __future__ import annotations

import sys

import torch


def peak_memory_mib() -> float:
    """Largest resident size this process has had since it started; 0 where unknown (Windows)."""
    try:
        import resource
    except ImportError:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10  # bytes there, KiB on Linux


def peak_gpu_memory_mib(device: torch.device) -> float | None:
    """Most memory torch has held on the GPU since `forget_gpu_peak`; None without CUDA."""
    if device.type != "cuda":
        return None
    return float(torch.cuda.max_memory_allocated(device)) / 2**20


def forget_gpu_peak(device: torch.device) -> None:
    """Measure the GPU's peak anew from here on."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
