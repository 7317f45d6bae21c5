"""Measure every method on IndustryTab-1K: language models, the paper's recipe, ours, plain ones.

    python -m benchmarks run main --seeds 42 43 44
    python -m benchmarks run grouped --seeds 42 43 44
    python -m benchmarks run main --methods llm_only rag_llm --llm qwen3.5:9b
    python -m benchmarks run main --llm openai:qwen --llm-url http://127.0.0.1:8080/v1 --slots 8
    python -m benchmarks run main --encoders arctic mpnet   # the paper's rows with these
    python -m benchmarks run main --corpus industrytab_614
    python -m benchmarks run main --corpus my-corpus        # made by `sat synth --out my-corpus`
    python -m benchmarks run main --quick                   # a quick trial, two minutes

Missing models are trained, each step in its own process, and then the test queries are scored.
Trained models and whole answers are kept in `--runs`. A result is written as soon as it is
complete, and is made again only with `--again`. Language models are asked only with `--llm`; one
that does not answer has no row, the reason is printed, and the command ends with exit status 1. A
stopped run goes on where it was. With `--set`, `--limit` or `--quick` results are trials: they are
written to `results` below `--runs` and never shown in the README.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.corpora import INDUSTRYTAB_1K, PUBLISHED
from benchmarks.paper.quick import make_quick
from benchmarks.results import (
    Result,
    data_hash,
    name_of,
    read_results,
    read_summaries,
)
from benchmarks.runner import Options, console, option, results_folder, suite
from benchmarks.tables.breakdown import Files
from benchmarks.tables.main import HEADINGS, main_rows
from benchmarks.training.corpus import corpus_of, dataset_of
from benchmarks.training.encoders import ENCODERS
from benchmarks.training.methods import RECIPES, Recipe, of_corpus
from benchmarks.training.plan import Corpus, Step, overridden
from benchmarks.training.runner import Places, trained
from benchmarks.training.score import Keep, scored, settings_of
from benchmarks.unlabelled.quality import QuerySet
from sat_retriever.datasets.dataset import load_industrytab
from sat_retriever.encoder.source import MINILM
from sat_retriever.errors import LanguageModelError
from sat_retriever.evaluation.maintable import left_out


def changed(recipe: Recipe, changes: Sequence[str]) -> Recipe:
    """Return the recipe with overridden settings."""
    parts = {
        name: overridden(settings, changes)
        for name in ("encoder", "reranker", "cross_encoder")
        if (settings := getattr(recipe, name)) is not None
    }
    return replace(recipe, **parts)  # type: ignore[arg-type]


# Options that all suites of training take.
TRAINING: Mapping[str, Any] = {
    "again": option(False, "answer and score anew"),
    "rescore": option(False, "score anew the answers that are kept"),
    "limit": option(None, "training questions used, for trials", type=int),
}


def training_results(options: Options) -> Path:
    """Return the folder of results; trials and own corpora are never among the committed ones."""
    own = getattr(options, "corpus", INDUSTRYTAB_1K) not in PUBLISHED
    trial = own or bool(options.set) or options.limit is not None
    return results_folder(options, options.runs, trial=trial)


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


def measure(measured: Measured, data: Iterable[Path], options: Options) -> Iterator[Result]:
    """Train if necessary, answer, and yield the result, unless it exists."""
    options.out = training_results(options)
    places = Places(options.data, options.runs)
    step, recipe = measured.step, measured.recipe
    data = list(dict.fromkeys(data))
    stored = read_summaries(options.suite, options.out).get(measured.result)
    anew = options.again or options.rescore
    if not anew and is_done(measured.result, stored, settings_of(recipe, step), data):
        return
    if step is not None:
        trained(step, places)
    keep: Keep = "nothing" if options.again else "runs" if options.rescore else "answers"
    found = scored(measured.name, recipe, step, measured.asked, places, keep=keep)
    yield replace(found, seed=measured.seed, data=data)


def run(
    recipes: Mapping[str, Recipe],
    corpus: Corpus,
    seed: int,
    options: Options,
    failed: dict[str, str] | None = None,
) -> Iterator[Result]:
    """Measure each recipe with one training seed on the test questions of its own corpus.

    Args:
        recipes: The recipes by name.
        corpus: What they are trained on.
        seed: Seed of the training.
        options: Options of the suite.
        failed: Gets the reason, by title, of recipes whose language model failed.
    """
    dataset = dataset_of(corpus, options.data)
    asked = QuerySet(dataset, corpus.split, dataset.split.test)
    for name, plain in of_corpus(recipes, dataset.name).items():
        recipe = changed(plain, options.set)
        step = recipe.step(corpus, seed)
        own = None if step is None and not corpus.drawn else seed
        try:
            yield from measure(Measured(name, recipe, step, asked, own), dataset.files, options)
        except LanguageModelError as error:  # the other rows are kept
            if failed is None:
                raise
            failed[f"{recipe.title} ({recipe.model})"] = str(error)


@suite(
    "trained",
    "data",
    "runs",
    "seeds",
    "set",
    "quick",
    split=option("standard", choices=("standard", "grouped")),
    encoders=option([MINILM], "base encoders", choices=tuple(ENCODERS)),
    methods=option(None, "default: all of the encoders", nargs="+", choices=tuple(RECIPES)),
    corpus=option(INDUSTRYTAB_1K, "name below --data, or a folder"),
    llm=option(None, "ask this ollama:MODEL or openai:MODEL, too", metavar="MODEL"),
    llm_url=option(None, "address of its server; OLLAMA_HOST or OPENAI_BASE_URL", metavar="URL"),
    slots=option(1, "questions that it is asked at a time", type=int),
    **TRAINING,
)
def main(options: Options) -> Iterator[Result]:
    """Train and score every method with every seed, print the table.

    Raises:
        SystemExit: If a language model did not answer; names each missing row with the reason.
    """
    if options.quick:
        make_quick(options)
    recipes = chosen(options.methods, options.encoders, options.llm, options.llm_url, options.slots)
    failed: dict[str, str] = {}
    for place, seed in enumerate(options.seeds):
        corpus = corpus_of(options.corpus, options.split, seed, options.data, options.limit)
        again = {  # methods without a seed are measured with the first one
            name: recipe for name, recipe in recipes.items() if recipe.encoder or corpus.drawn
        }
        yield from run(again if place else recipes, corpus, seed, options, failed)
    show(read_results("trained", options.out), corpus.split, options)
    if failed:
        sys.exit("\n".join(left_out(failed)))


def show(files: Files, split: str, options: Options) -> None:
    """Show the main table in the terminal, with the rows that were not run."""
    folder = options.data / options.corpus
    table = Table(*HEADINGS, box=None, title=f"{folder.name}, {split} test", title_justify="left")
    for row in main_rows(files, [], split, load_industrytab(folder).name):
        table.add_row(*(cell.strip("*") for cell in row), style="dim" if "*" in row[0] else "")
    console.print(table)


def chosen(
    names: Sequence[str] | None,
    encoders: Sequence[str],
    model: str | None,
    url: str | None = None,
    slots: int = 1,
) -> dict[str, Recipe]:
    """Return the recipes to measure; those of a language model only if one is named.

    Without names, all of some base encoders.

    Raises:
        SystemExit: If a recipe or an option needs a model, and none is named.
    """
    if names is None:
        own = {name: recipe for name, recipe in RECIPES.items() if recipe.base in encoders}
        names = [name for name, recipe in own.items() if model or recipe.llm is None]
    recipes = {name: RECIPES[name] for name in names}
    lacking = [] if model else [name for name, recipe in recipes.items() if recipe.llm]
    if not model:
        given = {"--llm-url": url is not None, "--slots": slots > 1}
        lacking += [name for name, asked in given.items() if asked]
    if lacking:
        sys.exit(f"{', '.join(lacking)}: name the model of your server with --llm MODEL")
    return {
        name: replace(recipe, model=model, url=url, slots=slots) if recipe.llm and model else recipe
        for name, recipe in recipes.items()
    }
