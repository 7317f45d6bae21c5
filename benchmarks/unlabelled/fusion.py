"""Ways to join the two scores of a sheet: every rival on the validation parts.

    python -m benchmarks run fusion --data ../shared/data

Nothing here touches a reported test set. The default share of the cosine was
chosen from this table: one setting for all corpora, taken from the middle of a plateau.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.progress import track
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from benchmarks.unlabelled.quality import QuerySet, build_index, sets_of
from sat_retriever.datasets import metrics
from sat_retriever.encoder import SheetEncoder
from sat_retriever.index.index import SheetIndex

Scores = NDArray[np.float64]
Fusion = Callable[[Scores, Scores], Scores]


def convex(weight: float) -> Fusion:
    """Return the share of the cosine against BM25 as a share of its possible maximum.

    >>> convex(0.4)(np.array([0.5, -0.5]), np.array([1.0, 0.5])).round(2).tolist()
    [0.8, 0.1]
    """
    return lambda dense, lexical: weight * dense + (1 - weight) * lexical


def min_max(weight: float) -> Fusion:
    """Return both scores stretched to [0, 1] over the corpus, query by query.

    >>> min_max(0.5)(np.array([0.2, 0.4, 0.3]), np.array([0.0, 0.0, 0.0])).round(2).tolist()
    [0.0, 0.5, 0.25]
    """

    def stretch(scores: Scores) -> Scores:
        span = scores.max() - scores.min()
        return (scores - scores.min()) / span if span > 0 else np.zeros_like(scores)

    return lambda dense, lexical: weight * stretch(dense) + (1 - weight) * stretch(lexical)


def z_score(weight: float) -> Fusion:
    """Return both scores in standard deviations from their mean, query by query.

    >>> z_score(1.0)(np.array([1.0, 3.0]), np.array([0.0, 0.0])).tolist()
    [-1.0, 1.0]
    """

    def standardise(scores: Scores) -> Scores:
        spread = scores.std()
        return (scores - scores.mean()) / spread if spread > 0 else np.zeros_like(scores)

    return lambda dense, lexical: weight * standardise(dense) + (1 - weight) * standardise(lexical)


def reciprocal_ranks(constant: int) -> Fusion:
    """Return reciprocal rank fusion; a sheet without a common word has no lexical rank.

    Source: Cormack, Clarke and Büttcher (2009).

    >>> reciprocal_ranks(1)(np.array([0.9, 0.1]), np.array([0.0, 2.0])).round(2).tolist()
    [0.5, 0.83]
    """

    def reciprocal(scores: Scores) -> Scores:
        ranks = np.empty(len(scores))
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        return np.asarray(1 / (constant + ranks), dtype=np.float64)

    return lambda dense, lexical: reciprocal(dense) + reciprocal(lexical) * (lexical > 0)


RIVALS: dict[str, Fusion] = {
    **{f"convex_{n / 10}": convex(n / 10) for n in range(11)},
    **{f"min_max_{n / 10}": min_max(n / 10) for n in (3, 4, 5, 6, 7)},
    **{f"z_score_{n / 10}": z_score(n / 10) for n in (3, 4, 5, 6, 7)},
    **{f"rrf_{constant}": reciprocal_ranks(constant) for constant in (5, 20, 60)},
}


def compare(asked: QuerySet, index: SheetIndex) -> dict[str, dict[str, float]]:
    """Return the metrics of every rival, from one look-up of both scores a query."""
    numbers = {sheet: n for n, sheet in enumerate(index.sheet_ids())}
    names = list(numbers)
    kept: dict[str, list[tuple[float, float, float]]] = {name: [] for name in RIVALS}
    for place in track(asked.places, asked.dataset.name):
        query = asked.dataset.queries[place]
        dense, lexical = np.zeros(len(names)), np.zeros(len(names))
        for sheet in index.candidates(query.text, top_k=len(names)):
            dense[numbers[sheet.sheet_id]] = sheet.dense
            lexical[numbers[sheet.sheet_id]] = sheet.lexical
        for name, fuse in RIVALS.items():
            order = np.argsort(-fuse(dense, lexical).round(9), kind="stable")[:10]
            top = [names[number] for number in order]
            gold = query.positives
            row = (metrics.ndcg(top, gold, 5), metrics.ndcg(top, gold, 10))
            kept[name].append((*row, metrics.recall(top, gold, 10)))
    columns = ("NDCG@5", "NDCG@10", "Recall@10")
    return {
        name: {column: metrics.mean([row[n] for row in rows]) for n, column in enumerate(columns)}
        for name, rows in kept.items()
    }


@suite("fusion", "data", encoder=option("minilm", "what SheetEncoder.load takes"))
def main(options: Options) -> Iterator[Result]:
    """Compare."""
    encoder = SheetEncoder.load(options.encoder)
    for load in sets_of("chosen", options.data):
        (asked,) = load()
        dataset = asked.dataset
        with (
            tempfile.TemporaryDirectory() as folder,
            build_index(dataset, Path(folder) / "index.sqlite", encoder) as index,
        ):
            found = compare(asked, index)
        yield Result("fusions", dataset.name, found, asked.split, data=dataset.files)
        for name in RIVALS:
            console.print(name, found[name])
