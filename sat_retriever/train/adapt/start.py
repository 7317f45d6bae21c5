"""Find what an adaptation starts from, and estimate how long it takes."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sat_retriever.encoder.folder import is_model_folder, read_model_folder
from sat_retriever.encoder.load import is_embedding
from sat_retriever.encoder.models.folder import is_packaged
from sat_retriever.encoder.source import expanded
from sat_retriever.errors import EncoderError, TrainingError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.features.featurerank import FEATURES
from sat_retriever.rank.graph.graphrank import GRAPH
from sat_retriever.rank.graph.spec import FORMAT, GraphSpec
from sat_retriever.rank.load import located_reranker, own_reranker_name, untrained_kind
from sat_retriever.rank.trained import TrainedKind, check_trained_on, read_spec
from sat_retriever.records.tokens import Encoder
from sat_retriever.text.serialize import serialize
from sat_retriever.train.adapt.questions import Material
from sat_retriever.train.adapt.settings import OWN, AdaptSettings
from sat_retriever.train.encoder.encodertask import SENTENCE_TRANSFORMERS
from sat_retriever.train.loop.runfolder import CONFIG
from sat_retriever.train.reranker.graph import base_weights
from sat_retriever.train.settings import FeatureTraining, RerankerTraining

_PRECISION = re.compile(r":(?:int8|compact)$")
_SAMPLE = 64  # sheets that are encoded for the estimate
_PASSES = 3  # over them; the fastest counts, since other programs may slow the rest
_TEXTS = 3  # per training question: itself, a relevant sheet, a hard negative
# Time of a text in training relative to a text that is only encoded: 17 ms against 8 ms on two
# cores, MiniLM, four of six layers trained.
_LEARNT = 2.2


def start_of(encoder: str) -> str:
    """Return the model from which Stage 1 trains an index's encoder further.

    An exported encoder cannot be trained. Its original is taken from beside it if a training's run
    folder has it, or else from the exported file, if that file describes its original; an
    EncoderError if neither has it.
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


def refuse_untrainable(index: SheetIndex, backbone: str) -> None:
    """Refuse to train an encoder further that runs on a server or in a framework's object."""
    if goes_on(index, backbone) and is_embedding(index.encoder_name):
        raise EncoderError(
            f"the weights of {index.encoder_name!r} are not here to be trained; train a reranker "
            "for it with --stage reranker, or name another model to start from with --backbone, "
            "for example 'general'"
        )


def goes_on(index: SheetIndex, backbone: str) -> bool:
    """True if Stage 1 starts from the index's own encoder, given by its name or as "own"."""
    return backbone in (OWN, _PRECISION.sub("", index.encoder_name))


def reranker_of(index: SheetIndex, backbone: str = OWN) -> tuple[TrainedKind, Path] | None:
    """Return the kind and folder of an index's trained reranker, if it has one.

    It counts only if Stage 1 starts from the encoder whose tokens it was trained on. It is refused
    if it is missing or damaged, or was trained on other tokens or texts than the index has.
    """
    if not goes_on(index, backbone):
        return None
    name = own_reranker_name(index)
    if untrained_kind(name):
        return None
    kind, folder = located_reranker(name)
    check_trained_on(index, folder, kind.command, kind.trained_on(folder))
    return kind, folder


def stage_2_of(
    before: tuple[TrainedKind, Path] | None, settings: AdaptSettings
) -> tuple[FeatureTraining | RerankerTraining, Path | None]:
    """Return the settings of Stage 2, and the reranker of these tokens that it starts from, if any.

    A feature reranker, such as the one of this package, is trained further. Otherwise the graph
    is trained; it starts from one with the same inputs.
    """
    kind, folder = before or (None, Path())
    if kind is FEATURES:
        return settings.feature_training(), folder
    graph = settings.reranker_training()
    if kind is not GRAPH:
        return graph, None
    spec = read_spec(folder, FORMAT, GraphSpec)
    try:
        base_weights(folder, replace(spec, start=graph.start, features=graph.features))
    except TrainingError:
        return graph, None
    return graph, folder


def estimated_seconds(index: SheetIndex, material: Material, settings: AdaptSettings) -> float:
    """Return a rough guess of the seconds of Stage 1's training on a processor, most of all."""
    records = index.records(index.sheet_ids()[:: max(1, len(index) // _SAMPLE)])
    texts = [serialize(record, index.serialization) for record in records.values()]
    encoder = index.encoder
    encoder.encode_sheets(texts[:1])  # the first call takes longer
    a_text = min(_seconds(encoder, texts) for _ in range(_PASSES)) / len(texts)
    validated = len(index) + len(material.choose)
    learnt = _TEXTS * len(material.train)
    an_epoch = validated + len(material.train) + _LEARNT * learnt
    return a_text * (settings.epochs * an_epoch + 2 * validated)  # before, and with mixed weights


def _seconds(encoder: Encoder, texts: Sequence[str]) -> float:
    begun = time.perf_counter()
    encoder.encode_sheets(texts)
    return time.perf_counter() - begun
