"""How good answers are that a user of an index would get, and whether others are better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_retriever.datasets.labels import Query
from sat_retriever.index.index import SheetIndex
from sat_retriever.metrics import Difference, mean, ndcg, paired_bootstrap, recall
from sat_retriever.period.asked import UNDATED
from sat_retriever.records.progress import Progress
from sat_retriever.retriever import SheetRetriever

LEVEL = 0.8  # of the interval; chosen on development corpora, see the benchmarks' log
_K = 5


@dataclass(frozen=True, slots=True)
class Marks:
    """What some questions' answers are worth, each mark in [0, 1].

    Attributes:
        ndcg: NDCG@5 of each question.
        recall: Recall@5 of each.
    """

    ndcg: tuple[float, ...]
    recall: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One way to answer, over the judging questions.

    Attributes:
        name: What answers.
        ndcg: Mean NDCG@5.
        recall: Mean Recall@5.
        ahead: How far its NDCG@5 is ahead of what it would replace; None of the first.
        kept: Whether it is what answers from now on, or did until a later row was kept.
    """

    name: str
    ndcg: float
    recall: float
    ahead: Difference | None = None
    kept: bool = True

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Row:
        """What `jsonform.to_json` gave."""
        ahead = values["ahead"]
        return cls(**{**values, "ahead": None if ahead is None else Difference(**ahead)})


def marks(
    index: SheetIndex,
    reranker: str | Path,
    queries: Sequence[Query],
    counting: Progress | None = None,
) -> Marks:
    """What the first five hits are worth that `sat search` gives.

    Questions are read without a day, since the same labels must give the same marks tomorrow.

    Args:
        index: Where to look; all its sheets.
        reranker: Stage 2: "links", "auto" for the index's own, or the run folder of a trained one.
        queries: Labelled questions, at least one.
        counting: Called with questions done, and questions in all.
    """
    retriever = SheetRetriever(index, reranker)
    found: list[tuple[float, float]] = []
    for query in queries:
        ids = [hit.sheet_id for hit in retriever.retrieve(query.text, _K, today=UNDATED)]
        found.append((ndcg(ids, query.positives, _K), recall(ids, query.positives, _K)))
        if counting is not None:
            counting(len(found), len(queries))
    return Marks(tuple(each[0] for each in found), tuple(each[1] for each in found))


def first_row(name: str, now: Marks) -> Row:
    """What answers before anything is learnt."""
    return Row(name, mean(now.ndcg), mean(now.recall))


def next_row(name: str, new: Marks, now: Marks, circles: Sequence[int], *, sure: bool) -> Row:
    """What could replace another, and whether it does.

    The interval is one over families: questions about the same ones are no independent evidence,
    and a user's families are others.

    Args:
        name: What it is.
        new: Its marks.
        now: Those of what answers now, on the same questions.
        circles: The families that each question is about, as a number; see `heldout.circles`.
        sure: It does only if it is ahead beyond chance: the whole interval above 0, which holds
            80 % of the draws, so that it is ahead in nine of ten.

    >>> row = next_row("new", Marks((1.0, 0.5), (1.0, 0.5)), Marks((0.5, 0.5), (1.0, 0.5)),
    ...                (0, 1), sure=True)
    >>> row.ahead.mean, row.ahead.low, row.kept
    (0.25, 0.0, False)
    """
    ahead = paired_bootstrap(new.ndcg, now.ndcg, circles, level=LEVEL)
    certain = ahead.low > 0 and len(set(circles)) > 1  # of one circle every draw is the same
    kept = certain if sure else ahead.mean > 0
    return Row(name, mean(new.ndcg), mean(new.recall), ahead, kept)
