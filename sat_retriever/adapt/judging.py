"""How good the answers are that a user of an index would get, and whether others are better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_retriever.datasets.labels import Query
from sat_retriever.index.index import SheetIndex
from sat_retriever.metrics.comparison import Difference, difference
from sat_retriever.metrics.rows import Rows, metrics_of, row_of
from sat_retriever.period.asked import UNDATED
from sat_retriever.records.progress import Progress
from sat_retriever.retriever import SheetRetriever

LEVEL = 0.8  # of the interval; chosen on development corpora, see the benchmarks' log
_K = 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """One way to answer the judging questions, and whether it is kept.

    Attributes:
        name: What answers.
        ndcg: Mean NDCG@5.
        recall: Mean Recall@5.
        ahead: How far its NDCG@5 is ahead of what it would replace; None of the first.
        kept: Whether it is what answers from now on, or did until a later one was kept.
    """

    name: str
    ndcg: float
    recall: float
    ahead: Difference | None = None
    kept: bool = True

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Verdict:
        """What `jsonform.to_json` gave."""
        ahead = values["ahead"]
        return cls(**{**values, "ahead": None if ahead is None else Difference(**ahead)})


def answer_rows(
    index: SheetIndex,
    reranker: str | Path,
    queries: Sequence[Query],
    counting: Progress | None = None,
) -> Rows:
    """One row a question, of the first five hits that `sat search` gives.

    Questions are read without a day, since the same labels must give the same rows tomorrow.

    Args:
        index: Where to look; all its sheets.
        reranker: Stage 2: "links", "auto" for the index's own, or the run folder of a trained one.
        queries: Labelled questions, at least one.
        counting: Called with questions done, and questions in all.
    """
    retriever = SheetRetriever(index, reranker)
    rows = []
    for place, query in enumerate(queries):
        ids = [hit.sheet_id for hit in retriever.retrieve(query.text, _K, today=UNDATED)]
        rows.append(row_of(place, ids, query.positives, query.hard_negatives))
        if counting is not None:
            counting(len(rows), len(queries))
    return rows


def first_verdict(name: str, now: Rows) -> Verdict:
    """What answers before anything is learnt."""
    return Verdict(name, *_means(now))


def next_verdict(name: str, new: Rows, now: Rows, circles: Sequence[int], *, sure: bool) -> Verdict:
    """What could replace another, and whether it does.

    The interval is one over families: questions about the same ones are no independent evidence,
    and a user's families are others.

    Args:
        name: What it is.
        new: Its rows.
        now: Those of what answers now, on the same questions.
        circles: The families that each question is about, as a number; see `heldout.circles`.
        sure: It does only if it is ahead beyond chance: the whole interval above 0, which holds
            80 % of the draws, so that it is ahead in nine of ten.

    >>> found = {"query": 0, "relevant": 1, "hits": [1]}, {"query": 1, "relevant": 1, "hits": [1]}
    >>> missed = {"query": 0, "relevant": 1, "hits": []}
    >>> verdict = next_verdict("new", found, (missed, found[1]), (0, 1), sure=True)
    >>> verdict.ahead.mean, verdict.ahead.low, verdict.kept
    (0.5, 0.0, False)
    """
    ahead = difference({None: new}, {None: now}, clusters=circles, level=LEVEL)
    certain = ahead.low > 0 and len(set(circles)) > 1  # of one circle every draw is the same
    kept = certain if sure else ahead.mean > 0
    return Verdict(name, *_means(new), ahead, kept)


def _means(rows: Rows) -> tuple[float, float]:
    """NDCG@5 and Recall@5 of some rows."""
    found = metrics_of(rows, ("NDCG@5", "Recall@5"))
    return found["NDCG@5"] or 0.0, found["Recall@5"] or 0.0
