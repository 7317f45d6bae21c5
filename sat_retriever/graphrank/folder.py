"""A trained reranker as a folder: config.json with its spec, and model.onnx."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sat_retriever.errors import EncoderError, InputError
from sat_retriever.graphrank.spec import GraphSpec
from sat_retriever.modelfolder import read_folder, reading, write_folder
from sat_retriever.onnxcompact import compact_onnx

KIND = "sat-reranker"
MODEL = "model.onnx"


def write_graph_folder(target: Path, spec: GraphSpec, write_model: Callable[[Path], None]) -> None:
    """Write a folder that `GraphModel.load` reads: there complete, or as it was before.

    Args:
        target: The folder; a reranker or an empty folder there is replaced.
        spec: What the model reads.
        write_model: Writes the ONNX file to the path it is given.

    Raises:
        EncoderError: If it cannot be written, or something else is there.
    """
    write_folder(target, KIND, spec.to_dict(), {MODEL: write_model})


def read_graph_folder(folder: Path) -> GraphSpec:
    """The spec of a folder, after its format, fingerprint and hashes were checked.

    Raises:
        EncoderError: If it is missing, incomplete, damaged, or of another kind or format.
    """
    values = read_folder(folder, KIND)
    try:
        with reading(folder, KIND):
            return GraphSpec.from_dict(values)
    except InputError as error:
        raise EncoderError(f"{folder} holds a reranker that cannot be used: {error}") from error


def compact_graph_folder(source: Path, target: Path) -> None:
    """Write a copy of a reranker in half the space: its weights in half precision, run in fp32.

    Args:
        source: A reranker folder.
        target: The folder; a reranker or an empty folder there is replaced.

    Raises:
        MissingExtraError: If onnx is not installed.
        EncoderError: If the source is no reranker in fp32, or the target cannot be written.
    """
    spec = read_graph_folder(source)
    write_graph_folder(target, spec, lambda file: compact_onnx(source / MODEL, file, "train"))
