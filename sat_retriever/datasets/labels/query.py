"""Define a labelled query: a question with its relevant sheets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

UNANSWERABLE = "unanswerable"
"""Type of a question that nothing answers; the only one without relevant sheets."""


@dataclass(frozen=True, slots=True)
class Query:
    """One labelled question.

    Attributes:
        text: The question.
        positives: Ids of all relevant sheets; at least one, except for type "unanswerable".
        negatives: Ids of sheets known not to be relevant.
        hard_negatives: Ids of sheets that look relevant but are not.
        hard_negative_types: Reason why a hard negative looks relevant, by sheet id.
        query_type: For example "semantic_lookup"; empty if not given.
        dependency_type: Relation between the positives; empty if not given.
        workbook: Workbook that the question was written for; empty if not given.
        evidence: Hint published with the question (BIRD); not part of the text.
    """

    text: str
    positives: tuple[str, ...]
    negatives: tuple[str, ...] = ()
    hard_negatives: tuple[str, ...] = ()
    hard_negative_types: Mapping[str, str] = field(default_factory=dict)
    query_type: str = ""
    dependency_type: str = ""
    workbook: str = ""
    evidence: str = ""
