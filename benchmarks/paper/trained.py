"""Measure every method on IndustryTab-1K: language models, the paper's recipe, ours, plain ones.

    python -m benchmarks run main --seeds 42 43 44
    python -m benchmarks run grouped --seeds 42 43 44
    python -m benchmarks run main --methods llm_only rag_llm --llm qwen3.5:9b
    python -m benchmarks run main --corpus industrytab_614
    python -m benchmarks run main --corpus my-corpus        # made by `sat synth --out my-corpus`
    python -m benchmarks run main --quick                   # a quick trial, two minutes

Missing models are trained, each step in its own process, and then the test queries are scored.
Trained models and whole answers are kept in `--runs`. A result is written as soon as it is
complete, and is made again only with `--again`. Language models are asked only with `--llm`; one
that does not answer has no row, the reason is printed, and the command ends with exit status 1. A
stopped run goes on where it was. With `--set`, `--limit` or `--quick` results are trials: they are
written to `--runs` and never shown in the README.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import results
from benchmarks.corpora import INDUSTRYTAB_1K, PUBLISHED
from benchmarks.paper.quick import make_quick
from benchmarks.results import (
    Result,
    data_hash,
    name_of,
    read_results,
    read_summaries,
    write_result,
)
from benchmarks.tables.breakdown import Files
from benchmarks.tables.main import HEADINGS, main_rows
from benchmarks.training.corpus import corpus_of, dataset_of
from benchmarks.training.methods import RECIPES, Recipe, of_corpus
from benchmarks.training.plan import Corpus, Step, overridden
from benchmarks.training.runner import Places, trained
from benchmarks.training.score import Keep, scored, settings_of
from benchmarks.unlabelled.quality import QuerySet
from sat_retriever.datasets.dataset import load_industrytab
from sat_retriever.errors import LanguageModelError
from sat_retriever.evaluation.maintable import left_out

BENCHMARK = "trained"


def changed(recipe: Recipe, changes: Sequence[str]) -> Recipe:
    """Return the recipe with overridden settings."""
    parts = {
        name: overridden(settings, changes)
        for name in ("encoder", "reranker", "cross_encoder")
        if (settings := getattr(recipe, name)) is not None
    }
    return replace(recipe, **parts)  # type: ignore[arg-type]


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that all benchmarks of training share."""
    made = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    made.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="folder of the corpora"
    )
    made.add_argument("--runs", type=Path, default=Path("runs"), help="trained models")
    made.add_argument("--again", action="store_true", help="answer and score anew")
    made.add_argument("--rescore", action="store_true", help="score anew the answers that are kept")
    made.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="for trials")
    made.add_argument("--limit", type=int, help="training questions used, for trials")
    return made


def results_folder(options: argparse.Namespace) -> Path:
    """Return the folder of results; trials and own corpora are never among the committed ones."""
    own = getattr(options, "corpus", INDUSTRYTAB_1K) not in PUBLISHED
    trial = own or bool(options.set) or options.limit is not None
    folder: Path = options.runs / "results" if trial else results.FOLDER
    return folder


def is_done(
    name: str, stored: Mapping[str, Any] | None, settings: Mapping[str, Any], data: Iterable[Path]
) -> bool:
    """True if the stored result is of the same data; prints a line that says so.

    Raises:
        SystemExit: If it was made with other settings.
    """
    if stored is None or stored["provenance"]["data_hash"] != data_hash(data):
        return False
    # The first results lack this setting.
    if {"walk": False, **stored["metrics"]["settings"]} != settings:
        sys.exit(f"{name} was made with other settings; make it --again, or remove it")
    print(f"{name} is there already", flush=True)
    return True


def say(result: Result) -> None:
    """Print one line for the terminal."""
    found = result.metrics
    shown = ("NDCG@5", "Recall@5", "Hit@5", "MRR@5", "HN-FPR@1")
    cells = " ".join(f"{name} {found[name]:.4f}" for name in shown if found[name] is not None)
    asked = found.get("answers", {})
    cells += "".join(f" {name} {asked[name]}" for name in ("short", "failed") if name in asked)
    print(f"{result.method}.{result.split}.{result.seed}: {cells}", flush=True)


@dataclass(frozen=True, slots=True)
class Measured:
    """The subject of one result file.

    Attributes:
        name: Name of the method.
        recipe: The recipe that ranks.
        step: Its last training; None if it has none.
        asked: The test questions.
        seed: Seed of the training or of the split; None if nothing is random.
    """

    name: str
    recipe: Recipe
    step: Step | None
    asked: QuerySet
    seed: int | None

    @property
    def result(self) -> str:
        """Name of the result."""
        return name_of(self.name, self.asked.dataset.name, self.asked.split, self.seed)


