"""A recipe's answers to questions of a data set: asked once, kept, and scored."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.progress import Progress

from benchmarks.results import Result
from benchmarks.train_corpus import index_of, numbers
from benchmarks.train_methods import Recipe
from benchmarks.train_plan import Step
from benchmarks.train_rank import first_stage, second_stage
from benchmarks.train_runner import Places, costs, encoder_folder
from sat_retriever.corpora import Dataset
from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.rows import metrics_of, rows_of
from sat_retriever.evaluation.run import Run, read_run, write_run
from sat_retriever.index import SheetIndex


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions of a data set.

    Attributes:
        dataset: Sheets and questions.
        split: Name of the part.
        queries: Places of the questions in `dataset.queries`.
    """

    dataset: Dataset
    split: str
    queries: Sequence[int]


def scored(
    name: str, recipe: Recipe, step: Step | None, asked: Asked, places: Places, *, rescore: bool
) -> Result:
    """A recipe's metrics and rows; its whole answers are kept below the folder of runs.

    Args:
        name: Name of the method in result files.
        recipe: What ranks.
        step: Its last training, finished; None if it has none.
        asked: The questions.
        places: Folders.
        rescore: Take the kept answers, where there are some of the same settings.
    """
    start = time.perf_counter()
    dataset = asked.dataset
    queries = {place: dataset.queries[place] for place in asked.queries}
    settings = settings_of(recipe, step)
    encoder, folder = encoder_folder(step, places)
    kept = folder / "answers" / f"{name}.{dataset.name}.{asked.split}.jsonl"
    about = {"method": name, "dataset": dataset.name, "split": asked.split, "settings": settings}
    with index_of(dataset, encoder, recipe.links, folder) as index:
        known = numbers(index.sheet_ids())
        run = kept_run(kept, about, queries) if rescore else None
        if run is None:
            method = method_of(recipe, step, index, places)
            with Progress(transient=True) as bar:
                task = bar.add_task(f"{name}, {dataset.name}", total=len(queries))
                run = method.run(queries, lambda done, _: bar.update(task, completed=done))
            write_run(kept, run, about)
    rows = rows_of(queries, run, known)
    found: dict[str, Any] = {
        **metrics_of(rows),
        "queries": len(rows),
        "settings": settings,
        "steps": {} if step is None else costs(step, places),
        "evaluation_s": round(time.perf_counter() - start, 1),
    }
    return Result(name, dataset.name, found, asked.split, per_query=rows)


def kept_run(path: Path, about: dict[str, Any], queries: dict[int, Any]) -> Run | None:
    """The answers in a file, if they are to these questions and of these settings."""
    if not path.is_file():
        return None
    found, run = read_run(path)
    same = {name: found.get(name) for name in about} == about
    return run if same and set(run) == set(queries) else None


def method_of(recipe: Recipe, step: Step | None, index: SheetIndex, places: Places) -> Method:
    """What a recipe, once its trainings are finished, makes of an index of their encoder."""
    if step is None or step.kind == "encoder":
        return first_stage(
            index, trained=step is not None, dense_weight=recipe.dense_weight, walk=recipe.walk
        )
    return second_stage(index, step, places)


def settings_of(recipe: Recipe, step: Step | None) -> dict[str, Any]:
    """All that decides a ranking, as JSON gives it back: hyper-parameters by what they train."""
    found: dict[str, Any] = {"links": recipe.links, "walk": recipe.walk}
    if recipe.variant:
        found["variant"] = recipe.variant
    if step is None or step.kind == "encoder":
        found["dense_weight"] = recipe.dense_weight
    while step is not None:
        found[step.kind] = asdict(step.settings)
        step = step.encoder
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain
