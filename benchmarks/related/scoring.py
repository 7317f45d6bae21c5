"""Ask the questions of a set and score the answers, paired with those of other rankings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from benchmarks.related.systems import System
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics import mean
from sat_retriever.datasets.metrics.comparison import paired_bootstrap
from sat_retriever.datasets.metrics.ranking import Hits, all_relevant_of, ndcg_of
from sat_retriever.datasets.metrics.rows import DEPTH, row_of
from sat_retriever.evaluation.methods import Method, fused, second_stage
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.reranker import COMPLETE_SHARE, complete_set
from sat_retriever.records.progress import Progress

Row = Mapping[str, Any]


def f1_of(row: Row) -> float:
    """Return the F1 of the sheets that `retrieve_set` returns.

    >>> f1_of({"hits": [1, 3], "relevant": 2, "set": 2})
    0.5
    """
    size, relevant = int(row["set"]), int(row["relevant"])
    right: int = sum(rank <= size for rank in row["hits"])
    return 2 * right / (size + relevant)


def _of(measure: Callable[..., float], k: int) -> Callable[[Row], float]:
    return lambda row: measure(Hits(row["hits"], row["relevant"]), k)


MEASURES: Mapping[str, Callable[[Row], float]] = MappingProxyType(
    {
        "AllRelevant@5": _of(all_relevant_of, 5),
        "AllRelevant@10": _of(all_relevant_of, 10),
        "NDCG@10": _of(ndcg_of, 10),
        "F1_of_set": f1_of,
    }
)
"""The measures of a row. Of a question with more than five relevant sheets, AllRelevant@5 is 0."""


@dataclass(frozen=True, slots=True)
class Searched:
    """Questions with the index that they are asked of.

    Attributes:
        index: The index.
        queries: The questions.
    """

    index: SheetIndex
    queries: Sequence[Query]


def answered(system: System, searched: Sequence[Searched], told: Progress) -> list[dict[str, Any]]:
    """Return one row a question, of all corpora in order: `row_of`, and the size of the set."""
    total = sum(len(each.queries) for each in searched)
    rows: list[dict[str, Any]] = []
    for each in searched:
        reranker = system.make(each.index)
        method: Method = (
            fused(each.index) if reranker is None else second_stage(each.index, reranker)
        )
        share = COMPLETE_SHARE if reranker is None else reranker.complete_share
        size = partial(complete_set, share=share)
        for query in each.queries:
            found = method.rank(query.text)
            ids = [sheet.sheet_id for sheet in found[:DEPTH]]
            rows.append({**row_of(len(rows), ids, query.positives), "set": size(found)})
            told(len(rows), total)
    return rows


def clusters(searched: Sequence[Searched]) -> list[Hashable]:
    """Return the cluster of each question: questions with the same answer count as one draw."""
    return [
        (number, *sorted(query.positives))
        for number, each in enumerate(searched)
        for query in each.queries
    ]


def measures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the means of all measures."""
    return {name: mean([of(row) for row in rows]) for name, of in MEASURES.items()}


def gaps(
    rows: Sequence[Row], rival: Sequence[Row], groups: Sequence[Hashable]
) -> dict[str, dict[str, float]]:
    """Return the mean difference of every measure to another row, with its 95 % interval."""
    found = {}
    for name, of in MEASURES.items():
        gap = paired_bootstrap([of(row) for row in rows], [of(row) for row in rival], groups)
        found[name] = {key: round(getattr(gap, key), 5) for key in ("mean", "low", "high")}
    return found