def measure(
    benchmark: str, measured: Measured, data: Iterable[Path], options: argparse.Namespace
) -> None:
    """Train if necessary, answer, and write the result, unless it exists."""
    places, folder = Places(options.data, options.runs), results_folder(options)
    step, recipe = measured.step, measured.recipe
    anew = options.again or options.rescore
    data = list(dict.fromkeys(data))
    stored = read_summaries(benchmark, folder).get(measured.result)
    if not anew and is_done(measured.result, stored, settings_of(recipe, step), data):
        return
    if step is not None:
        trained(step, places)
    found = scored(measured.name, recipe, step, measured.asked, places, keep=_keep(options))
    found = replace(found, seed=measured.seed)
    write_result(benchmark, found, data=data, folder=folder)
    say(found)


def _keep(options: argparse.Namespace) -> Keep:
    """Return which kept answers to reuse."""
    return "nothing" if options.again else "runs" if options.rescore else "answers"


def run(
    benchmark: str,
    recipes: Mapping[str, Recipe],
    corpus: Corpus,
    seed: int,
    options: argparse.Namespace,
) -> dict[str, str]:
    """Measure each recipe with one training seed on the test questions of its own corpus.

    Returns:
        Recipes without a result because their language model failed: the reason by title.
    """
    dataset = dataset_of(corpus, options.data)
    asked = QuerySet(dataset, corpus.split, dataset.split.test)
    failed: dict[str, str] = {}
    for name, plain in of_corpus(recipes, dataset.name).items():
        recipe = changed(plain, options.set)
        step = recipe.step(corpus, seed)
        own = None if step is None and not corpus.drawn else seed
        measured = Measured(name, recipe, step, asked, own)
        try:
            measure(benchmark, measured, dataset.files, options)
        except LanguageModelError as error:  # the other rows are kept
            failed[f"{recipe.title} ({recipe.model})"] = str(error)
    return failed


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, score, write a result file a method and seed, print the table.

    Raises:
        SystemExit: If a language model did not answer; names each missing row with the reason.
    """
    made = parser(__doc__)
    made.add_argument("--split", choices=("standard", "grouped"), default="standard")
    made.add_argument("--seeds", type=int, nargs="+", default=[42, 43, 44])
    made.add_argument("--methods", nargs="+", choices=tuple(RECIPES), help="default: all")
    made.add_argument("--corpus", default=INDUSTRYTAB_1K, help="name below --data, or a folder")
    made.add_argument("--llm", metavar="MODEL", help="ask this model of an Ollama server, too")
    made.add_argument("--quick", action="store_true", help="a small made corpus, one epoch")
    options = made.parse_args(arguments)
    if options.quick:
        make_quick(options)
    recipes = chosen(options.methods, options.llm)
    failed: dict[str, str] = {}
    for place, seed in enumerate(options.seeds):
        corpus = corpus_of(options.corpus, options.split, seed, options.data, options.limit)
        again = {  # methods without a seed are measured with the first one
            name: recipe for name, recipe in recipes.items() if recipe.encoder or corpus.drawn
        }
        failed |= run(BENCHMARK, again if place else recipes, corpus, seed, options)
    show(read_results(BENCHMARK, results_folder(options)), corpus.split, options)
    if failed:
        sys.exit("\n".join(left_out(failed)))


def show(files: Files, split: str, options: argparse.Namespace) -> None:
    """Show the main table in the terminal, with the rows that were not run."""
    folder = options.data / options.corpus
    table = Table(*HEADINGS, box=None, title=f"{folder.name}, {split} test", title_justify="left")
    for row in main_rows(files, [], split, load_industrytab(folder).name):
        table.add_row(*(cell.strip("*") for cell in row), style="dim" if "*" in row[0] else "")
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def chosen(names: Sequence[str] | None, model: str | None) -> dict[str, Recipe]:
    """Return the recipes to measure; those of a language model only if one is named.

    Raises:
        SystemExit: If a requested recipe needs a model, and none is named.
    """
    if names is None:
        names = [name for name, recipe in RECIPES.items() if model or recipe.llm is None]
    recipes = {name: RECIPES[name] for name in names}
    lacking = [name for name, recipe in recipes.items() if recipe.llm and not model]
    if lacking:
        sys.exit(f"{', '.join(lacking)}: name the model of your Ollama server with --llm MODEL")
    return {
        name: replace(recipe, model=model) if recipe.llm and model else recipe
        for name, recipe in recipes.items()
    }
