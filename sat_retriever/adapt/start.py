"""What an adaptation starts from: weights of an encoder, and the reranker for its tokens."""

from __future__ import annotations

import re
from pathlib import Path

from sat_retriever.encoder.expand import expanded
from sat_retriever.encoder.folder import is_model_folder, read_model_folder
from sat_retriever.errors import EncoderError, TrainingError
from sat_retriever.graphrank.folder import read_graph_folder
from sat_retriever.graphrank.model import GraphModel
from sat_retriever.graphrank.rerank import GraphReranker
from sat_retriever.index import SheetIndex
from sat_retriever.packaged import is_packaged
from sat_retriever.retriever import own_reranker
from sat_retriever.training.encodertask import SENTENCE_TRANSFORMERS
from sat_retriever.training.scorer import BaseScorer, ScorerShape
from sat_retriever.training.scoreronnx import load_base
from sat_retriever.training.settings import RerankerTraining

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


def reranker_of(index: SheetIndex) -> GraphModel | None:
    """The trained reranker by which an index is searched, if it reads tokens.

    Over the tokens of an encoder that learnt on from the index's own it can be judged, and learn
    on, too.

    Raises:
        PathNotFoundError: If the index names a reranker that is not there.
        EncoderError: If it is damaged.
    """
    found = own_reranker(index)
    return found.model if isinstance(found, GraphReranker) else None


def stage_2_start(folder: Path | None, settings: RerankerTraining) -> Path | None:
    """The reranker whose base scorer a training of Stage 2 begins with; None for random weights.

    It does where it reads what the training is to read, and once learnt something: of weights
    that never did many are equal, and an exported file holds equal ones once, without names.

    Args:
        folder: A reranker folder, or None.
        settings: Of the training.

    Raises:
        EncoderError: If the folder is no reranker, or damaged.
        MissingExtraError: If an optional package is missing; names the command.
    """
    if folder is None:
        return None
    spec = read_graph_folder(folder)
    if (spec.start, spec.features) != (settings.start, settings.features):
        return None
    try:
        load_base(folder, BaseScorer(ScorerShape(spec.width, len(spec.features))))
    except TrainingError:
        return None
    return folder
