"""The providers that onnxruntime is asked for: the contract of `device`, without a GPU."""

import numpy as np
import onnxruntime
import pytest

from sat_retriever import EncoderError, InputError, MissingExtraError
from sat_retriever.encoder.onnx import device as devices
from sat_retriever.encoder.onnx.device import (
    ON_PROCESSOR,
    gpu_count,
    providers_for,
    refuse_other_device,
    runs_on_gpu,
    wanted_providers,
)
from sat_retriever.encoder.onnx.session import open_session, run_session

CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
BUILDS = {
    "processor": ["AzureExecutionProvider", CPU],
    "cuda": ["TensorrtExecutionProvider", CUDA, CPU],
}


def names(providers) -> list[str]:
    return [each if isinstance(each, str) else each[0] for each in providers]


@pytest.mark.parametrize(
    ("device", "build", "gpus", "asked"),
    [
        ("cpu", "cuda", 1, [CPU]),
        ("cpu", "processor", 0, [CPU]),
        ("auto", "processor", 1, [CPU]),
        ("auto", "cuda", 0, [CPU]),
        ("auto", "cuda", 2, [CUDA, CPU]),
        ("cuda", "cuda", 1, [CUDA, CPU]),
    ],
)
def test_cuda_is_asked_for_where_it_can_be_used_and_never_for_the_processor(
    device, build, gpus, asked
):
    assert names(providers_for(device, BUILDS[build], gpus)) == asked


def test_tokens_of_a_gpu_are_not_rounded_to_tf32():
    (_, options), _ = providers_for("cuda", BUILDS["cuda"], 1)
    assert options == {"use_tf32": "0"}


def test_an_onnxruntime_without_cuda_says_what_to_install_and_in_which_order():
    with pytest.raises(MissingExtraError, match="no CUDA provider") as error:
        providers_for("cuda", BUILDS["processor"], 1)
    first, second = str(error.value).split("&&")
    assert "pip install" in first
    assert "gpu" in first
    assert "--force-reinstall --no-deps onnxruntime-gpu" in second


def test_a_machine_without_a_gpu_is_an_error_only_if_cuda_is_asked_for():
    with pytest.raises(EncoderError, match=r"no CUDA device.* choose device 'cpu'"):
        providers_for("cuda", BUILDS["cuda"], 0)


@pytest.mark.parametrize("device", ["gpu", "", "CUDA", "cuda:0"])
def test_an_unknown_device_is_refused_with_the_known_ones(device):
    with pytest.raises(InputError, match="'auto', 'cuda', 'cpu'"):
        wanted_providers(device)


def test_a_session_that_opened_elsewhere_is_refused_only_if_cuda_was_asked_for(doubling):
    session = open_session(doubling, 1, "cpu")
    assert not runs_on_gpu(session)
    for device in ("cpu", "auto"):
        refuse_other_device(session, device)
    with pytest.raises(EncoderError, match="could not start its CUDA provider"):
        refuse_other_device(session, "cuda")


def test_auto_goes_on_with_the_processor_if_the_first_provider_cannot_be_started(
    doubling, monkeypatch, caplog
):
    """A provider that this onnxruntime lacks stands for a CUDA that fails."""
    unknown = [("NoSuchExecutionProvider", {}), *ON_PROCESSOR]
    monkeypatch.setattr("sat_retriever.encoder.onnx.session.wanted_providers", lambda _: unknown)
    session = open_session(doubling, 1, "auto")
    assert run_session(session, {"x": np.float32([3])}, doubling, (1,)).tolist() == [6]
    assert "NoSuchExecutionProvider" in caplog.text
    with pytest.raises(EncoderError, match="NoSuchExecutionProvider"):
        open_session(doubling, 1, "cuda")


@pytest.mark.skipif(gpu_count() > 0, reason="there is a CUDA device here")
def test_without_a_gpu_auto_is_the_processor_whatever_onnxruntime_is_installed(doubling):
    assert wanted_providers("auto") == ON_PROCESSOR
    assert open_session(doubling, 1, "auto").get_providers() == [CPU]


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_the_driver_is_not_started_where_cuda_cannot_be_used(monkeypatch, device):
    if device == "auto" and CUDA in onnxruntime.get_available_providers():
        pytest.skip("this onnxruntime has CUDA")

    def loaded(*_):
        raise AssertionError("the driver was asked for")

    monkeypatch.setattr(devices, "gpu_count", loaded)
    assert wanted_providers(device) == ON_PROCESSOR


@pytest.mark.gpu("onnxruntime")
def test_a_gpu_gives_what_the_processor_gives(doubling):
    session = open_session(doubling, 1, "cuda")
    assert runs_on_gpu(session)
    assert session.get_providers()[0] == CUDA
    assert run_session(session, {"x": np.float32([1, 2])}, doubling, (2,)).tolist() == [2, 4]
    assert CUDA in onnxruntime.get_available_providers()
