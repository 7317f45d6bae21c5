"""Hold a data set as text encoders read it: texts of sheets, and queries with row numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sat_retriever.datasets.metrics.rows import Rows, metrics_of, row_of
from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.text.lexical import LexicalScorer
from sat_retriever.text.period.relation import Times

NO_SHEET = -1  # padding for questions with fewer sheets
SHARES = tuple(round(0.1 * step, 1) for step in range(11))  # 0, .1 … 1


@dataclass(frozen=True, slots=True)
class QueryRows:
    """Queries with the rows of their sheets."""

    texts: tuple[str, ...]
    positives: tuple[tuple[int, ...], ...]  # rows of relevant sheets, at least one, ascending
    hard_negatives: tuple[tuple[int, ...], ...]  # rows of annotated ones; may be empty

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, slots=True)
class TrainingData:
    """A data set as texts and rows, with its training and validation queries.

    With `lexical`, BM25 over the sheets, validation chooses the share of the encoder's cosine in
    the fused score among `shares`; with `times`, for an index that uses them.

    Raises:
        EmptyInputError: If there are no training or no validation questions, or a question
            has no relevant sheet.
        InputError: If a question names an unknown row, a relevant sheet of a training question
            is not in `seen`, or `lexical` or `times` has other sheets.
    """

    name: str  # stable, for example "industrytab_1k"
    sheet_ids: tuple[str, ...]  # of the n sheets; a row is a place in this order
    sheets: tuple[str, ...]  # their texts
    train: QueryRows
    validation: QueryRows  # chooses the model; searches all sheets
    seen: tuple[int, ...]  # rows that training may use, even as negatives; ascending
    lexical: LexicalScorer | None = field(default=None, compare=False, repr=False)
    times: Times | None = field(default=None, compare=False, repr=False)
    shares: tuple[float, ...] = field(default=SHARES, compare=False, repr=False)

    def __post_init__(self) -> None:
        for part, questions in (("training", self.train), ("validation", self.validation)):
            if not len(questions):
                raise EmptyInputError(f"{self.name} has no {part} questions; give some labels")
            self._check(part, questions)
        allowed = set(self.seen)
        for text, rows in zip(self.train.texts, self.train.positives, strict=True):
            if not allowed.issuperset(rows):
                raise InputError(
                    f"the training question {text[:60]!r} has a relevant sheet that is held out "
                    "from training; leave the question out, or let training see the sheet"
                )
        for name, scored in (("lexical", self.lexical), ("times", self.times)):
            if scored is not None and len(scored) != len(self.sheets):
                raise InputError(
                    f"{name} has {len(scored):,} sheets, {self.name} has {len(self.sheets):,}; "
                    "make it from the same records"
                )

    def _check(self, part: str, questions: QueryRows) -> None:
        for text, rows in zip(questions.texts, questions.positives, strict=True):
            if not rows:
                raise EmptyInputError(
                    f"the {part} question {text[:60]!r} has no relevant sheet; label one, or "
                    "leave the question out"
                )
            if min(rows) < 0 or max(rows) >= len(self.sheets):
                raise InputError(
                    f"the {part} question {text[:60]!r} has relevant rows {list(rows)[:5]}, but "
                    f"{self.name} has {len(self.sheets):,} sheets; rows count from 0"
                )

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over all texts, relevant sheets and held-out sheets."""
        parts = [
            self.sheet_ids,
            self.sheets,
            *(
                (part.texts, part.positives, part.hard_negatives)
                for part in (self.train, self.validation)
            ),
            self.seen,
        ]
        return hashlib.sha256(json.dumps(parts).encode("utf-8")).hexdigest()[:16]


def ranked_metrics(
    ranked: NDArray[np.int64], questions: QueryRows, names: Collection[str]
) -> dict[str, float]:
    """Return means over the questions, each in [0, 1], without metrics that no question defines.

    `ranked` has the rows of each question's sheets, best first, (m, k), padded with `NO_SHEET`.
    """
    labels = zip(questions.positives, questions.hard_negatives, strict=True)
    rows = [
        row_of(place, [row for row in found if row != NO_SHEET], gold, hard)
        for place, (found, (gold, hard)) in enumerate(zip(ranked.tolist(), labels, strict=True))
    ]
    return defined_metrics(rows, names)


def defined_metrics(rows: Rows, names: Collection[str]) -> dict[str, float]:
    """Return means over the rows, without metrics that no row defines."""
    found = metrics_of(rows, names)
    return {name: value for name, value in found.items() if value is not None}
