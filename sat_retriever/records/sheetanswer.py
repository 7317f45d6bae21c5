"""An answer in words, with the query and the cells that it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sat_retriever.records.answers import Answer
from sat_retriever.records.queryresult import QueryResult


class AnswerKind(StrEnum):
    """Source of an answer."""

    SQL = "sql"
    """Rows of a query over the tables found."""
    TEXT = "text"
    """Text of the tables found."""
    NOTHING = "nothing"
    """No sheet was found; the language model was not asked."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A query that a language model wrote.

    Attributes:
        sql: The query.
        error: The reason why it gave no rows; empty if it gave some.
    """

    sql: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class SheetAnswer:
    """An answer to a question about sheets.

    The citations come from the query and the sheets that were read, not from the language model,
    which only selects among the sheets it was shown.

    Attributes:
        question: The question.
        text: The answer in words.
        kind: Where it comes from.
        hits: The sheets found.
        citations: Ranges that it rests on, or all that were read if the model named none of them.
        result: Rows of the query; None for an answer from text.
        attempts: All queries, in the order in which they were tried.
        note: Further information for the reader; empty if there is none.
    """

    question: str
    text: str
    kind: AnswerKind
    hits: Answer
    citations: tuple[str, ...] = ()
    result: QueryResult | None = None
    attempts: tuple[Attempt, ...] = ()
    note: str = ""

    @property
    def sql(self) -> str | None:
        """The query whose rows the answer tells; None for an answer from text."""
        return self.result.sql if self.result else None

    @property
    def sources(self) -> str:
        """The citations and the note, to be shown below the text; empty without both.

        A citation of an answer from text has the number by which the text names its sheet.

        >>> SheetAnswer("how much?", "5", AnswerKind.SQL, Answer(), ("a.csv#a!A1:B3",)).sources
        'From a.csv#a!A1:B3'
        """
        numbers = {hit.citation: f"[{place}] " for place, hit in enumerate(self.hits, start=1)}
        shown = numbers if self.kind is AnswerKind.TEXT else {}
        cited = "; ".join(f"{shown.get(each, '')}{each}" for each in self.citations)
        return "\n".join(line for line in (cited and f"From {cited}", self.note) if line)

    def __str__(self) -> str:
        return f"{self.text}\n\n{self.sources}" if self.sources else self.text

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain JSON values, as `sat ask --json` prints it."""
        return {
            "question": self.question,
            "answer": self.text,
            "kind": self.kind.value,
            "citations": list(self.citations),
            "sql": self.sql,
            "result": self.result.to_dict() if self.result else None,
            "attempts": [{"sql": each.sql, "error": each.error} for each in self.attempts],
            **self.hits.to_dict(),
            "note": self.note,
        }
