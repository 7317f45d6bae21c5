"""The rows of `run features`, and how they are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sat_retriever.datasets.metrics import Difference, paired_bootstrap
from sat_retriever.datasets.metrics.rows import Rows, metrics_of

START, WHOLE, UNGUARDED = "start", "features", "features_unguarded"
LINKS, PULLS = "links", "pulls"
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "words": ("covered", "added to", "only here", "words"),
        "cosine": ("cosine",),
        "contents": ("contents", "phrase", "one over contents rank"),
        "workbook": ("workbook", "gap within workbook", "best sibling", "beside first"),
        LINKS: (
            "formula_reference", "aggregation", "summary_source", "join_key", "sibling_period",
            "sources", "targets", "joined", "linked to first", "lift", "added",
        ),
        PULLS: (),
        "sheet": ("role", "rows", "columns", "time"),
        "question": (
            "covered by names", "named", "in contents alone", "cosine weight",
            "index with contents", "question words", "explaining", "margin", "best score",
            "spread", "index size",
        ),
    }
)  # fmt: skip
"""Groups of features by the beginnings of their names; pulls are those of linked sheets."""


def gap(first: Sequence[float], others: Sequence[Sequence[float]]) -> Difference:
    """Return the mean difference of some seeds to the start, with its interval over questions.

    Args:
        first: The start's value of each question.
        others: The same of each seed.
    """
    return paired_bootstrap(
        [value for each in others for value in each], [*first] * len(others),
        [place for each in others for place in range(len(each))],
    )  # fmt: skip


def ndcg(rows: Rows) -> list[float]:
    """Return NDCG@10 of each row."""
    return [float(metrics_of([row], ["NDCG@10"])["NDCG@10"] or 0) for row in rows]
