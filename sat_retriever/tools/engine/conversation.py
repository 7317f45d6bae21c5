"""The steps from a prepared question to its answer; the caller does all input and output.

Each step asks for one thing: a language model's reply to a prompt, or the rows of a query. An
adapter carries it out as its framework does, at once, asynchronously or streamed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from sat_retriever.errors import QueryError
from sat_retriever.llm.served import without_reasoning
from sat_retriever.records.sheetanswer import AnswerKind, Attempt, QueryResult, SheetAnswer
from sat_retriever.tools.engine.evidence import (
    ReadSheet,
    evidence_of,
    holds_times,
    texts_queried,
    texts_read,
    unseen_in,
)
from sat_retriever.tools.engine.match import Unnamed, unnamed
from sat_retriever.tools.engine.prepare import Prepared
from sat_retriever.tools.engine.prompts import (
    Prompt,
    fenced,
    query_prompt,
    read_prompt,
    result_text,
    told_prompt,
)
from sat_retriever.tools.engine.reply import WordStream, is_no_answer, named_sheets, query_of
from sat_retriever.tools.sql.query import TableQuery

NOTHING = "No sheet was found for this question."
# What is told of a query, and the advice on it.
_NO_ROWS = (
    "The query gives no row, or only empty values or zeros.",
    "Texts in the tables may be spelled otherwise, or stand in another column. A condition that "
    "holds for a whole table, such as its year, can be left out.",
)
_UNNAMED = (
    "The question does not name {}.",
    "Leave out conditions with values that the question does not name.",
)
_LEFT_OUT = "The query leaves out what the question does not name: {}."
_WITHOUT = "Without them the query is:"
_REPEATED = (
    "The join repeats records of {}, so they are added up more than once.",
    "Read one table alone if it has what is asked for, or add up before you join.",
)
_SAME_AGAIN = "Write the same query again if that is the right answer."
_OTHER_ROWS = "Its rows do not answer the question."
_TRIED = "No query gave an answer, so it was read from the tables' text."
_UNSEEN = "Not in the cells that were read: {}."
_NOT_IN_ROWS = "Not in the rows of the query: {}."
_SILENT = "The language model gave no answer."
_TEXT_TOKENS = 400  # of the rows that stand in for an answer


@dataclass(frozen=True, slots=True)
class Query:
    """A query to run over the tables."""

    tables: TableQuery
    sql: str

    def run(self) -> QueryResult | QueryError:
        """Return the rows, or the reason why there are none."""
        try:
            return self.tables.run(self.sql)
        except QueryError as error:
            return error


Step: TypeAlias = Prompt | Query
_Doubt: TypeAlias = tuple[str, str]  # what is so, which may hold texts of cells, and our advice
Reply: TypeAlias = str | QueryResult | QueryError
_Steps: TypeAlias = Generator[Step, Reply, SheetAnswer]


class Conversation:
    """The steps to one answer, one after another.

    Take `step`, carry it out, hand its result to `reply`, until `step` is None; then `answer` holds
    the answer. A `Prompt` wants the model's reply as text, a `Query` the result of its `run`. A
    reply that comes in pieces can be given to `hear`, piece by piece, and ends by `heard`.
    """

    def __init__(self, prepared: Prepared) -> None:
        self.step: Step | None = None
        self.answer: SheetAnswer | None = None
        self._words = WordStream()
        self._steps = _steps(prepared)
        self._next(lambda: next(self._steps))

    def reply(self, given: Reply) -> None:
        """Take the result of the step and go on to the next one."""
        self._next(lambda: self._steps.send(given))

    def hear(self, piece: str) -> str:
        """Take a piece of the model's reply; return what a person can be shown of it, or ""."""
        shown = self._words.shown(piece)
        return shown if isinstance(self.step, Prompt) and self.step.final else ""

    def heard(self) -> None:
        """Go on to the next step: all pieces of the reply have come."""
        self.reply(self._words.said)

    @property
    def unshown(self) -> str:
        """The answer's words, if `hear` has shown none of them."""
        return "" if self.answer is None or self._words.begun else self.answer.text

    def _next(self, advance: Callable[[], Step]) -> None:
        try:
            self.step = advance()
            self._words = WordStream()
        except StopIteration as end:
            self.step, self.answer = None, end.value


def answered(prepared: Prepared, model: Callable[[Prompt], str]) -> SheetAnswer:
    """Return the answer of a language model to a prepared question."""
    talk = Conversation(prepared)
    while talk.step:
        talk.reply(model(talk.step) if isinstance(talk.step, Prompt) else talk.step.run())
    assert talk.answer is not None
    return talk.answer


def _steps(prepared: Prepared) -> _Steps:
    if not prepared.hits:
        return SheetAnswer(prepared.question, NOTHING, AnswerKind.NOTHING, prepared.hits)
    attempts: tuple[Attempt, ...] = ()
    if prepared.tables is not None:
        result, attempts = yield from _queried(prepared, prepared.tables)
        if result is not None:
            return (yield from _told(prepared, result, attempts))
    return (yield from _read(prepared, attempts))


