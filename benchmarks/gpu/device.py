"""The device of a measurement: whether it is there, what it is, and when it has finished."""

from __future__ import annotations

import os
import sys
from typing import Any

from sat_retriever.encoder.onnx.device import Device, wanted_providers
from sat_retriever.errors import SatError
from sat_retriever.train.loop.provenance import output_of


def refuse_missing(device: Device) -> None:
    """End the command if a runtime cannot use the device; rows of a GPU come from a GPU alone.

    Raises:
        SystemExit: With the reason, and what to install.
    """
    if device == "cpu":
        return
    import torch

    try:
        wanted_providers("cuda")
    except SatError as error:
        sys.exit(f"not run: {error}")
    if not torch.cuda.is_available():
        sys.exit(f"not run: torch {torch.__version__} has no CUDA device; install torch for CUDA")


def choose(device: Device) -> None:
    """Let this process and those that it starts use this device and no other."""
    if device == "cpu":
        os.environ |= {"CUDA_VISIBLE_DEVICES": "", "ACCELERATE_USE_CPU": "true"}


def synchronise() -> None:
    """Wait until the GPU has done all that it was given; nothing without one."""
    torch = sys.modules.get("torch")  # not imported here: that takes seconds
    if torch is not None and torch.cuda.is_available():
        torch.cuda.synchronize()


def device_info(device: Device) -> dict[str, Any]:
    """Return name, memory, driver and versions of a GPU as JSON values; of a CPU the name."""
    import onnxruntime
    import torch

    if device == "cpu":
        return {"name": "CPU", "torch": torch.__version__, "onnxruntime": onnxruntime.__version__}
    known = torch.cuda.get_device_properties(0)
    return {
        "name": known.name,
        "memory_gib": round(known.total_memory / 2**30, 1),
        "capability": f"{known.major}.{known.minor}",
        "driver": _driver(),
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),  # type: ignore[no-untyped-call]
        "torch": torch.__version__,
        "onnxruntime": onnxruntime.__version__,
    }


def _driver() -> str | None:
    """Return the version of the NVIDIA driver; None if nvidia-smi does not tell it."""
    asked = ("--query-gpu=driver_version", "--format=csv,noheader", "--id=0")
    return output_of("nvidia-smi", *asked) or None
