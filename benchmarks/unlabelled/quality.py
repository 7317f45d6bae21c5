"""Retrieval without training: BM25, dense and fused, on open data.

    python -m benchmarks run quality --data ../shared/data
    python -m benchmarks run quality --data ../shared/data --validation

The first command scores the reported data; every choice was made with the second, on
Spider's training questions of 35 held-out databases and IndustryTab-1K's validation
split. All systems go through `SheetIndex`, so what is measured is what users run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.corpora import Corpus, Use, used, where_to_get
from benchmarks.results import Result, write_result
from sat_retriever import metrics
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import CorpusError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.tokens import Encoder

# Share of the cosine in the score; None asks as a user does, with the default.
METHODS = {"bm25": 0.0, "dense": 1.0, "fused": None}
SHOWN = 5  # sheets a query kept in the result file


@dataclass(frozen=True, slots=True)
class Task:
    """Some queries of a data set.

    Attributes:
        dataset: Where to search.
        split: Name of the part.
        places: Positions of its queries in `dataset.queries`.
    """

    dataset: Dataset
    split: str
    places: tuple[int, ...]


Ranking = Sequence[Candidate]
Run = dict[int, Ranking]  # query position → all sheets, best first


def tasks_of(use: Use, data: Path) -> Iterator[Callable[[], list[Task]]]:
    """The tasks of each corpus of a use, read when called; the "chosen" have validation parts."""
    for corpus in used(use).values():
        yield partial(_tasks, corpus, data, validation=use == "chosen")


def _tasks(corpus: Corpus, data: Path, *, validation: bool) -> list[Task]:
    """The validation part of a corpus, or all of its questions and each of its test parts."""
    dataset = corpus.read(data)
    if validation and corpus.validation is not None:
        return [Task(dataset, "validation", corpus.validation(dataset))]
    parts = (Task(dataset, part, places(dataset)) for part, places in corpus.parts.items())
    return [whole(dataset), *parts]


def whole(dataset: Dataset) -> Task:
    """All queries of a data set."""
    return Task(dataset, "all", tuple(range(len(dataset.queries))))


def build_index(dataset: Dataset, path: Path, encoder: Encoder) -> SheetIndex:
    """An index of the data set's records, or of the workbooks below its root."""
    index = SheetIndex.create(path, encoder)
    index.times = False  # what the paper could compare with
    if dataset.root is None:
        index.add_records(dataset.records)
    else:
        index.sync([dataset.root])
    return index


def rank_all(index: SheetIndex, tasks: Sequence[Task], dense_weight: float | None) -> Run:
    """The whole corpus ranked for every query of the tasks.

    Without the dense part only sheets that share a word with the query are ranked.
    """
    dataset, depth = tasks[0].dataset, len(index)
    places = sorted({place for task in tasks for place in task.places})
    find = index.candidates
    if dense_weight is not None:
        find = partial(index.candidates, dense_weight=dense_weight)
    run: Run = {}
    for place in track(places, f"{dataset.name}, dense weight {dense_weight}"):
        found = find(dataset.queries[place].text, top_k=depth)
        run[place] = [sheet for sheet in found if dense_weight != 0 or sheet.lexical > 0]
    return run


def hit_ranks(ranking: Sequence[str], positives: Sequence[str]) -> list[int]:
    """Ranks of the positives, from 1; those not ranked are absent.

    >>> hit_ranks(["x", "a", "b"], ["b", "a", "q"])
    [2, 3]
    """
    gold = set(positives)
    return [rank for rank, sheet in enumerate(ranking, start=1) if sheet in gold]


