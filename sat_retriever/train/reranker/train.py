"""Train a reranker of any kind, chosen by its settings, in a run folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sat_retriever.datasets.labels import Query
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.progress import Progress
from sat_retriever.train.loop.state import OnProgress
from sat_retriever.train.reranker.candidatesets import CandidateSets, candidate_sets
from sat_retriever.train.reranker.cross_encoder import train_cross_encoder
from sat_retriever.train.reranker.featurelists import FeatureLists, feature_lists
from sat_retriever.train.reranker.features import train_features
from sat_retriever.train.reranker.graph import train_graph
from sat_retriever.train.reranker.pairlists import PairLists, pair_lists
from sat_retriever.train.reranker.run import TrainedReranker
from sat_retriever.train.settings import CrossEncoderTraining, FeatureTraining, RerankerTraining

Lists = CandidateSets | FeatureLists | PairLists
Settings = RerankerTraining | FeatureTraining | CrossEncoderTraining

_TRAINERS: Mapping[type[Settings], Callable[..., TrainedReranker]] = {
    FeatureTraining: train_features,
    RerankerTraining: train_graph,
    CrossEncoderTraining: train_cross_encoder,
}


def gather(
    index: SheetIndex,
    queries: Sequence[Query],
    settings: Settings,
    *,
    progress: Progress | None = None,
) -> Lists:
    """Find the candidates of labelled questions in an index, as a training reads them.

    To train without held-out sheets, pass an index without them for the training questions.

    Raises:
        EmptyInputError: If there is no question, or the index has no sheet.
        InputError: If a setting is out of its range, or the index lacks a sheet that is needed.
        EncoderError: If the index's encoder cannot be loaded.
    """
    if isinstance(settings, FeatureTraining):
        return feature_lists(index, queries, progress=progress)
    if isinstance(settings, RerankerTraining):
        return candidate_sets(index, queries, settings, progress=progress)
    return pair_lists(index, queries, settings, progress=progress)


def train_reranker(  # noqa: PLR0913 - data, settings, the two possible starts, and the device
    train: Lists,
    validation: Lists,
    settings: Settings,
    folder: str | Path,
    *,
    base: str | Path | None = None,
    start_from: str | Path | None = None,
    data_name: str = "",
    device: Device = "auto",
    progress: OnProgress | None = None,
) -> TrainedReranker:
    """Train the reranker that the settings are of; the same call goes on after a kill.

    Args:
        train: Questions to learn from; see `gather`.
        validation: Questions to choose the epoch with, gathered in the same way.
        settings: All hyper-parameters.
        folder: Run folder; a new one, or that of the same training.
        base: Run folder of a graph's training whose base scorer is used as it is, for a graph.
        start_from: Folder of a reranker of this kind that gives the initial weights. A
            Cross-Encoder starts from its backbone.
        data_name: Name of the data, for the reader of the run folder.

    Raises:
        InputError: If the lists were gathered with other settings, or are too few.
        EncoderError: If `start_from` or the backbone cannot be used.
        TrainingError: If the folder holds another training, `start_from` does not fit, torch has
            no such device, that device lacks the precision, or the loss is not finite.
        MissingExtraError: If an optional package is missing; the message names the command.
        OutputError: If the folder cannot be written.
    """
    starts = {"base": base, "start_from": start_from}
    given: dict[str, Any] = {name: Path(each) for name, each in starts.items() if each}
    taken = {RerankerTraining: {"base", "start_from"}, FeatureTraining: {"start_from"}}
    if wrong := given.keys() - taken.get(type(settings), ()):
        raise InputError(f"a training with {type(settings).__name__} takes no {min(wrong)}")
    given |= {"data_name": data_name, "device": device, "progress": progress}
    return _TRAINERS[type(settings)](train, validation, settings, folder, **given)
