"""A Cross-Encoder as a folder: config.json, tokenizer.json and model.onnx, written in one step."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from sat_retriever.errors import EncoderError
from sat_retriever.models.folder import read_folder, write_folder
from sat_retriever.rank.pairs.spec import PairSpec

FORMAT = "sat-cross-encoder"
MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"


def write_pair_folder(
    target: Path, spec: PairSpec, tokenizer: Path, write_model: Callable[[Path], None]
) -> None:
    """Write a folder that `CrossEncoder.load` reads: there complete, or as it was before.

    Args:
        target: The folder; a Cross-Encoder or an empty folder there is replaced.
        spec: How pairs are read and scored.
        tokenizer: The `tokenizer.json` to copy.
        write_model: Writes the ONNX file to the path it is given.

    Raises:
        EncoderError: If it cannot be written, or something else is there.
    """

    def copy(draft: Path) -> None:
        shutil.copyfile(tokenizer, draft)

    write_folder(target, FORMAT, spec.to_dict(), {TOKENIZER: copy, MODEL: write_model})


def read_pair_folder(folder: Path) -> PairSpec:
    """The spec of a folder, after its format and hashes were checked.

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
