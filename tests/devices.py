"""Whether a test of a GPU can run here."""

from __future__ import annotations

import importlib.util
import warnings

from sat_retriever import SatError
from sat_retriever.encoder.onnx.device import gpu_count, wanted_providers


def no_cuda(runtime: str) -> str:
    """Why a runtime cannot use a CUDA device here; empty if it can.

    Args:
        runtime: "torch" or "onnxruntime".
    """
    if not gpu_count():
        return "there is no CUDA device on this machine"
    if runtime == "onnxruntime":
        try:
            wanted_providers("cuda")
        except SatError as error:
            return str(error)
        return ""
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, on import
        import torch

        return "" if torch.cuda.is_available() else f"torch {torch.__version__} has no CUDA device"