def _queried(
    prepared: Prepared, tables: TableQuery
) -> Generator[Step, Reply, tuple[QueryResult | None, tuple[Attempt, ...]]]:
    """Return the rows of the model's query, mended if need be, and all queries that it wrote.

    A result in doubt is asked about once: the next one counts, or the same again, unless it has no
    values and the first has. A query without values that is written again is not shown again. There
    are no rows if every query failed, or the model decided against one.
    """
    attempts: list[Attempt] = []
    advice: list[str] = []
    held: QueryResult | None = None
    copied = False
    for remaining in range(prepared.settings.repairs, -1, -1):
        values = held is not None and held.has_values
        hints = advice if held is None or copied else [*advice, _SAME_AGAIN]
        prompt = query_prompt(
            prepared, attempts, remaining, hints=hints, values=values, copied=copied
        )
        sql = query_of(str((yield prompt)))
        if sql is None:
            return held if values else None, tuple(attempts)
        same = bool(attempts) and attempts[-1].sql == sql
        if same and not values and (held is None or not copied):
            copied = True
            continue
        found = yield Query(tables, sql)
        doubts = _unnamed(prepared, sql)
        if not isinstance(found, QueryResult):
            doubts.append((str(found), ""))
        elif held is not None and (found.has_values or not held.has_values):
            error = "" if found.has_values else _joined(_NO_ROWS[0], found.note)
            return found, (*attempts, Attempt(sql, error))
        else:
            doubts += _doubts(found)
            if not doubts and held is None:
                return found, (*attempts, Attempt(sql, ""))
            held = held or found
        attempts.append(Attempt(sql, _joined(*(fact for fact, _ in doubts))))
        advice += [each for _, each in doubts if each and each not in advice]
    return held, tuple(attempts)


def _doubts(found: QueryResult) -> list[_Doubt]:
    """Return what speaks against a result, for the model."""
    if not found.has_values:
        return [_NO_ROWS, (found.note, "")]
    fact, advice = _REPEATED
    return [(fact.format(" and ".join(found.repeated)), advice)] if found.repeated else []


def _unnamed_in(prepared: Prepared, sql: str) -> Unnamed:
    own = [each.table for each in prepared.tables.tables] if prepared.tables else []
    return unnamed(prepared.question, prepared.times, sql, own)


def _left_out(prepared: Prepared, attempts: Sequence[Attempt]) -> str:
    """Return a note on the conditions that were taken out of the query that is told, if any."""
    for before, after in pairwise(attempts):
        found = _unnamed_in(prepared, before.sql)
        if found.without.split() == after.sql.split():
            return _LEFT_OUT.format(", ".join(found.values))
    return ""


def _unnamed(prepared: Prepared, sql: str) -> list[_Doubt]:
    """Return what a query's conditions have that the question does not name, for the model."""
    found = _unnamed_in(prepared, sql)
    if not found.values:
        return []
    fact, advice = _UNNAMED
    offered = f" {_WITHOUT}\n{fenced(found.without)}" if found.without else ""
    return [(fact.format(", ".join(found.values)), f"{advice}{offered}")]


def _told(prepared: Prepared, result: QueryResult, attempts: tuple[Attempt, ...]) -> _Steps:
    """Return the answer from a query's rows; the rows themselves if the model says nothing.

    If the model finds that they do not answer the question, the texts are read.
    """
    text = without_reasoning(str((yield told_prompt(prepared, result))))
    unseen = ", ".join(unseen_in(text, prepared.question, result))
    if is_no_answer(text):
        other = [
            replace(each, error=_joined(each.error, _OTHER_ROWS))
            if each.sql == result.sql
            else each
            for each in attempts
        ]
        return (yield from _read(prepared, tuple(other)))
    if not text:
        rows = result_text(result, _TEXT_TOKENS)
        text = f"{_SILENT} The query gives:\n\n{rows}"
    tables = prepared.tables.tables if prepared.tables else ()
    note = _joined(
        _NOT_IN_ROWS.format(unseen) if unseen else "",
        _left_out(prepared, attempts),
        _times_note(prepared, texts_queried(result, tables)),
        prepared.note,
        result.note,
    )
    return SheetAnswer(
        prepared.question,
        text,
        AnswerKind.SQL,
        prepared.hits,
        result.citations,
        result,
        attempts,
        note,
    )


def _read(prepared: Prepared, attempts: tuple[Attempt, ...]) -> _Steps:
    """Return the answer from the texts of the sheets found, with the cells that it rests on."""
    hits = prepared.hits
    text = without_reasoning(str((yield read_prompt(prepared))))
    named = [number - 1 for number in named_sheets(text, len(hits))]
    sheets = [ReadSheet(*each) for each in zip(hits, prepared.read, strict=True)]
    found = evidence_of(text, prepared.question, sheets, named)
    cited = found.citations(sheets) or tuple(hits[at].citation for at in named)
    unseen = _UNSEEN.format(", ".join(found.unseen)) if found.unseen else ""
    times = _times_note(prepared, texts_read(sheets, found))
    return SheetAnswer(
        prepared.question,
        text or f"{_SILENT} See the sheets that were found.",
        AnswerKind.TEXT,
        hits,
        cited or tuple(hit.citation for hit in hits),
        None,
        attempts,
        _joined(_TRIED if attempts else "", unseen, times, prepared.note),
    )


def _times_note(prepared: Prepared, used: Iterable[str]) -> str:
    """Return the note that no sheet is named for the times asked for, unless those used are."""
    note = prepared.hits.note
    return "" if note and holds_times(used, prepared.times) else note


def _joined(*notes: str) -> str:
    return " ".join(note for note in notes if note)
