"""What an adaptation starts from: weights of an encoder, and the reranker for its tokens."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from sat_retriever.adapt.settings import OWN
from sat_retriever.encoder.expand import expanded
from sat_retriever.encoder.folder import is_model_folder, read_model_folder
from sat_retriever.errors import EncoderError, TrainingError
from sat_retriever.index.index import SheetIndex
from sat_retriever.models.packaged import is_packaged
from sat_retriever.rank.fingerprints import check_trained_on
from sat_retriever.rank.graph.folder import read_graph_folder
from sat_retriever.rank.graph.graphrank import GRAPH
from sat_retriever.rank.load import located_reranker, own_reranker_name
from sat_retriever.rank.registry import untrained_kind
from sat_retriever.training.encoder.encodertask import SENTENCE_TRANSFORMERS
from sat_retriever.training.loop.runfolder import CONFIG
from sat_retriever.training.reranker.scoreronnx import base_weights
from sat_retriever.training.settings import RerankerTraining

_PRECISION = re.compile(r":(?:int8|compact)$")


def start_of(encoder: str) -> str:
    """What a training of Stage 1 starts from, to go on from an encoder.

    An exported encoder runs and does not learn: what it was exported from is taken from beside
    it, where a training's run folder has it, or else out of its file, if that says what it was.

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
    if (Path(name).parent / CONFIG).is_file() and beside.is_dir():
        return str(beside)
    try:
        return str(expanded(read_model_folder(Path(name))))
    except EncoderError as error:
        raise EncoderError(
            f"{error}; name it, or another model, with --backbone, for example 'general'"
        ) from error


def goes_on(index: SheetIndex, backbone: str) -> bool:
    """Whether Stage 1 goes on from the index's own encoder, called by its name or "own".

    Args:
        index: What is adapted.
        backbone: What Stage 1 starts from, see `AdaptSettings`.
    """
    return backbone in (OWN, _PRECISION.sub("", index.encoder_name))


def reranker_of(index: SheetIndex, backbone: str = OWN) -> Path | None:
    """Folder of the trained reranker of an index, if an adaptation can go on from it.

    It can if the reranker reads tokens of the encoder that Stage 1 goes on from.

    Args:
        index: What is adapted.
        backbone: What Stage 1 starts from, see `AdaptSettings`.

    Raises:
        PathNotFoundError: If the index names a reranker that is not there.
        InputError: If there is none in the folder that it names.
        EncoderError: If it is damaged.
        FingerprintMismatchError: If it was trained on other tokens or texts than the index has.
    """
    if not goes_on(index, backbone):
        return None
    name = own_reranker_name(index)
    if untrained_kind(name):
        return None
    kind, folder = located_reranker(name)
    check_trained_on(index, folder, kind.name, kind.trained_on(folder))
    return folder if kind.name == GRAPH.name else None


def stage_2_start(folder: Path, settings: RerankerTraining) -> Path | None:
    """A reranker, if a training of Stage 2 can begin with it; None begins with random weights.

    Args:
        folder: A reranker folder.
        settings: Of the training.

    Raises:
        EncoderError: If the folder is no reranker, or damaged.
        MissingExtraError: If an optional package is missing; names the command.
    """
    wanted = replace(read_graph_folder(folder), start=settings.start, features=settings.features)
    try:
        base_weights(folder, wanted)
    except TrainingError:
        return None
    return folder
