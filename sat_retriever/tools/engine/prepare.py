"""Prepare a question for a language model: find the sheets, load their tables, read their texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sat_retriever._extras import install_command
from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.records.filters import Filters
from sat_retriever.records.hits import Answer, Hit
from sat_retriever.records.typedtable import TypedTable
from sat_retriever.text.period.spans import Span, asked_on
from sat_retriever.tools.content import Content, SheetText, text_readers
from sat_retriever.tools.engine.match import TableMatch, matches_of
from sat_retriever.tools.naming import gone
from sat_retriever.tools.sql.ask import DEFAULT_LIMITS, QueryLimits, can_query
from sat_retriever.tools.sql.query import MAX_TABLES, TableQuery

_LEAST_TOKENS = 200
_DIGITS = 8  # of a fraction in the texts; many models read each digit as a token


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Bounds of one answer.

    Attributes:
        top_k: Sheets whose texts are read where SQL does not fit.
        tables: Best of these sheets whose tables can be queried; 0 answers from texts alone.
        repairs: Most times that a failed query is sent back to be mended.
        max_tokens: Largest number of tokens of data in one prompt, as `estimated_tokens` counts
            them.
        totals: True to keep totals and subtotals among the records that can be queried.

    Raises:
        InputError: If a number is out of range.
    """

    top_k: int = 5
    tables: int = 5
    repairs: int = 2
    max_tokens: int = 4_000
    limits: QueryLimits = DEFAULT_LIMITS
    totals: bool = False

    def __post_init__(self) -> None:
        for name, least, most in (
            ("top_k", 1, 50),
            ("tables", 0, MAX_TABLES),
            ("repairs", 0, 5),
            ("max_tokens", _LEAST_TOKENS, 1_000_000),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise InputError(f"{name} is {value}; give a number from {least} to {most:,}")


DEFAULT_SETTINGS = EngineSettings()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question with the data for its answer.

    Attributes:
        today: The day from which "last year" counts.
        tables: Their tables, ready to be queried; None if there are none.
        matches: What the question names of each of them.
        read: Text of each sheet found, in the order of the hits, with the cells that it shows.
        times: The times that the question names.
        note: Sheets whose tables could not be loaded, and why; empty if all were.
    """

    question: str
    today: date
    hits: Answer
    tables: TableQuery | None
    read: tuple[SheetText, ...]
    matches: tuple[TableMatch, ...]
    times: tuple[Span, ...]
    settings: EngineSettings
    note: str

    @property
    def fits(self) -> bool:
        """True if the question names a column or a value of a table that can be queried."""
        return any(self.matches)

    @property
    def texts(self) -> tuple[str, ...]:
        """Text of each sheet found."""
        return tuple(each.text for each in self.read)


def prepare(
    retriever: SheetRetriever,
    question: str,
    filters: Filters | None = None,
    *,
    settings: EngineSettings = DEFAULT_SETTINGS,
    today: date | None = None,
) -> Prepared:
    """Return a question with the sheets found for it, their tables and their texts.

    Workbooks are read at this moment. A table that cannot be loaded is left out and noted.

    Args:
        today: The day from which "last year" counts; None is the day of the call.

    Raises:
        EmptyInputError: If the question is empty.
        EncoderError: If the index's encoder cannot be loaded.
    """
    day = asked_on(today)
    hits = retriever.retrieve(question, settings.top_k, filters, today=day)
    if can_query():
        tables, failed = _loaded(hits[: settings.tables], settings)
    else:
        missing = f"No table can be queried; run: {install_command('sql')}."
        tables, failed = [], [missing] * bool(settings.tables)
    most = max(16, settings.max_tokens // max(1, len(hits)))
    form = Content(max_tokens=most, digits=_DIGITS)
    return Prepared(
        question,
        day,
        hits,
        TableQuery.over(tables, settings.limits, day) if tables else None,
        tuple(read() for read in text_readers(retriever.index, hits, form)),
        matches_of(question, tables),
        retriever.times(question, today=day).spans,
        settings,
        " ".join(failed),
    )


def _loaded(hits: Sequence[Hit], settings: EngineSettings) -> tuple[list[TypedTable], list[str]]:
    """Return the tables of hits, of at most some cells together, and notes on those left out."""
    most = settings.limits.cells
    tables: list[TypedTable] = []
    failed = []
    for hit in (each for each in hits if each.answering):
        try:
            table = hit.table(totals=settings.totals)
        except PathNotFoundError:
            failed.append(f"Not queried: {gone(hit.record)}.")
            continue
        except InputError as error:
            failed.append(f"Not queried: {hit.sheet_id}: {error}.")
            continue
        cells = len(table) * len(table.columns)
        if cells > most:
            failed.append(f"Not queried: {hit.sheet_id}: its {cells:,} cells are too many.")
            continue
        most -= cells
        tables.append(table)
    return tables, failed
