"""ONNX files that can be opened and run, and those that cannot."""

import numpy as np
import pytest

from sat_retriever import EncoderError, InputError
from sat_retriever.encoder.onnx.session import open_session, run_session, usable_threads
from sat_retriever.system import usable_cores


@pytest.mark.parametrize("threads", [1, 2])
def test_a_session_gives_the_first_output(doubling, threads):
    session = open_session(doubling, threads, "cpu")
    found = run_session(session, {"x": np.float32([1, 2])}, doubling, (2,))
    assert found.tolist() == [2, 4]


def test_a_file_that_is_no_model_is_named(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"no model")
    for name in ("model.onnx", "none.onnx"):
        with pytest.raises(EncoderError, match=f"cannot open .*{name}"):
            open_session(tmp_path / name, 1, "cpu")


@pytest.mark.parametrize("inputs", [{}, {"x": np.float32([[1]])}, {"z": np.float32([1])}])
def test_a_run_that_fails_names_the_file(doubling, inputs):
    with pytest.raises(EncoderError, match=r"failed on .*model\.onnx"):
        run_session(open_session(doubling, 1, "cpu"), inputs, doubling, (1,))


@pytest.mark.parametrize(
    ("given", "said"),
    [([1.0], r"gave shape \(1,\)"), ([1.0, np.nan], "gave NaN"), ([np.inf, 1.0], "gave NaN")],
)
def test_anything_but_as_many_numbers_as_are_due_is_an_error(doubling, given, said):
    session = open_session(doubling, 1, "cpu")
    with pytest.raises(EncoderError, match=rf"{said}.* shape \(2,\)"):
        run_session(session, {"x": np.float32(given)}, doubling, (2,))


def test_threads_are_those_asked_for_or_the_cores_that_are_there():
    assert usable_threads(None) == usable_cores()
    assert usable_threads(None, 1) == 1
    assert usable_threads(7, 4) == 7
    with pytest.raises(InputError, match="threads is 0"):
        usable_threads(0)
