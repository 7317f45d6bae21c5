"""A run beside its gold sets: one row a question, and every metric from the rows.

A reranked list ends with its candidates, so every metric is of that list: nothing is known
of sheets beyond it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sat_retriever import metrics
from sat_retriever.datasets.labels import Query
from sat_retriever.evaluation.run import DEPTH, Run

SHOWN = 5  # sheets of a question that its row names
Row = Mapping[str, Any]
Rows = Sequence[Row]


def rows_of(
    queries: Mapping[int, Query], run: Run, numbers: Mapping[str, int]
) -> list[dict[str, Any]]:
    """One row a query: ranks of its positives, its first sheets, and whether the first is wrong.

    `hard` says whether the first sheet is one of the query's annotated hard negatives; None
    where it has none. All reported metrics follow from these rows.

    Args:
        queries: Queries by their place in the data set.
        run: Ranked candidates of each, best first.
        numbers: Number of each sheet id, as the rows name it.
    """
    rows: list[dict[str, Any]] = []
    for place, query in queries.items():
        gold, ranking = set(query.positives), run[place]
        first = ranking[0].sheet_id if ranking else None
        rows.append(
            {
                "query": place,
                "relevant": len(gold),
                "hits": [n for n, found in enumerate(ranking, start=1) if found.sheet_id in gold],
                "hard": first in query.hard_negatives if query.hard_negatives else None,
                "sheets": [numbers[found.sheet_id] for found in ranking[:SHOWN]],
                "scores": [round(found.score, 4) for found in ranking[:SHOWN]],
            }
        )
    return rows


def metrics_of(rows: Rows) -> dict[str, float | None]:
    """Every reported metric, as means over the rows.

    >>> rows = [{"query": 0, "relevant": 2, "hits": [1, 9], "hard": False}]
    >>> found = metrics_of(rows)
    >>> found["Recall@5"], found["MRR@5"], found["CandidateRecall@50"], found["HN-FPR@1"]
    (0.5, 1.0, 1.0, 0.0)
    """
    found: dict[str, float | None] = {
        name: metrics.mean([of(row) for row in rows]) for name, of in PER_QUERY.items()
    }
    wrong = [bool(row["hard"]) for row in rows if row.get("hard") is not None]
    found["HN-FPR@1"] = sum(wrong) / len(wrong) if wrong else None
    return found


def unsupported(stored: Mapping[str, Any], rows: Rows) -> list[str]:
    """Which of some stored metrics do not follow from the rows, each as "name is …".

    Only metrics that rows give are looked at; HN-FPR@1 only where the rows say `hard`.

    >>> unsupported({"Recall@5": 0.9}, [{"relevant": 2, "hits": [1, 9], "hard": None}])
    ['Recall@5 is 0.9, its rows give 0.5']
    """
    found = metrics_of(rows)
    if any("hard" not in row for row in rows):
        del found["HN-FPR@1"]
    return [
        f"{name} is {stored[name]}, its rows give {value}"
        for name, value in found.items()
        if name in stored and not _same(stored[name], value)
    ]


def _same(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return abs(first - second) <= 1e-9


def ndcg(row: Row, k: int) -> float:
    """NDCG@k of one row.

    >>> ndcg({"relevant": 2, "hits": [1, 3]}, 5) == metrics.ndcg(["a", "x", "b"], ["a", "b"], 5)
    True
    """
    ranking, gold = _ranking(row)
    return metrics.ndcg(ranking, gold, k)


def _ranking(row: Row) -> tuple[list[str], list[str]]:
    """A ranking and a gold set with the row's ranks of positives; positives not ranked come last.

    >>> _ranking({"relevant": 2, "hits": [2]})
    (['x1', 'p2'], ['p2', 'm0'])
    """
    hits = set(row["hits"])
    depth = max(hits, default=1)
    ranking = [f"p{rank}" if rank in hits else f"x{rank}" for rank in range(1, depth + 1)]
    missed = [f"m{n}" for n in range(row["relevant"] - len(hits))]
    return ranking, [*(f"p{rank}" for rank in row["hits"]), *missed]


def _of(measure: Callable[..., float], *arguments: int) -> Callable[[Row], float]:
    def measured(row: Row) -> float:
        return measure(*_ranking(row), *arguments)

    return measured


PER_QUERY: Mapping[str, Callable[[Row], float]] = {
    "NDCG@5": _of(metrics.ndcg, 5),
    "NDCG@10": _of(metrics.ndcg, 10),
    "Recall@1": _of(metrics.recall, 1),
    "Recall@5": _of(metrics.recall, 5),
    "Recall@10": _of(metrics.recall, 10),
    "AllRelevant@10": _of(metrics.all_relevant, 10),
    "Hit@5": _of(metrics.hit, 5),
    "MRR@5": _of(metrics.reciprocal_rank, 5),
    "MRR": _of(metrics.reciprocal_rank),
    f"Recall@{DEPTH}": _of(metrics.recall, DEPTH),
    f"CandidateRecall@{DEPTH}": _of(metrics.recall, DEPTH),
    f"CandidateHit@{DEPTH}": _of(metrics.hit, DEPTH),
    f"CandidateAllRelevant@{DEPTH}": _of(metrics.all_relevant, DEPTH),
    "OracleRecall@5": _of(metrics.oracle_recall, 5, DEPTH),
}
