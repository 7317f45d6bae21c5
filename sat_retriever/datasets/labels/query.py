"""A labelled query: a question with its relevant sheets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Query:
    """One labelled question.

    Attributes:
        text: What is asked.
        positives: Ids of every relevant sheet, at least one.
        negatives: Ids of sheets known not to be relevant.
        hard_negatives: Those of them that look relevant.
        hard_negative_types: Why a hard negative looks relevant, by sheet id.
        query_type: For example "semantic_lookup"; empty when not given.
        dependency_type: Relation between the positives; empty when not given.
        workbook: Workbook the question was written for; empty when not given.
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
