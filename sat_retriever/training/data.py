"""What Stage 1 and the Cross-Encoder learn from: texts of sheets, questions and their gold."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from sat_retriever.errors import EmptyInputError, InputError


@dataclass(frozen=True, slots=True)
class Questions:
    """Questions with their relevant sheets.

    Attributes:
        texts: What is asked.
        positives: Rows of the relevant sheets of each, at least one, ascending.
        hard_negatives: Rows of annotated hard negatives of each; may be empty.
    """

    texts: tuple[str, ...]
    positives: tuple[tuple[int, ...], ...]
    hard_negatives: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, slots=True)
class TrainingData:
    """A corpus with training and validation questions.

    Attributes:
        name: Stable name of where it comes from, for example "industrytab_1k".
        sheet_ids: Id of each sheet, n of them; a row is a place in this order.
        sheets: Text of each sheet.
        train: Questions to learn from.
        validation: Questions to choose with; they search all sheets.
        seen: Rows of the sheets that training may use, even as negatives; ascending.

    Raises:
        EmptyInputError: If there are no training or no validation questions.
        InputError: If a training question has a relevant sheet that training may not use.
    """

    name: str
    sheet_ids: tuple[str, ...]
    sheets: tuple[str, ...]
    train: Questions
    validation: Questions
    seen: tuple[int, ...]

    def __post_init__(self) -> None:
        for part, questions in (("training", self.train), ("validation", self.validation)):
            if not len(questions):
                raise EmptyInputError(f"{self.name} has no {part} questions; give some labels")
        allowed = set(self.seen)
        for text, rows in zip(self.train.texts, self.train.positives, strict=True):
            if not allowed.issuperset(rows):
                raise InputError(
                    f"the training question {text[:60]!r} has a relevant sheet that is held out "
                    "from training; leave the question out, or let training see the sheet"
                )

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over all texts, gold sets and held-out sheets."""
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
