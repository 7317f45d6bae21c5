"""Measure the difficulty of a made corpus's questions: BM25, dense and fused, by type.

    python -m benchmarks run synth_quality [--scale 2000] [--queries 800]

A corpus would teach nothing if any search, or none, answered its questions. If one naming
convention were much easier than the others, a model would learn the convention. The ranked records
are those of `sheets.json`, as with the published corpora.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.results import Result
from benchmarks.runner import Options, suite
from benchmarks.unlabelled.quality import METHODS, QuerySet, Run, build_index, rank_all, score
from sat_retriever.datasets.dataset import Dataset, load_industrytab
from sat_retriever.encoder import SheetEncoder
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import SynthOptions
from sat_retriever.synth.plan.plan import Plan
from sat_retriever.synth.plan.scales import scale, years
from sat_retriever.synth.unit import unit_books
from sat_retriever.synth.words.vocabulary import Vocabulary

METRICS = ("NDCG@10", "Recall@10")
FEWEST = 10  # queries of a group whose mean is shown


def conventions(options: SynthOptions) -> Iterator[str]:
    """Yield the naming convention of each sheet of a corpus, in the order of their numbers."""
    size = scale(options.scale)
    words = Vocabulary.load()
    plan = Plan(size, years(options.years), options.companies, options.seed, words)
    for unit in plan.units():
        for book, _ in unit_books(unit, fabricated=size.fabricated):
            yield from (book.convention for _ in book.sheets)


def groups(dataset: Dataset, named: Sequence[str]) -> dict[str, list[int]]:
    """Return query places by group: all, each type, each convention shared by all positives."""
    found: dict[str, list[int]] = defaultdict(list)
    for place, query in enumerate(dataset.queries):
        found["all"].append(place)
        found[f"type {query.query_type}"].append(place)
        shared = {named[int(sheet)] for sheet in query.positives}
        if len(shared) == 1:
            found[f"convention {shared.pop()}"].append(place)
        else:
            found["convention: several"].append(place)
    order = sorted(found, key=lambda name: (name != "all", not name.startswith("type"), name))
    return {name: found[name] for name in order if len(found[name]) >= FEWEST}


def measured(dataset: Dataset, run: Run, grouped: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Return the means of every group."""
    found: dict[str, Any] = {"sheets": len(dataset.records), "queries": len(dataset.queries)}
    for name, places in grouped.items():
        scores = score(QuerySet(dataset, name, tuple(places)), run)
        shown = (*METRICS, "MRR", "HN-FPR@1") if name == "all" else METRICS
        if name != "all":
            found[f"queries, {name}"] = len(places)
        found |= {
            metric if name == "all" else f"{metric}, {name}": scores[metric] for metric in shown
        }
    return found


def measure(dataset: Dataset, named: Sequence[str], seed: int) -> list[Result]:
    """Return one result per method."""
    grouped = groups(dataset, named)
    whole = QuerySet(dataset, "all", tuple(range(len(dataset.queries))))
    results = []
    with (
        tempfile.TemporaryDirectory() as folder,
        build_index(dataset, Path(folder) / "index.sat", SheetEncoder.load("minilm")) as index,
    ):
        for method, weight in METHODS.items():
            found = measured(dataset, rank_all(index, [whole], weight), grouped)
            name = method if method == "bm25" else f"{method}_minilm"
            results.append(Result(name, dataset.name, found, seed=seed))
    return results


@suite("synth_quality", scale="2000", queries=800, seed=0)
def main(options: Options) -> Iterator[Result]:
    """Make and rank."""
    wanted = SynthOptions(options.scale, options.seed, queries=options.queries)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / f"made_{options.scale.replace('-', '_')}"
        synthesize(made, wanted)
        dataset = load_industrytab(made)
        for result in measure(dataset, list(conventions(wanted)), options.seed):
            yield replace(result, data=dataset.files)
