"""Measure the peak memory of this process and of its GPU, in MiB."""

from __future__ import annotations

import sys

import torch

from sat_retriever.system import peak_memory_mib


def largest_memory_mib() -> float:
    """Return the largest resident size of this process so far; 0 where unknown (Windows)."""
    if peak := peak_memory_mib():
        return peak
    if sys.platform == "win32":
        return 0.0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10  # bytes there, KiB elsewhere


def peak_gpu_memory_mib(device: torch.device) -> float | None:
    """Return the most memory that torch held since `forget_gpu_peak`; None without CUDA."""
    if device.type != "cuda":
        return None
    return float(torch.cuda.max_memory_allocated(device)) / 2**20


def forget_gpu_peak(device: torch.device) -> None:
    """Restart the measurement of the GPU's peak memory."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
