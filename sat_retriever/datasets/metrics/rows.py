"""Turn a run into one row a question, and the rows into metrics.

A reranked list holds only its candidates, so every metric is of that list. The ranks of other
sheets are unknown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.ranking import (
    Gold,
    Hits,
    Ids,
    all_relevant_of,
    hit_of,
    hits_of,
    mean,
    ndcg_of,
    oracle_recall_of,
    recall_of,
    reciprocal_rank_of,
)
from sat_retriever.errors import InputError
from sat_retriever.records.files import draft_of, make_folder

FORMAT = 1  # of a stored run
DEPTH = 50  # sheets of a ranking that are kept, the paper's K
SHOWN = 5  # sheets of a question that its row names
HARD = "HN-FPR@1"  # share of questions whose first sheet is an annotated hard negative
Row = Mapping[str, Any]
Rows = Sequence[Row]


class RankedSheet(Protocol):
    """A sheet with the score that it is ranked by: a candidate, a hit or a stored row."""

    @property
    def sheet_id(self) -> str:
        """Id of the sheet."""
        ...

    @property
    def score(self) -> float:
        """Its score; higher is better."""
        ...


class Ranked(NamedTuple):
    """A ranked sheet as it is stored."""

    sheet_id: str
    score: float


Ranking = Sequence[RankedSheet]  # best first, each sheet once
Run = Mapping[int, Ranking]  # by the place of the question in its data set


def write_run(path: Path, run: Run, about: Mapping[str, Any]) -> None:
    """Write a run as JSON lines: one that describes it, then one a question.

    An existing file is replaced as a whole. `about` is the description, for example method, data
    set and seed.
    """
    make_folder(path.parent)
    lines = [json.dumps({"format": FORMAT, **about})]
    lines += [
        json.dumps(
            {
                "query": place,
                "sheets": [ranked.sheet_id for ranked in ranking],
                "scores": [round(ranked.score, 6) for ranked in ranking],
            }
        )
        for place, ranking in run.items()
    ]
    with draft_of(path) as draft:
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_run(path: Path) -> tuple[dict[str, Any], Run]:
    """Return what `write_run` stored: description, rankings; an InputError for other files."""
    try:
        about, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        run = {
            row["query"]: [
                Ranked(sheet, score)
                for sheet, score in zip(row["sheets"], row["scores"], strict=True)
            ]
            for row in rows
        }
        known = about["format"] == FORMAT
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} holds no run of rankings; make it again") from error
    if not known:
        raise InputError(f"{path} has format {about['format']!r}; this version reads {FORMAT}")
    return about, run


def rows_of(
    queries: Mapping[int, Query], run: Run, numbers: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return one row a query: ranks of its positives, its first sheets, and `hard` (`row_of`).

    All reported metrics are computed from these rows. Queries are by their place in the data set;
    `numbers` has the number of each sheet id, for use in the rows.
    """
    rows: list[dict[str, Any]] = []
    for place, query in queries.items():
        ranking = run[place]
        ids = [found.sheet_id for found in ranking]
        rows.append(
            {
                **row_of(place, ids, query.positives, query.hard_negatives),
                "sheets": [numbers[found.sheet_id] for found in ranking[:SHOWN]],
                "scores": [round(found.score, 4) for found in ranking[:SHOWN]],
            }
        )
    return rows


def row_of(place: int, ranking: Ids, positives: Gold, hard_negatives: Gold = ()) -> dict[str, Any]:
    """Return the row of one query without names of sheets.

    `hard` is true if the first sheet is an annotated hard negative; None if the query has none.

    >>> row_of(7, ["x", "a"], ["a", "b"], ["x"])
    {'query': 7, 'relevant': 2, 'hits': [2], 'hard': True}
    """
    hits = hits_of(ranking, positives)
    hard = bool(ranking) and ranking[0] in hard_negatives if hard_negatives else None
    return {"query": place, "relevant": hits.relevant, "hits": hits.ranks, "hard": hard}


def metrics_of(rows: Rows, names: Collection[str] | None = None) -> dict[str, float | None]:
    """Return metrics as means over the rows, by name; without names, every reported one.

    HN-FPR@1 is a mean over the rows with annotated hard negatives, or None if there is no such row.

    >>> rows = [{"query": 0, "relevant": 2, "hits": [1, 9], "hard": False}]
    >>> found = metrics_of(rows)
    >>> found["Recall@5"], found["MRR@5"], found["CandidateRecall@50"], found["HN-FPR@1"]
    (0.5, 1.0, 1.0, 0.0)
    """
    wanted = (*PER_QUERY, HARD) if names is None else names
    found: dict[str, float | None] = {
        name: mean([PER_QUERY[name](row) for row in rows]) for name in wanted if name != HARD
    }
    if HARD in wanted:
        wrong = [bool(row["hard"]) for row in rows if row.get("hard") is not None]
        found[HARD] = sum(wrong) / len(wrong) if wrong else None
    return found


def unsupported(stored: Mapping[str, Any], rows: Rows) -> list[str]:
    """Return the stored metrics that do not follow from the rows, each as "name is …".

    Only metrics that the rows can give are compared, and HN-FPR@1 only if all rows have `hard`.

    >>> unsupported({"Recall@5": 0.9}, [{"relevant": 2, "hits": [1, 9], "hard": None}])
    ['Recall@5 is 0.9, its rows give 0.5']
    """
    found = metrics_of(rows)
    if any("hard" not in row for row in rows):
        del found[HARD]
    return [
        f"{name} is {stored[name]}, its rows give {value}"
        for name, value in found.items()
        if name in stored and not _same(stored[name], value)
    ]


def _same(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return abs(first - second) <= 1e-9


def _of(measure: Callable[..., float], *arguments: int) -> Callable[[Row], float]:
    def measured(row: Row) -> float:
        return measure(Hits(row["hits"], row["relevant"]), *arguments)

    return measured


PER_QUERY: Mapping[str, Callable[[Row], float]] = {
    "NDCG@5": _of(ndcg_of, 5),
    "NDCG@10": _of(ndcg_of, 10),
    "Recall@1": _of(recall_of, 1),
    "Recall@5": _of(recall_of, 5),
    "Recall@10": _of(recall_of, 10),
    "AllRelevant@10": _of(all_relevant_of, 10),
    "Hit@5": _of(hit_of, 5),
    "MRR@5": _of(reciprocal_rank_of, 5),
    "MRR": _of(reciprocal_rank_of),
    f"Recall@{DEPTH}": _of(recall_of, DEPTH),
    f"CandidateRecall@{DEPTH}": _of(recall_of, DEPTH),
    f"CandidateHit@{DEPTH}": _of(hit_of, DEPTH),
    f"CandidateAllRelevant@{DEPTH}": _of(all_relevant_of, DEPTH),
    "OracleRecall@5": _of(oracle_recall_of, 5, DEPTH),
}
