"""Choose the device that exported models run on; no other module knows onnxruntime's providers."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Collection
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal, get_args

from sat_retriever._extras import install_command
from sat_retriever.errors import EncoderError, InputError, MissingExtraError

if TYPE_CHECKING:
    import onnxruntime

Device = Literal["auto", "cuda", "cpu"]
Provider = str | tuple[str, dict[str, Any]]

_CUDA, _CPU = "CUDAExecutionProvider", "CPUExecutionProvider"
ON_PROCESSOR: list[Provider] = [_CPU]
# TF32 would change the fourth digit of a token: an index that a GPU wrote could not be searched
# on a processor with equal results.
_CUDA_OPTIONS = {"use_tf32": "0"}
_DRIVER = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"


def providers_for(device: Device, available: Collection[str], gpus: int) -> list[Provider]:
    """Return the providers to ask onnxruntime for, best first.

    "auto" takes CUDA where onnxruntime has it and there is a GPU.

    Raises:
        InputError: If the device is unknown.
        MissingExtraError: If CUDA is asked for, and this onnxruntime lacks it.
        EncoderError: If CUDA is asked for, and there is no GPU.

    >>> providers_for("auto", ["CPUExecutionProvider"], gpus=1)
    ['CPUExecutionProvider']
    """
    if device not in get_args(Device):
        known = ", ".join(map(repr, get_args(Device)))
        raise InputError(f"unknown device {device!r}; choose one of: {known}")
    if device == "cuda" and _CUDA not in available:
        raise MissingExtraError(
            "the installed onnxruntime has no CUDA provider; run: "
            f"{install_command('gpu')} && pip install --force-reinstall --no-deps onnxruntime-gpu "
            "(both packages hold the same module, so that one must come last), or choose "
            "device 'cpu'"
        )
    if device == "cuda" and not gpus:
        raise EncoderError(
            "there is no CUDA device: no NVIDIA driver was found, or it shows no GPU to this "
            "process (nvidia-smi, CUDA_VISIBLE_DEVICES); choose device 'cpu'"
        )
    if device == "cpu" or _CUDA not in available or not gpus:
        return ON_PROCESSOR
    return [(_CUDA, dict(_CUDA_OPTIONS)), _CPU]


def wanted_providers(device: Device) -> list[Provider]:
    """Return what `providers_for` gives for this machine, with CUDA's libraries loaded."""
    import onnxruntime

    available = onnxruntime.get_available_providers()
    # The driver takes its time to start, and is not needed without the provider.
    gpus = gpu_count() if device != "cpu" and _CUDA in available else 0
    found = providers_for(device, available, gpus)
    if found != ON_PROCESSOR:
        _load_libraries()
    return found


def runs_on_gpu(session: onnxruntime.InferenceSession) -> bool:
    """True if a session computes on a GPU."""
    return _CUDA in session.get_providers()


def refuse_other_device(session: onnxruntime.InferenceSession, device: Device) -> None:
    """Refuse a session that onnxruntime opened elsewhere than it was asked to."""
    if device == "cuda" and not runs_on_gpu(session):
        raise EncoderError(
            "onnxruntime could not start its CUDA provider; its lines above name what is missing. "
            "It needs the CUDA and cuDNN of its build: pip install 'onnxruntime-gpu[cuda,cudnn]', "
            "or choose device 'cpu'"
        )


def gpu_count() -> int:
    """Return the number of GPUs that the NVIDIA driver shows to this process; 0 without one."""
    try:
        driver = ctypes.CDLL(_DRIVER)
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    return count.value


@cache
def _load_libraries() -> None:
    """Load CUDA and cuDNN from pip's packages, where onnxruntime can (1.21 and newer)."""
    import onnxruntime

    load = getattr(onnxruntime, "preload_dlls", None)
    if load is not None:
        with redirect_stdout(StringIO()):  # it prints what it misses; a session's error says it
            load()
