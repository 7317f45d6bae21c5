"""The measurements on a GPU: quality and latency of each recipe, training steps, encoding."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.gpu.device import synchronise
from benchmarks.paper.cascade import metrics_of
from benchmarks.speed.latency import records
from benchmarks.speed.train_speed import step_seconds
from benchmarks.training.corpus import index_of
from benchmarks.training.methods import Recipe
from benchmarks.training.plan import Corpus
from benchmarks.training.rank import method_of
from benchmarks.training.runner import Places, encoder_folder, trained
from benchmarks.training.score import scored
from benchmarks.unlabelled.quality import QuerySet
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.encoder import SheetEncoder
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.evaluation.latency import latency
from sat_retriever.text.serialize import serialize
from sat_retriever.train.settings import (
    CROSS_ENCODER_PRESETS,
    ENCODER_PRESETS,
    RERANKER_PRESETS,
    EncoderTraining,
    Precision,
)

_ENCODER, _PAIRS = ENCODER_PRESETS["paper"], CROSS_ENCODER_PRESETS["paper"]
_RERANKER = RERANKER_PRESETS["industrytab_1k"]
_WARM_UP = 200  # sheets encoded before the clock starts


@dataclass(frozen=True, slots=True)
class Ground:
    """What every measurement needs.

    Attributes:
        corpus: Corpus and split of the trainings.
        dataset: Its sheets and questions.
        places: Folders of data and trained models.
        device: "cuda", or "cpu" for a trial of the command.
        seed: Seed of the trainings.
    """

    corpus: Corpus
    dataset: Dataset
    places: Places
    device: Device
    seed: int


def paper_recipes(backbone: str) -> dict[str, Recipe]:
    """Return the paper's recipes with a backbone, in the order of the cascade.

    Args:
        backbone: Folder or name of the model.
    """
    encoder = replace(_ENCODER, backbone=backbone)
    pairs = replace(_PAIRS, backbone=backbone)
    return {
        "stage1": Recipe("paper's recipe: Stage 1", encoder),
        "base": Recipe("+ base scorer", encoder, replace(_RERANKER, layers=0)),
        "graph": Recipe("+ GNN (SAT)", encoder, _RERANKER),
        "cross": Recipe("Stage 1 + Cross-Encoder", encoder, cross_encoder=pairs),
    }


def cascade(name: str, recipe: Recipe, ground: Ground, repeats: int) -> dict[str, Any]:
    """Train a recipe, and return its quality, its costs, and its times by the paper's protocol.

    Args:
        name: Name of the method.
        recipe: The recipe.
        ground: Data, folders and device.
        repeats: Timed rounds over all test questions.
    """
    dataset, places = ground.dataset, ground.places
    step = recipe.step(ground.corpus, ground.seed)
    if step is not None:
        trained(step, places)
    asked = QuerySet(dataset, ground.corpus.split, dataset.split.test)
    found = scored(name, recipe, step, asked, places, keep="nothing").metrics
    encoder, folder = encoder_folder(step, places)
    texts = [query.text for query in dataset.test]
    with index_of(dataset, encoder, recipe.links, folder) as index:
        method = method_of(recipe, step, index, places)
        times = latency(method, texts, repeats=repeats, synchronise=synchronise)
    settings = {key: _without_folder(each) for key, each in found["settings"].items()}
    return {**found, "settings": settings, **metrics_of(times)}


def encoder_of(recipe: Recipe, precision: Precision) -> EncoderTraining:
    """Return the settings of a recipe's Stage 1 in a precision.

    Raises:
        ValueError: If it trains none.
    """
    if recipe.encoder is None:
        raise ValueError(f"{recipe.title} trains no encoder")
    return replace(recipe.encoder, precision=precision)


def training_steps(settings: EncoderTraining, dataset: Dataset, steps: int) -> dict[str, Any]:
    """Return the seconds of a step of Stage 1, with the GPU's work at its end."""
    taken = step_seconds(settings, dataset, steps)
    return {
        "timed_steps": len(taken),
        "questions": settings.batch_size,
        "step_s": round(statistics.median(taken), 4),
        "fastest_s": round(min(taken), 4),
        "slowest_s": round(max(taken), 4),
    }


def encoding(recipe: Recipe, ground: Ground, sheets: int) -> dict[str, Any]:
    """Return the time to encode made sheets with the trained Stage 1."""
    step = recipe.step(ground.corpus, ground.seed)
    folder, _ = encoder_folder(step, ground.places)
    if step is None:
        raise ValueError("the recipe trains no encoder")
    trained(step, ground.places)
    encoder = SheetEncoder.load(folder, device=ground.device)
    texts = [serialize(record) for record in records(sheets)]
    encoder.encode_sheets(texts[:_WARM_UP])
    synchronise()
    start = time.perf_counter()
    encoder.encode_sheets(texts)
    seconds = time.perf_counter() - start
    return {
        "sheets": sheets,
        "encode_s": round(seconds, 2),
        "sheets_per_s": round(sheets / seconds, 1),
        "width": encoder.width,
    }


def _without_folder(settings: Any) -> Any:
    """Return settings with the name of the backbone alone, without its folder on this machine."""
    if not isinstance(settings, Mapping) or "backbone" not in settings:
        return settings
    return {**settings, "backbone": str(settings["backbone"]).rstrip("/").rpartition("/")[2]}