def score(task: Task, run: Run) -> dict[str, float | None]:
    """Every reported metric, as means over the task's queries."""
    rankings = [[sheet.sheet_id for sheet in run[place]] for place in task.places]
    queries = [task.dataset.queries[place] for place in task.places]
    pairs = [(r, q.positives) for r, q in zip(rankings, queries, strict=True)]
    scored: dict[str, float | None] = {
        "NDCG@5": metrics.mean([metrics.ndcg(r, p, 5) for r, p in pairs]),
        "NDCG@10": metrics.mean([metrics.ndcg(r, p, 10) for r, p in pairs]),
    }
    for k in (1, 5, 10, 50):
        scored[f"Recall@{k}"] = metrics.mean([metrics.recall(r, p, k) for r, p in pairs])
    scored["AllRelevant@10"] = metrics.mean([metrics.all_relevant(r, p, 10) for r, p in pairs])
    scored["Hit@5"] = metrics.mean([metrics.hit(r, p, 5) for r, p in pairs])
    scored["MRR"] = metrics.mean([metrics.reciprocal_rank(r, p) for r, p in pairs])
    scored["MRR@5"] = metrics.mean([metrics.reciprocal_rank(r, p, 5) for r, p in pairs])
    scored["HN-FPR@1"] = metrics.hard_negative_rate(rankings, [q.hard_negatives for q in queries])
    return scored


def per_query(task: Task, run: Run, numbers: dict[str, int]) -> list[dict[str, object]]:
    """One row a query: ranks of its positives, and its first sheets by number.

    Binary metrics at any depth can be computed anew from `hits` and `relevant`.
    """
    rows: list[dict[str, object]] = []
    for place in task.places:
        positives = task.dataset.queries[place].positives
        top = run[place][:SHOWN]
        rows.append(
            {
                "query": place,
                "relevant": len(positives),
                "hits": hit_ranks([sheet.sheet_id for sheet in run[place]], positives),
                "sheets": [numbers[sheet.sheet_id] for sheet in top],
                "scores": [round(sheet.score, 4) for sheet in top],
            }
        )
    return rows


def measure(tasks: Sequence[Task], encoder: Encoder, label: str) -> list[Result]:
    """Results of every method on tasks over one and the same data set."""
    dataset = tasks[0].dataset
    results = []
    with tempfile.TemporaryDirectory() as folder:
        index = build_index(dataset, Path(folder) / "index.sqlite", encoder)
        with index:
            numbers = {sheet: n for n, sheet in enumerate(index.sheet_ids())}
            lost = {p for query in dataset.queries for p in query.positives} - set(numbers)
            for method, dense_weight in METHODS.items():
                run = rank_all(index, tasks, dense_weight)
                for task in tasks:
                    found = {
                        **score(task, run),
                        "queries": len(task.places),
                        "sheets": len(numbers),
                        "positives_not_indexed": len(lost),
                    }
                    name = method if method == "bm25" else f"{method}_{label}"
                    rows = per_query(task, run, numbers)
                    results.append(Result(name, dataset.name, found, task.split, None, rows))
    return results


def show(results: Sequence[Result]) -> Table:
    """The results as a table for the terminal."""
    columns = ["NDCG@5", "NDCG@10", "Recall@1", "Recall@5", "Recall@10", "Recall@50"]
    columns += ["AllRelevant@10", "MRR"]
    table = Table("data set", "split", "queries", "method", title="Quality without training")
    for column in columns:
        table.add_column(column, justify="right")
    for result in results:
        numbers = [f"{result.metrics[column]:.3f}" for column in columns]
        size = str(result.metrics["queries"])
        table.add_row(result.dataset, result.split, size, result.method, *numbers)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, write the result files, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--encoder", default="minilm", help="what SheetEncoder.load takes")
    parser.add_argument(
        "--validation", action="store_true", help="score the validation parts; for choices"
    )
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    encoder = SheetEncoder.load(options.encoder)
    label = Path(options.encoder).name.lower()
    folder = "validation" if options.validation else "quality"
    results: list[Result] = []
    use: Use = "chosen" if options.validation else "untrained"
    for load in tasks_of(use, options.data):
        try:
            tasks = load()
        except CorpusError as error:
            console.print(f"not run: {error}\nThe data can be had from: {where_to_get(use)}")
            continue
        for result in measure(tasks, encoder, label):
            files = tasks[0].dataset.files
            root = tasks[0].dataset.root
            write_result(folder, result, data=files if root is None else [root])
            results.append(result)
    console.print(show(results))
