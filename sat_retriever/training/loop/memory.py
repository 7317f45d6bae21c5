"""Measure the peak memory of this process and of its GPU, in MiB."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

_STATUS = Path("/proc/self/status")


def peak_memory_mib() -> float:
    """Return the largest resident size of this process so far; 0 where unknown (Windows).

    On Linux it is `VmHWM`: the result of `getrusage` there starts from the size of the parent
    process.
    """
    try:
        lines = _STATUS.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 2**10  # KiB
    try:
        import resource
    except ImportError:
        return 0.0
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
