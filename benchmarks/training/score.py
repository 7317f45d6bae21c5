"""A recipe's answers to questions of a data set: asked once, kept, and scored."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from benchmarks.progress import progress_bar
from benchmarks.results import Result
from benchmarks.training.corpus import index_of, numbers
from benchmarks.training.methods import Recipe
from benchmarks.training.plan import Step
from benchmarks.training.rank import asking, method_of
from benchmarks.training.runner import Places, costs, encoder_folder
from benchmarks.unlabelled.quality import QuerySet
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import Run, metrics_of, read_run, rows_of, write_run
from sat_retriever.encoder.source import MINILM
from sat_retriever.evaluation.llm import Answers, LanguageModel, LanguageModelSettings, summary
from sat_retriever.index.index import SheetIndex

Keep = Literal["nothing", "answers", "runs"]
_ANSWERS = ".answers.jsonl"
_ANSWER_S = 3600.0  # two processor cores read the names of 1,000 sheets for minutes


def scored(
    name: str, recipe: Recipe, step: Step | None, asked: QuerySet, places: Places, *, keep: Keep
) -> Result:
    """Return a recipe's metrics and rows; whole answers are kept below the folder of runs.

    Args:
        name: Name of the method in result files.
        recipe: The ranking.
        step: Its last training, finished; None if it has none.
        asked: The questions.
        places: Folders.
        keep: Stored work of the same settings to reuse: whole "runs", the "answers" of a
            language model, or "nothing".

    Raises:
        LanguageModelError: If a language model does not answer; its earlier answers are kept.
    """
    start = time.perf_counter()
    dataset = asked.dataset
    queries = asked.queries
    settings = settings_of(recipe, step)
    encoder, folder = encoder_folder(step, places, recipe.base)
    kept = folder / "answers" / f"{name}.{dataset.name}.{asked.split}.jsonl"
    about = {"method": name, "dataset": dataset.name, "split": asked.split, "settings": settings}
    with index_of(dataset, encoder, recipe.links, folder) as index:
        known = numbers(index.sheet_ids())
        run, told = kept_run(kept, about, queries) if keep == "runs" else ({}, {})
        if not run:
            if keep == "nothing":
                kept.with_suffix(_ANSWERS).unlink(missing_ok=True)
            run, told = _answered(recipe, step, index, queries, places, kept)
            write_run(kept, run, about | told)
    rows = rows_of(queries, run, known)
    found: dict[str, Any] = {
        **metrics_of(rows),
        "queries": len(rows),
        "settings": settings,
        "steps": {} if step is None else costs(step, places),
        **told,
        "evaluation_s": round(time.perf_counter() - start, 1),
    }
    return Result(name, dataset.name, found, asked.split, per_query=rows)


def _answered(
    recipe: Recipe,
    step: Step | None,
    index: SheetIndex,
    queries: Mapping[int, Query],
    places: Places,
    kept: Path,
) -> tuple[Run, dict[str, Any]]:
    """Return a run made now, and what a language model has to tell of its answers."""
    with progress_bar(kept.stem, len(queries)) as progress:
        if recipe.llm is None:
            return method_of(recipe, step, index, places).run(queries, progress), {}
        model = LanguageModel(
            LanguageModelSettings(model=recipe.model), recipe.url, timeout_s=_ANSWER_S
        )
        answers = Answers(kept.with_suffix(_ANSWERS))
        run = asking(recipe, index, model, answers).run(queries, progress, slots=recipe.slots)
    found = summary(answers.seen)
    found.check_answered()
    return run, {
        "answers": asdict(found) | {"slots": recipe.slots},
        "model": None if model.known is None else asdict(model.known),
    }


def kept_run(
    path: Path, about: Mapping[str, Any], queries: Mapping[int, Query]
) -> tuple[Run, dict[str, Any]]:
    """Return a stored run and its details if it has these questions and settings, else None."""
    if not path.is_file():
        return {}, {}
    found, run = read_run(path)
    if {name: found.get(name) for name in about} != about or set(run) != set(queries):
        return {}, {}
    return run, {name: found[name] for name in ("answers", "model") if name in found}


def settings_of(recipe: Recipe, step: Step | None) -> dict[str, Any]:
    """Return all settings of a ranking as JSON values, with hyper-parameters by training."""
    found: dict[str, Any] = {"links": recipe.links, "walk": recipe.walk}
    if step is None and recipe.base != MINILM:
        found["base"] = recipe.base
    if recipe.default:
        found["default"] = True
    if recipe.variant:
        found["variant"] = recipe.variant
    if recipe.llm is not None:
        found |= {"llm": recipe.llm, **asdict(LanguageModelSettings(model=recipe.model))}
    if step is None or step.kind == "encoder":
        found["dense_weight"] = recipe.dense_weight
    while step is not None:
        found[step.kind] = asdict(step.settings)
        step = step.encoder
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain
