"""Write and read a trained reranker as a folder: config.json with its spec, and model.onnx."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sat_retriever.encoder.models.folder import read_folder, reading, write_folder
from sat_retriever.encoder.onnx.compact import compact_onnx
from sat_retriever.errors import EncoderError, InputError
from sat_retriever.rank.graph.spec import GraphSpec

FORMAT = "sat-reranker"
MODEL = "model.onnx"


def write_graph_folder(target: Path, spec: GraphSpec, write_model: Callable[[Path], None]) -> None:
    """Write a folder that `GraphModel.load` reads; after a failure the old one is unchanged.

    Args:
        target: The folder; an existing reranker or empty folder is replaced.
        spec: The inputs of the model.
        write_model: Writes the ONNX file to a given path.

    Raises:
        EncoderError: If it cannot be written, or something else is at that path.
    """
    write_folder(target, FORMAT, spec.to_dict(), {MODEL: write_model})


def read_graph_folder(folder: Path) -> GraphSpec:
    """Return the spec of a folder after checking its format, fingerprint and hashes.

    Raises:
        EncoderError: If it is missing, incomplete, damaged, or of another kind or format.
    """
    values = read_folder(folder, FORMAT)
    try:
        with reading(folder, FORMAT):
            return GraphSpec.from_dict(values)
    except InputError as error:
        raise EncoderError(f"{folder} holds a reranker that cannot be used: {error}") from error


def copy_graph_folder(source: Path, target: Path, *, encoder: str | None = None) -> None:
    """Copy a reranker, for its own encoder or for one trained further from it.

    Args:
        source: A reranker folder.
        target: The folder; an existing reranker or empty folder is replaced.
        encoder: Fingerprint of the encoder whose tokens the copy will order; None keeps its own.
            The caller must measure how well it orders them, and how well the copied
            `complete_share` fits.

    Raises:
        EncoderError: If the source is not a reranker, or the target cannot be written.
    """
    spec = read_graph_folder(source)
    if encoder is not None:
        spec = replace(spec, encoder=encoder)

    def copy_model(file: Path) -> None:
        shutil.copyfile(source / MODEL, file)

    write_graph_folder(target, spec, copy_model)


def compact_graph_folder(source: Path, target: Path) -> None:
    """Copy a reranker in half the space: weights in half precision, computed in fp32.

    Args:
        source: A reranker folder.
        target: The folder; an existing reranker or empty folder is replaced.

    Raises:
        MissingExtraError: If onnx is not installed.
        EncoderError: If the source is not a reranker in fp32, or the target cannot be written.
    """
    spec = read_graph_folder(source)
    write_graph_folder(target, spec, lambda file: compact_onnx(source / MODEL, file, "train"))
