"""Judge the answers of an index by labelled questions, and compare two ways to answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.comparison import Difference, difference
from sat_retriever.datasets.metrics.rows import Rows, metrics_of, row_of
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.progress import Progress
from sat_retriever.text.period.spans import UNDATED

LEVEL = 0.8  # of the interval; chosen on development corpora, see the benchmarks' log
_K = 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """One way to answer the judging questions, with its scores and the decision about it.

    Attributes:
        name: The models that answer.
        ndcg: Mean NDCG@5.
        recall: Mean Recall@5.
        ahead: Lead of its NDCG@5 over the models that it would replace; None for the first.
        kept: True if these models answer from now on, or did until a later verdict replaced them.
    """

    name: str
    ndcg: float
    recall: float
    ahead: Difference | None = None
    kept: bool = True

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Verdict:
        """Read a verdict from the output of `jsonform.to_json`."""
        ahead = values["ahead"]
        return cls(**{**values, "ahead": None if ahead is None else Difference(**ahead)})


def answer_rows(
    index: SheetIndex,
    reranker: str | Path,
    queries: Sequence[Query],
    counting: Progress | None = None,
) -> Rows:
    """Return one row a question, of the first five hits, as `sat search` finds them.

    No day is assumed for relative dates, so the same labels give the same rows tomorrow.

    Args:
        index: The index to search, all its sheets.
        reranker: Stage 2: "links", "auto" for the index's own, or the run folder of a trained one.
        queries: Labelled questions, at least one.
        counting: Called with the number of questions done, and of all questions.
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
    """Return the verdict on the models that answer before any training."""
    return Verdict(name, *_means(now))


def next_verdict(name: str, new: Rows, now: Rows, circles: Sequence[int], *, sure: bool) -> Verdict:
    """Return the verdict on models that could replace the current ones.

    The interval is over families. Questions about the same families are not independent evidence,
    and a user's families will be others.

    Args:
        name: The new models.
        new: Rows of the new models.
        now: Rows of the current models, on the same questions.
        circles: The families that each question is about, as a number; see `heldout.circles`.
        sure: Replace only if the lead is beyond chance: the whole interval lies above 0. It holds
            80 % of the draws, so the new models lead in nine draws of ten.

    >>> found = {"query": 0, "relevant": 1, "hits": [1]}, {"query": 1, "relevant": 1, "hits": [1]}
    >>> missed = {"query": 0, "relevant": 1, "hits": []}
    >>> verdict = next_verdict("new", found, (missed, found[1]), (0, 1), sure=True)
    >>> verdict.ahead.mean, verdict.ahead.low, verdict.kept
    (0.5, 0.0, False)
    """
    ahead = difference({None: new}, {None: now}, clusters=circles, level=LEVEL)
    certain = ahead.low > 0 and len(set(circles)) > 1  # with one circle all draws are equal
    kept = certain if sure else ahead.mean > 0
    return Verdict(name, *_means(new), ahead, kept)


def _means(rows: Rows) -> tuple[float, float]:
    """Return the mean NDCG@5 and Recall@5 of some rows."""
    found = metrics_of(rows, ("NDCG@5", "Recall@5"))
    return found["NDCG@5"] or 0.0, found["Recall@5"] or 0.0
