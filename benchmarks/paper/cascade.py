"""Time each method for one question: each stage alone, and both in one call.

    python -m benchmarks run cascade [--methods graph ours] [--repeats 5]

It asks IndustryTab-1K's 1,002 sheets one test question after another. Loading models and encoding
sheets are excluded, as in the paper. Missing models are trained first. Times on the processor;
`run gpu` has those of a GPU. See `benchmarks.paper.trained` for the other options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from benchmarks.gpu.device import choose
from benchmarks.paper.trained import TRAINING, changed, training_results
from benchmarks.progress import progress_bar
from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from benchmarks.training.corpus import STANDARD_SEED, dataset_of, index_of
from benchmarks.training.encoders import ENCODERS
from benchmarks.training.methods import RECIPES
from benchmarks.training.plan import Corpus
from benchmarks.training.rank import method_of
from benchmarks.training.runner import Places, encoder_folder, trained
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.encoder.source import MINILM
from sat_retriever.evaluation.latency import REPEATS, Latency, latency

TIMED = {name: recipe for name, recipe in RECIPES.items() if recipe.llm is None}


def timed(name: str, dataset: Dataset, corpus: Corpus, options: Any) -> Latency:
    """Time one method over the test questions."""
    places, recipe = Places(options.data, options.runs), changed(RECIPES[name], options.set)
    step = recipe.step(corpus, options.seed)
    if step is not None:
        trained(step, places)
    encoder, folder = encoder_folder(step, places, recipe.base)
    asked = [query.text for query in dataset.test]
    with (
        index_of(dataset, encoder, recipe.links, folder) as index,
        progress_bar(name, options.repeats * len(asked)) as progress,
    ):
        return latency(
            method_of(recipe, step, index, places),
            asked,
            repeats=options.repeats,
            progress=progress,
        )


def metrics_of(found: Latency) -> dict[str, float | int]:
    """Return times by name, in milliseconds: `joint_p50_ms`, `stage1_mean_ms` and so on."""
    times: Mapping[str, Any] = asdict(found)
    return {
        f"{part}_{name}_ms": round(value, 3)
        for part in ("joint", "stage1", "stage2")
        for name, value in (times[part] or {}).items()
    } | {"calls": found.calls}


@suite(
    "cascade",
    "data",
    "runs",
    "set",
    encoders=option([MINILM], "base encoders", choices=tuple(ENCODERS)),
    methods=option(None, "default: all of the encoders", nargs="+", choices=tuple(TIMED)),
    repeats=option(REPEATS, "rounds over all questions"),
    seed=option(STANDARD_SEED, "of the trained models"),
    **TRAINING,
)
def main(options: Options) -> Iterator[Result]:
    """Time every method."""
    choose("cpu")
    options.out = training_results(options)
    corpus = Corpus("industrytab_1k", "standard", STANDARD_SEED, options.limit)
    dataset = dataset_of(corpus, options.data)
    sizes = {"sheets": len(dataset.records), "queries": len(dataset.split.test)}
    own = [name for name, recipe in TIMED.items() if recipe.base in options.encoders]
    for name in options.methods or own:
        found = {**sizes, "device": "CPU", **metrics_of(timed(name, dataset, corpus, options))}
        yield Result(name, dataset.name, found, corpus.split, options.seed, data=dataset.files)
