"""A trained reranker as a folder: config.json with its spec, and model.onnx."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sat_retriever.errors import EncoderError, InputError
from sat_retriever.models.folder import read_folder, reading, write_folder
from sat_retriever.onnx.compact import compact_onnx
from sat_retriever.rank.graph.spec import GraphSpec

FORMAT = "sat-reranker"
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
    write_folder(target, FORMAT, spec.to_dict(), {MODEL: write_model})


def read_graph_folder(folder: Path) -> GraphSpec:
    """The spec of a folder, after its format, fingerprint and hashes were checked.

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
    """Write a copy of a reranker, for its own encoder or for one that learnt on from it.

    Args:
        source: A reranker folder.
        target: The folder; a reranker or an empty folder there is replaced.
        encoder: Fingerprint of the encoder whose tokens the copy is to order; None leaves its
            own. How well it orders those, and where a complete answer of them ends
            (`complete_share` is copied), is for the caller to measure.

    Raises:
        EncoderError: If the source is no reranker, or the target cannot be written.
    """
    spec = read_graph_folder(source)
    if encoder is not None:
        spec = replace(spec, encoder=encoder)

    def copy_model(file: Path) -> None:
        shutil.copyfile(source / MODEL, file)

    write_graph_folder(target, spec, copy_model)


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
