"""Write the workbooks of a corpus's units, in parallel, and collect the data to publish."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

from sat_retriever.errors import InputError
from sat_retriever.llm.chat import Chat
from sat_retriever.questions.facts import SheetFacts
from sat_retriever.records.contents import SheetContents
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.synth.answers.ask import Answer
from sat_retriever.synth.answers.make import unit_answers
from sat_retriever.synth.book.enrich import enriched, measured
from sat_retriever.synth.book.model import Book
from sat_retriever.synth.book.restrict import Keep, restricted
from sat_retriever.synth.calculate.compile import CompiledBook, compiled
from sat_retriever.synth.calculate.evaluate import Values
from sat_retriever.synth.categories import category
from sat_retriever.synth.fabricate import fabricate, with_placeholders
from sat_retriever.synth.language.retell import Retelling, proper_names
from sat_retriever.synth.language.translate import (
    CachedTranslator,
    ModelTranslator,
    packaged_languages,
)
from sat_retriever.synth.pairs import Headers, PairSheet
from sat_retriever.synth.plan.plan import Plan, Unit, kept
from sat_retriever.synth.truth.keys import true_keys
from sat_retriever.synth.truth.links import facts_in_time, true_links, true_siblings
from sat_retriever.synth.truth.records import sheet_id, true_contents, true_records
from sat_retriever.synth.words.vocabulary import Vocabulary
from sat_retriever.synth.write.xlsx import write_xlsx


@dataclass(frozen=True, slots=True)
class MadeSheet:
    """A written sheet and the truth about it.

    Attributes:
        facts: None for a sheet that answers no question.
        columns: Ids of its columns, with their headers in the record.
        stem: Original sheet, equal for its source and its target; empty for other sheets.
        group: Name of the sheets of which it is a copy or a version; empty where there are none.
    """

    record: SheetRecord
    category: str
    convention: str
    facts: SheetFacts | None
    columns: Headers
    stem: str
    contents: SheetContents | None = None
    group: str = ""

    def pair(self, number: int) -> PairSheet:
        """Return the data of the sheet for `train.json`."""
        kind = self.facts.kind if self.facts else self.record.sheet
        return PairSheet(number, f"{self.category}/{kind}", self.columns, self.stem)


@dataclass(frozen=True, slots=True)
class MadeUnit:
    """The contribution of a unit to the corpus.

    Attributes:
        links: Links from formulas, declarations and periods; none leads to another unit.
        keys: Joins without formulas: `join_key` links that are not among `links`.
    """

    sheets: tuple[MadeSheet, ...]
    links: tuple[Link, ...]
    keys: tuple[Link, ...]
    workbooks: int
    answers: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class Retold:
    """The language of a corpus other than English, as `SynthOptions` names it."""

    language: str
    folder: Path | None = None
    model: str = ""
    llm_url: str | None = None

    def books(self, books: Sequence[Book], vocabulary: Vocabulary) -> tuple[Book, ...]:
        """Translate the workbooks of a unit."""
        retelling = Retelling(self.translator(), self.language, proper=proper_names(vocabulary))
        return tuple(retelling.book(book) for book in books)

    def translator(self) -> CachedTranslator:
        """Open the known translations, with the model for the rest."""
        inner = ModelTranslator(Chat(self.model, self.llm_url)) if self.model else None
        translator = CachedTranslator(self.folder, inner)
        if not translator.known(self.language) and inner is None:
            where = "the packaged words" if self.folder is None else f"{self.folder}"
            raise InputError(
                f"there are no translations into {self.language!r} in {where}; the packaged "
                f"languages are {', '.join(packaged_languages())}; name a folder with "
                f"{self.language}.json, or a language model"
            )
        return translator


def unit_books(
    unit: Unit,
    *,
    fabricated: bool = False,
    retold: Retold | None = None,
    asked: bool = False,
    answered: bool = False,
) -> list[tuple[Book, str]]:
    """Return the workbooks of a unit, each with its stem: the path of its original, or "".

    Source: paper, appendix on data sets: workbooks are translated before pairs are
    fabricated, and placeholders replace high-cardinality text. Pairs have no hidden sheets, and
    nothing can be asked about their contents.
    """
    books = tuple(category(unit.category).books(unit.house, unit.years))
    tabs = kept(unit, books)
    hidden = {(b.path, s.name) for b in books for s in b.sheets if s.hidden and fabricated}
    keep = {
        (path, tab): Keep()
        for path, names in tabs.items()
        for tab in names
        if (path, tab) not in hidden
    }
    books = restricted(books, keep)
    if retold is not None:
        books = retold.books(books, unit.house.vocabulary)
    if asked and not fabricated:
        books = tuple(enriched(book, unit.house) for book in books)
    if answered and not fabricated:
        books = tuple(measured(book, unit.house) for book in books)
    if not fabricated:
        return [(book, "") for book in books]
    pairs = fabricate(with_placeholders(books), unit.house.chance)
    return [(book, pair.stem) for pair in pairs for book in (pair.source, pair.target)]


def made_unit(
    unit: Unit,
    folder: Path,
    *,
    fabricated: bool = False,
    retold: Retold | None = None,
    asked: bool = False,
    answered: bool = False,
) -> MadeUnit:
    """Write the workbooks of a unit, and return the data about them."""
    made = unit_books(unit, fabricated=fabricated, retold=retold, asked=asked, answered=answered)
    by_path = {book.path: book for book, _ in made}
    values = Values(by_path.get)
    sheets: list[MadeSheet] = []
    links: list[Link] = []
    books: list[CompiledBook] = []
    for book, stem in made:
        ready = compiled(book, by_path.get, values)
        books.append(ready)
        write_xlsx(ready, folder / book.path)
        sheets += _sheets(ready, stem, unit.quota.label or book.category, asked=asked)
        links += true_links(ready)
    links += true_siblings(facts_in_time(by_path.values()))
    said = _once(links)
    shown = {_pair(link) for link in said}
    keys = tuple(link for link in true_keys(by_path.values()) if _pair(link) not in shown)
    answers = tuple(unit_answers(books, (*said, *keys), unit.house)) if answered else ()
    return MadeUnit(tuple(sheets), said, keys, len(made), answers)


def _sheets(ready: CompiledBook, stem: str, label: str, *, asked: bool) -> Iterator[MadeSheet]:
    """Yield the sheets of a workbook; published records need neither tables nor values."""
    book = ready.book
    for sheet, made, record in zip(book.sheets, ready.sheets, true_records(ready), strict=True):
        facts = sheet.facts and replace(sheet.facts, sheet_id=record.sheet_id, workbook=book.path)
        yield MadeSheet(
            record=record,
            category=label,
            convention=book.convention,
            facts=facts,
            columns=tuple(
                (column.id, read.name)
                for column, read in zip(sheet.columns, record.columns, strict=False)
            ),
            stem=sheet_id(stem, sheet.name) if stem else "",
            contents=true_contents(made) if asked else None,
        )


def _pair(link: Link) -> tuple[str, str, str]:
    return link.source, link.target, link.type


def _once(links: Sequence[Link]) -> tuple[Link, ...]:
    found: dict[tuple[str, str, str], Link] = {}
    for link in links:
        found.setdefault(_pair(link), link)
    return tuple(found.values())


_AHEAD = 3  # units per worker that wait for earlier ones: limits memory
_ENDED = (
    "a worker process ended early: either it ran out of memory, "
    'or a script runs this without `if __name__ == "__main__":`; try one worker'
)
_FEW = 8  # fewer units are made sooner than a worker has started


def made_units(
    plan: Plan,
    folder: Path,
    retold: Retold | None = None,
    workers: int | None = None,
    *,
    asked: bool = False,
    answered: bool = False,
) -> Iterator[MadeUnit]:
    """Write the workbooks of a plan, and yield the data of each unit in the plan's order.

    A language model's answers are kept in one file, so with a model everything is made in this
    process. Others import the script that calls this, which therefore needs
    `if __name__ == "__main__":` around its actions.
    """
    make = partial(
        made_unit,
        folder=folder,
        fabricated=plan.scale.fabricated,
        retold=retold,
        asked=asked,
        answered=answered,
    )
    units = plan.units()
    first = list(islice(units, _FEW))
    workers = workers or os.cpu_count() or 1
    if workers == 1 or len(first) < _FEW or (retold is not None and retold.model):
        for unit in (*first, *units):
            yield make(unit)
        return
    waiting: deque[Future[MadeUnit]] = deque()
    context = multiprocessing.get_context("spawn")  # a fork copies threads' locks
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        try:
            for unit in (*first, *units):
                with _shielded():
                    waiting.append(pool.submit(make, unit))
                if len(waiting) > _AHEAD * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            raise InputError(_ENDED) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _shielded() -> Iterator[None]:
    """Protect processes started inside from Ctrl+C, and delay it here until the block ends.

    The processes inherit the blocked signal. A handler delays it as well, because another
    thread may receive it, so blocking alone is not enough.
    """
    if sys.platform == "win32":
        yield
        return
    late: list[int] = []
    here = threading.current_thread() is threading.main_thread()  # only it may set handlers
    handler = signal.signal(signal.SIGINT, lambda number, _: late.append(number)) if here else None
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if here:
            signal.signal(signal.SIGINT, signal.SIG_DFL if handler is None else handler)
    if late:
        signal.raise_signal(signal.SIGINT)
