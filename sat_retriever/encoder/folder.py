"""Write and read an exported encoder as a folder.

A folder holds `config.json` (format number, fingerprint, spec, hash of the model), `tokenizer.json`
and `model.onnx`; `encoder/models/folder.py` says how it is written and checked. A fine-tuned
encoder can state in `dense_weight` how much its cosine should count beside the words.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_retriever.encoder.checkpoint import architecture_hash
from sat_retriever.encoder.models.folder import (
    Hashes,
    check_files,
    damaged,
    is_folder,
    read_config,
    reading,
    write_described,
)
from sat_retriever.encoder.spec import EncoderSpec
from sat_retriever.errors import EncoderError

_KIND = "sat-encoder"


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A complete, verified folder of an exported encoder."""

    path: Path
    spec: EncoderSpec
    # Share of its cosine in the fused score, in [0, 1]; None if not stated.
    dense_weight: float | None = None
    # The `config.json` of the transformer that it was exported from, which is needed to train its
    # weights further (`expand_folder`); None if it is not recorded.
    transformer: Mapping[str, Any] | None = None

    @property
    def model(self) -> Path:
        """The ONNX file."""
        return self.path / "model.onnx"

    @property
    def tokenizer(self) -> Path:
        """The tokenizer file."""
        return self.path / "tokenizer.json"


def is_model_folder(folder: Path) -> bool:
    """True if this package wrote the folder, complete or not."""
    return is_folder(folder, _KIND)


def read_model_folder(folder: Path) -> ModelFolder:
    """Return the folder after checking its format, fingerprint and hashes; see `read_folder`."""
    config = read_config(folder, _KIND)
    with reading(folder, _KIND):
        spec = EncoderSpec(**config["spec"])
        hashes = {"model.onnx": config["model_sha256"], "tokenizer.json": spec.tokenizer}
        if config["fingerprint"] != spec.fingerprint:
            raise damaged(folder)
        dense_weight = config.get("dense_weight")
        _check_dense_weight(dense_weight, folder)
        transformer = config.get("transformer")
        if transformer is not None and architecture_hash(transformer) != spec.architecture:
            raise damaged(folder)
    check_files(folder, _KIND, hashes)
    return ModelFolder(folder, spec, dense_weight, transformer)


def write_model_folder(
    target: Path,
    spec: EncoderSpec,
    tokenizer: Path,
    write_model: Callable[[Path], None],
    *,
    dense_weight: float | None = None,
    transformer: Mapping[str, Any] | None = None,
) -> ModelFolder:
    """Write a folder in one step; after a failure the old one is unchanged; see `write_folder`."""
    _check_dense_weight(dense_weight, target)

    def copy_tokenizer(file: Path) -> None:
        shutil.copyfile(tokenizer, file)

    def describe(hashes: Hashes) -> dict[str, Any]:
        known = {"dense_weight": dense_weight, "transformer": transformer}
        said = {name: value for name, value in known.items() if value is not None}
        return {
            "fingerprint": spec.fingerprint,
            "model_sha256": hashes["model.onnx"],
            **said,
            "spec": spec.to_dict(),
        }

    writers = {"tokenizer.json": copy_tokenizer, "model.onnx": write_model}
    write_described(target, _KIND, writers, describe)
    return ModelFolder(target, spec, dense_weight, transformer)


def _check_dense_weight(value: object, folder: Path) -> None:
    if value is None or (isinstance(value, (int, float)) and 0 <= value <= 1):
        return
    raise EncoderError(f"{folder} gives dense_weight {value!r}; give a share from 0 to 1, or none")
