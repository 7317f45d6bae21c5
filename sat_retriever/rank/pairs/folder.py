"""Write and read a Cross-Encoder as a folder: config.json, tokenizer.json and model.onnx."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from sat_retriever.encoder.models.folder import read_folder, write_folder
from sat_retriever.errors import EncoderError
from sat_retriever.rank.pairs.spec import PairSpec

FORMAT = "sat-cross-encoder"
MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"


def write_pair_folder(
    target: Path, spec: PairSpec, tokenizer: Path, write_model: Callable[[Path], None]
) -> None:
    """Write a folder that `CrossEncoder.load` reads; after a failure the old one is unchanged.

    Args:
        target: The folder; an existing Cross-Encoder or empty folder is replaced.
        spec: The form of pairs and of their scores.
        tokenizer: The `tokenizer.json` to copy.
        write_model: Writes the ONNX file to a given path.

    Raises:
        EncoderError: If it cannot be written, or something else is at that path.
    """

    def copy(draft: Path) -> None:
        shutil.copyfile(tokenizer, draft)

    write_folder(target, FORMAT, spec.to_dict(), {TOKENIZER: copy, MODEL: write_model})


def read_pair_folder(folder: Path) -> PairSpec:
    """Return the spec of a folder after checking its format and hashes.

    Raises:
        EncoderError: If it is missing, incomplete, damaged, or of another kind or format.
    """
    values = read_folder(folder, FORMAT)
    try:
        return PairSpec.from_dict(values)
    except EncoderError as error:
        raise EncoderError(
            f"{folder} holds a Cross-Encoder that cannot be used: {error}"
        ) from error
