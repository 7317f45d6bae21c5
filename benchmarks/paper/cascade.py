"""Time each method for one question: each stage alone, and both in one call.

    python -m benchmarks run cascade [--methods graph ours] [--repeats 5]

It asks IndustryTab-1K's 1,002 sheets one test question after another. Loading models and encoding
sheets are excluded, as in the paper. Missing models are trained first. Times on the processor;
`run gpu` has those of a GPU. See `benchmarks.paper.trained` for the other options.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.gpu.device import choose
from benchmarks.paper.trained import changed, parser, results_folder
from benchmarks.results import Result, write_result
from benchmarks.training.corpus import STANDARD_SEED, dataset_of, index_of
from benchmarks.training.methods import RECIPES
from benchmarks.training.plan import Corpus
from benchmarks.training.rank import method_of
from benchmarks.training.runner import Places, encoder_folder, trained
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.evaluation.latency import REPEATS, Latency, latency

BENCHMARK = "cascade"
TIMED = tuple(name for name, recipe in RECIPES.items() if recipe.llm is None)


def timed(name: str, dataset: Dataset, corpus: Corpus, options: Any) -> Latency:
    """Time one method over the test questions."""
    places, recipe = Places(options.data, options.runs), changed(RECIPES[name], options.set)
    step = recipe.step(corpus, options.seed)
    if step is not None:
        trained(step, places)
    encoder, folder = encoder_folder(step, places)
    asked = [query.text for query in dataset.test]
    console = Console(stderr=True)
    with (
        index_of(dataset, encoder, recipe.links, folder) as index,
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
        task = bar.add_task(name, total=None)
        return latency(
            method_of(recipe, step, index, places),
            asked,
            repeats=options.repeats,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )


def metrics_of(found: Latency) -> dict[str, float | int]:
    """Return times by name, in milliseconds: `joint_p50_ms`, `stage1_mean_ms` and so on."""
    times: Mapping[str, Any] = asdict(found)
    return {
        f"{part}_{name}_ms": round(value, 3)
        for part in ("joint", "stage1", "stage2")
        for name, value in (times[part] or {}).items()
    } | {"calls": found.calls}


def main(arguments: Sequence[str] | None = None) -> None:
    """Time every method, write a result file each, print the table."""
    made = parser(__doc__)
    made.add_argument("--methods", nargs="+", choices=TIMED, default=list(TIMED))
    made.add_argument("--repeats", type=int, default=REPEATS, help="rounds over all questions")
    made.add_argument("--seed", type=int, default=STANDARD_SEED, help="of the trained models")
    options = made.parse_args(arguments)
    choose("cpu")
    corpus = Corpus("industrytab_1k", "standard", STANDARD_SEED, options.limit)
    dataset = dataset_of(corpus, options.data)
    table = Table(title="One question, ms", box=None)
    for heading in ("method", "p50", "p95", "mean", "Stage 1 p50", "Stage 2 p50"):
        table.add_column(heading, justify="left" if heading == "method" else "right")
    for name in options.methods:
        found = metrics_of(timed(name, dataset, corpus, options))
        sizes = {"sheets": len(dataset.records), "queries": len(dataset.split.test)}
        metrics = {**sizes, "device": "CPU", **found}
        result = Result(name, dataset.name, metrics, corpus.split, options.seed)
        data = dataset.files
        write_result(BENCHMARK, result, data=data, folder=results_folder(options))
        columns = (
            "joint_p50_ms",
            "joint_p95_ms",
            "joint_mean_ms",
            "stage1_p50_ms",
            "stage2_p50_ms",
        )
        table.add_row(
            RECIPES[name].title, *(f"{found[c]:.2f}" if c in found else "" for c in columns)
        )
    Console(width=None if sys.stdout.isatty() else 120).print(table)
