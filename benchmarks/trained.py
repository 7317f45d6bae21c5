"""Both stages trained on IndustryTab-1K: the paper's recipe and ours, beside untrained rankings.

    python -m benchmarks.trained --split standard --seeds 42 43 44
    python -m benchmarks.trained --split grouped --seeds 42 43 44

Trains what has not been trained yet, each step in a process of its own, and scores the test
queries. Trained models are kept below `--runs`; a result is written as soon as it is there, and
is not made again without `--again`. With `--set` or `--limit` results are trials: they are
written below `--runs` and never shown.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmarks import results
from benchmarks.results import Result, write_result
from benchmarks.train_corpus import index_of, numbers, source_of
from benchmarks.train_methods import METHODS, Method
from benchmarks.train_plan import Corpus, Step, overridden
from benchmarks.train_rank import ranked, ranking
from benchmarks.train_runner import Places, costs, encoder_folder, trained
from benchmarks.train_score import metrics_of, rows_of
from sat_retriever.training.sources import Source

BENCHMARK = "trained"
STANDARD_SEED = 42  # of the standard split, whatever the training seed


def result_of(
    method: Method, name: str, corpus: Corpus, source: Source, places: Places, seed: int
) -> Result:
    """One method trained, if need be, and scored on the test queries."""
    step = method.step(corpus, seed)
    if step is not None:
        trained(step, places)
    found = scored(method, step, source, places)
    own = None if step is None and corpus.split == "standard" else seed
    return replace(found, method=name, split=corpus.split, seed=own)


def scored(method: Method, step: Step | None, source: Source, places: Places) -> Result:
    """A ranking's metrics and rows on the test queries of its corpus."""
    start = time.perf_counter()
    dataset = source.dataset
    encoder, folder = encoder_folder(step, places)
    with index_of(dataset, encoder, method.links, folder) as index:
        rank = ranking(index, step, method.dense_weight, places)
        queries = {place: dataset.queries[place] for place in source.split.test}
        rows = rows_of(queries, ranked(rank, queries), numbers(index.sheet_ids()))
    found: dict[str, Any] = {
        **metrics_of(rows),
        "queries": len(rows),
        "settings": settings_of(method, step),
        "steps": {} if step is None else costs(step, places),
        "evaluation_s": round(time.perf_counter() - start, 1),
    }
    return Result("", dataset.name, found, per_query=rows)


def settings_of(method: Method, step: Step | None) -> dict[str, Any]:
    """All that decides a ranking, as JSON gives it back: hyper-parameters by what they train."""
    found: dict[str, Any] = {"links": method.links}
    if method.variant:
        found["variant"] = method.variant
    if step is None or step.kind == "encoder":
        found["dense_weight"] = method.dense_weight
    while step is not None:
        found[step.kind] = asdict(step.settings)
        step = step.encoder
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def changed(method: Method, changes: Sequence[str]) -> Method:
    """The method with overridden settings."""
    parts = {
        name: overridden(settings, changes)
        for name in ("encoder", "reranker", "cross_encoder")
        if (settings := getattr(method, name)) is not None
    }
    return replace(method, **parts)  # type: ignore[arg-type]


def parser(description: str | None) -> argparse.ArgumentParser:
    """The options that all benchmarks of training share."""
    made = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    made.add_argument("--data", type=Path, default=Path("../shared/data"))
    made.add_argument("--runs", type=Path, default=Path("runs"), help="trained models")
    made.add_argument("--again", action="store_true", help="score anew what has a result")
    made.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="for trials")
    made.add_argument("--limit", type=int, help="training questions used, for trials")
    return made


def results_folder(options: argparse.Namespace) -> Path:
    """Where results go: trials never get among the committed ones."""
    trial = bool(options.set) or options.limit is not None
    folder: Path = options.runs / "results" if trial else results.FOLDER
    return folder


def is_done(path: Path, settings: Mapping[str, Any]) -> bool:
    """Whether a result file is there, with a line that says so.

    Raises:
        SystemExit: If it was made with other settings.
    """
    if not path.is_file():
        return False
    stored = json.loads(path.read_text(encoding="utf-8"))["metrics"]["settings"]
    if stored != settings:
        sys.exit(f"{path} was made with other settings; make it --again, or remove it")
    print(f"{path.name} is there already", flush=True)
    return True


def say(result: Result) -> None:
    """One line for the terminal."""
    found = result.metrics
    shown = ("NDCG@5", "Recall@5", "Hit@5", "MRR@5", "HN-FPR@1")
    cells = " ".join(f"{name} {found[name]:.4f}" for name in shown if found[name] is not None)
    print(f"{result.method}.{result.split}.{result.seed}: {cells}", flush=True)


def run(
    benchmark: str,
    methods: Mapping[str, Method],
    corpus: Corpus,
    seed: int,
    options: argparse.Namespace,
) -> None:
    """Train and score each method with one seed, and write its result as soon as it is there."""
    places, folder = Places(options.data, options.runs), results_folder(options)
    source = source_of(corpus, options.data)
    for name, plain in methods.items():
        method = changed(plain, options.set)
        fixed = method.encoder is None and corpus.split == "standard"
        ending = "" if fixed else f".{seed}"
        path = folder / benchmark / f"{name}.{corpus.name}.{corpus.split}{ending}.json"
        settings = settings_of(method, method.step(corpus, seed))
        if not options.again and is_done(path, settings):
            continue
        found = result_of(method, name, corpus, source, places, seed)
        write_result(benchmark, found, data=source.dataset.files, folder=folder)
        say(found)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, score, write a result file a method and seed."""
    made = parser(__doc__)
    made.add_argument("--split", choices=("standard", "grouped"), default="standard")
    made.add_argument("--seeds", type=int, nargs="+", default=[42, 43, 44])
    made.add_argument("--methods", nargs="+", choices=tuple(METHODS), default=list(METHODS))
    options = made.parse_args(arguments)
    chosen = {name: METHODS[name] for name in options.methods}
    for seed in options.seeds:
        drawn = seed if options.split == "grouped" else STANDARD_SEED
        corpus = Corpus("industrytab_1k", options.split, drawn, options.limit)
        run(BENCHMARK, chosen, corpus, seed, options)


if __name__ == "__main__":
    main()
