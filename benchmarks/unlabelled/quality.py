"""Retrieval without training: BM25, dense and fused, on open data.

    python -m benchmarks run quality --data ../shared/data
    python -m benchmarks run quality --data ../shared/data --validation

The first command scores the reported data; every choice was made with the second, on
Spider's training questions of 35 held-out databases and IndustryTab-1K's validation
split. All systems go through `SheetIndex`, so what is measured is what users run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.corpora import Corpus, Use, used, where_to_get
from benchmarks.indexes import fill
from benchmarks.progress import track
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.datasets.dataset import (
    Dataset,
)
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import Rows, metrics_of, row_of, rows_of
from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import CorpusError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.tokens import Encoder

# Share of the cosine in the score; None asks as a user does, with the default.
METHODS = {"bm25": 0.0, "dense": 1.0, "fused": None}
SCORES = (
    "NDCG@5", "NDCG@10", "Recall@1", "Recall@5", "Recall@10", "Recall@50", "AllRelevant@10",
    "Hit@5", "MRR", "MRR@5", "HN-FPR@1",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Some queries of a data set.

    Attributes:
        dataset: The data set to search.
        split: Name of the part.
        places: Positions of its queries in `dataset.queries`.
    """

    dataset: Dataset
    split: str
    places: tuple[int, ...]

    @property
    def queries(self) -> dict[int, Query]:
        """Its queries by their position."""
        return {place: self.dataset.queries[place] for place in self.places}


Ranking = Sequence[Candidate]
Run = dict[int, Ranking]  # query position → all sheets, best first


def sets_of(use: Use, data: Path) -> Iterator[Callable[[], list[QuerySet]]]:
    """Yield the sets of queries of each corpus of a use, read when called.

    The "chosen" corpora have validation parts.
    """
    for corpus in used(use).values():
        yield partial(_sets, corpus, data, validation=use == "chosen")


def _sets(corpus: Corpus, data: Path, *, validation: bool) -> list[QuerySet]:
    """Return a corpus's validation part, or all its questions and each of its test parts."""
    dataset = corpus.read(data)
    if validation and corpus.validation is not None:
        return [QuerySet(dataset, "validation", corpus.validation(dataset))]
    parts = (QuerySet(dataset, part, places(dataset)) for part, places in corpus.parts.items())
    return [whole(dataset), *parts]


def whole(dataset: Dataset) -> QuerySet:
    """Return all queries of a data set."""
    return QuerySet(dataset, "all", tuple(range(len(dataset.queries))))


def timeless_index(path: Path, encoder: Encoder) -> SheetIndex:
    """Return a new index that ignores the times in queries."""
    SheetIndex.create(path, encoder).close()
    return SheetIndex.open(path, encoder, times=False)


def build_index(dataset: Dataset, path: Path, encoder: Encoder) -> SheetIndex:
    """Return an index of the data set's records, or of the workbooks below its root."""
    index = timeless_index(path, encoder)  # what the paper could compare with
    fill(index, dataset)
    return index


def rank_all(index: SheetIndex, sets: Sequence[QuerySet], dense_weight: float | None) -> Run:
    """Return the whole corpus ranked for every query of the sets.

    Without the dense part only sheets that share a word with the query are ranked.
    """
    dataset, depth = sets[0].dataset, len(index)
    places = sorted({place for asked in sets for place in asked.places})
    run: Run = {}
    for place in track(places, f"{dataset.name}, dense weight {dense_weight}"):
        question = index.question(dataset.queries[place].text, dense_weight=dense_weight)
        found = index.candidates(question, depth)
        run[place] = [sheet for sheet in found if dense_weight != 0 or sheet.lexical > 0]
    return run


def score(asked: QuerySet, run: Run) -> dict[str, float | None]:
    """Return every reported metric, as means over its queries."""
    return metrics_of(query_rows(asked, run), SCORES)


def query_rows(asked: QuerySet, run: Run) -> Rows:
    """Return one row a query without names of sheets: all that metrics need."""
    return [
        row_of(
            place, [sheet.sheet_id for sheet in run[place]], query.positives, query.hard_negatives
        )
        for place, query in asked.queries.items()
    ]


def measure(sets: Sequence[QuerySet], encoder: Encoder, label: str) -> list[Result]:
    """Return the results of every method on sets over one and the same data set."""
    dataset = sets[0].dataset
    results = []
    with tempfile.TemporaryDirectory() as folder:
        index = build_index(dataset, Path(folder) / "index.sqlite", encoder)
        with index:
            numbers = {sheet: n for n, sheet in enumerate(index.sheet_ids())}
            lost = {p for query in dataset.queries for p in query.positives} - set(numbers)
            for method, dense_weight in METHODS.items():
                run = rank_all(index, sets, dense_weight)
                for asked in sets:
                    found = {
                        **score(asked, run),
                        "queries": len(asked.places),
                        "sheets": len(numbers),
                        "positives_not_indexed": len(lost),
                    }
                    name = method if method == "bm25" else f"{method}_{label}"
                    rows = rows_of(asked.queries, run, numbers)
                    results.append(Result(name, dataset.name, found, asked.split, None, rows))
    return results


@suite(
    "quality",
    "data",
    encoder=option("minilm", "what SheetEncoder.load takes"),
    validation=option(False, "score the validation parts; for choices"),
)
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    encoder = SheetEncoder.load(options.encoder)
    label = Path(options.encoder).name.lower()
    options.suite = "validation" if options.validation else "quality"
    use: Use = "chosen" if options.validation else "untrained"
    for load in sets_of(use, options.data):
        try:
            sets = load()
        except CorpusError as error:
            console.print(f"not run: {error}\nThe data can be had from: {where_to_get(use)}")
            continue
        dataset = sets[0].dataset
        data = dataset.files if dataset.root is None else (dataset.root,)
        for result in measure(sets, encoder, label):
            yield replace(result, data=data)
