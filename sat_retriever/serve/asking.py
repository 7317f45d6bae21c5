"""Questions answered in words over HTTP, by a language model, within some seconds."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.errors import LanguageModelError
from sat_retriever.llm.chat import Chat
from sat_retriever.records.filters import Filters
from sat_retriever.records.sheetanswer import AnswerKind, ResultValue, SheetAnswer
from sat_retriever.serve.request import PageError, text_of
from sat_retriever.stages import Stage, stage
from sat_retriever.system import check_wanted
from sat_retriever.tools.engine.conversation import answered
from sat_retriever.tools.engine.prepare import EngineSettings, prepare
from sat_retriever.tools.engine.prompts import Prompt
from sat_retriever.tools.results import FoundSheet, ToolResult
from sat_retriever.tools.work import Workers

_AT_ONCE, _WAITING = 2, 14


@dataclass(frozen=True, slots=True)
class WordedAnswer(ToolResult):
    """Answer of `ask`.

    Attributes:
        question: The question.
        answer: The answer in words.
        kind: What it was made of: the rows of a query, the text of the tables, or nothing, if no
            sheet was found.
        citations: Ranges that it rests on, or all that were read.
        sql: The query whose rows it tells; None for an answer from text.
        columns: Names of the columns of these rows.
        rows: The rows.
        complete: True if these are all rows.
        note: Further information for the reader; empty if there is none.
        confidence: Probability that the sheets searched hold the data, in [0, 1].
        sheets: The sheets found, best first.
    """

    question: str
    answer: str
    kind: AnswerKind
    citations: tuple[str, ...]
    sql: str | None
    columns: tuple[str, ...]
    rows: tuple[tuple[ResultValue, ...], ...]
    complete: bool
    note: str
    confidence: float
    sheets: tuple[FoundSheet, ...]

    @classmethod
    def of(cls, found: SheetAnswer) -> WordedAnswer:
        """Return an answer in the form of a tool's."""
        result = found.result
        return cls(
            found.question,
            found.text,
            found.kind,
            found.citations,
            found.sql,
            result.columns if result else (),
            result.rows if result else (),
            result.complete if result else True,
            found.note,
            round(found.hits.confidence, 4),
            tuple(map(FoundSheet.of, found.hits)),
        )


class Asking:
    """Answers questions by a language model.

    Args:
        seconds: Longest time for one answer.

    Attributes:
        threads: Where answers are to be made: few at once, because a model is slow.
    """

    def __init__(
        self, retriever: SheetRetriever, chat: Chat, *, max_tokens: int, seconds: float
    ) -> None:
        self._retriever = retriever
        self._chat = chat
        self._max_tokens = max_tokens
        self._seconds = seconds
        self.threads = Workers(_AT_ONCE, _WAITING)

    def ask(
        self,
        question: str,
        top_k: int = 5,
        tables: int = 5,
        totals: bool = False,
        workbook: str | None = None,
        path: str | None = None,
    ) -> WordedAnswer:
        """Answer a question in words, from the sheets found, with citations.

        A language model writes SQL over the tables of the best sheets, a sandbox runs it, and the
        model puts the rows into words. If SQL does not fit, it answers from the tables' text.

        Args:
            question: The question.
            top_k: How many sheets to read at most, from 1 to 50.
            tables: How many of the best sheets can be queried, from 0 to 20; 0 reads text alone.
            totals: Keep rows of totals and subtotals among the records.
            workbook: Only sheets of the workbook with exactly this file name.
            path: Only workbooks whose path matches this pattern, such as 2024/*.xlsx.

        Raises:
            InputError: If the question is empty, or a number is out of range.
            LanguageModelError: If the model cannot be reached, or answers badly.
        """
        filters = Filters(workbook=workbook or None, path=path or None)
        return WordedAnswer.of(
            self.answer(question, filters or None, top_k=top_k, tables=tables, totals=totals)
        )

    def answer(self, question: str, filters: Filters | None, **settings: Any) -> SheetAnswer:
        """Answer a question; `settings` are those of `EngineSettings`."""
        text_of({"question": question}, "question")
        with stage(Stage.ASK):
            return self._answer(question, filters, settings)

    def _answer(
        self, question: str, filters: Filters | None, settings: Mapping[str, Any]
    ) -> SheetAnswer:
        until = time.monotonic() + self._seconds
        bounds = EngineSettings(max_tokens=self._max_tokens, **settings)
        ready = prepare(self._retriever, question, filters, settings=bounds)

        def reply(prompt: Prompt) -> str:
            said = ""
            try:
                for piece in self._chat.words(prompt.system, prompt.user, whole=prompt.final):
                    check_wanted()
                    said += piece.text
                    if time.monotonic() > until:
                        break
                else:
                    return said
            except LanguageModelError:
                if time.monotonic() < until:
                    raise
            raise PageError(504, f"The answer took more than {self._seconds:g} seconds.")

        return answered(ready, reply)
