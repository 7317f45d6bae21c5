"""The weights that an index's own encoder goes on learning from."""

from __future__ import annotations

import re
from pathlib import Path

from sat_retriever.encoder.expand import expanded
from sat_retriever.encoder.folder import is_model_folder, read_model_folder
from sat_retriever.errors import EncoderError
from sat_retriever.packaged import is_packaged
from sat_retriever.training.encodertask import SENTENCE_TRANSFORMERS

_PRECISION = re.compile(r":(?:int8|compact)$")


def start_of(encoder: str) -> str:
    """What a training of Stage 1 starts from, to go on from an encoder.

    An exported encoder runs and does not learn: what it was exported from is taken from beside
    it, where a training leaves it, or else out of its file, if that says what it was.

    Args:
        encoder: Name of an index's encoder.

    Raises:
        EncoderError: If it was exported, and its weights are not to be had.
        MissingExtraError: If a package that takes them out of the file is not installed.
    """
    name = _PRECISION.sub("", encoder)
    if is_packaged(name) or not is_model_folder(Path(name)):
        return name
    beside = Path(name).parent / SENTENCE_TRANSFORMERS
    if beside.is_dir():
        return str(beside)
    try:
        return str(expanded(read_model_folder(Path(name))))
    except EncoderError as error:
        raise EncoderError(
            f"{error}; name it, or another model, with --backbone, for example 'general'"
        ) from error
