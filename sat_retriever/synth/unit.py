"""One unit of a corpus: its workbooks written, and what is to be published of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sat_retriever.errors import InputError
from sat_retriever.llm.chat import OllamaChat
from sat_retriever.questions.facts import SheetFacts
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.synth.book.model import Book
from sat_retriever.synth.book.restrict import Keep, restricted
from sat_retriever.synth.calculate.compile import CompiledBook, compiled
from sat_retriever.synth.calculate.evaluate import Values
from sat_retriever.synth.categories import category
from sat_retriever.synth.fabricate import PAPER, fabricated_unit
from sat_retriever.synth.fabricate.placeholders import with_placeholders
from sat_retriever.synth.language.retell import Retelling
from sat_retriever.synth.language.translate import (
    CachedTranslator,
    OllamaTranslator,
    packaged_languages,
)
from sat_retriever.synth.language.wording import proper_names
from sat_retriever.synth.pairs import Headers, PairSheet
from sat_retriever.synth.plan.plan import Unit, kept
from sat_retriever.synth.truth.keys import true_keys
from sat_retriever.synth.truth.links import true_links
from sat_retriever.synth.truth.records import sheet_id, true_records
from sat_retriever.synth.truth.siblings import facts_in_time, true_siblings
from sat_retriever.synth.words.vocabulary import Vocabulary
from sat_retriever.synth.write.xlsx import write_xlsx


@dataclass(frozen=True, slots=True)
class MadeSheet:
    """A written sheet and the truth about it.

    Attributes:
        record: What an index must find.
        category: Category of the statistics.
        convention: How its file and tab are named.
        facts: What questions can ask for; None for a sheet that answers none.
        columns: Ids of its columns, and their headers as in the record.
        stem: Equal for the source and the target of one sheet; empty without.
    """

    record: SheetRecord
    category: str
    convention: str
    facts: SheetFacts | None
    columns: Headers
    stem: str

    def pair(self, number: int) -> PairSheet:
        """What `train.json` needs to know of it."""
        kind = self.facts.kind if self.facts else self.record.sheet
        return PairSheet(number, f"{self.category}/{kind}", self.columns, self.stem)


@dataclass(frozen=True, slots=True)
class MadeUnit:
    """What a unit contributes to the corpus.

    Attributes:
        sheets: Its sheets, workbook after workbook in tab order.
        links: What formulas, declarations and periods say; none leads to another unit.
        keys: Joins that no formula shows: `join_key` links that are not among `links`.
        workbooks: Number of workbooks.
    """

    sheets: tuple[MadeSheet, ...]
    links: tuple[Link, ...]
    keys: tuple[Link, ...]
    workbooks: int


@dataclass(frozen=True, slots=True)
class Retold:
    """The language of a corpus other than English.

    Attributes:
        language: Its tag, for example "de".
        folder: Folder of translations; None for the packaged ones alone.
        model: Ollama model that translates what is in no file; empty for none.
    """

    language: str
    folder: Path | None = None
    model: str = ""

    def books(self, books: Sequence[Book], vocabulary: Vocabulary) -> tuple[Book, ...]:
        """The workbooks of a unit in that language."""
        retelling = Retelling(self.translator(), self.language, proper=proper_names(vocabulary))
        return tuple(retelling.book(book) for book in books)

    def translator(self) -> CachedTranslator:
        """What is known of the language, and whom to ask for the rest.

        Raises:
            InputError: If the language is no tag, a file of translations is malformed, there
                is none and no model, or a model's answers have no folder to be kept in.
            MissingExtraError: If a model is named and the extra `ollama` is missing.
        """
        inner = OllamaTranslator(OllamaChat(self.model)) if self.model else None
        translator = CachedTranslator(self.folder, inner)
        if not translator.known(self.language) and inner is None:
            where = "the packaged words" if self.folder is None else f"{self.folder}"
            raise InputError(
                f"there are no translations into {self.language!r} in {where}; packaged are "
                f"{', '.join(packaged_languages())}; name a folder with {self.language}.json, or "
                "a language model"
            )
        return translator


def unit_books(
    unit: Unit, *, fabricated: bool = False, retold: Retold | None = None
) -> list[tuple[Book, str]]:
    """The workbooks of a unit, each with its stem: the path of what it was cut from, or "".

    Source: paper, appendix on data sets: what is fabricated is translated before, and has
    typed placeholders in place of high-cardinality text.

    Args:
        unit: What to make.
        fabricated: Make a source and a target of each; hidden sheets are left out then.
        retold: Puts their texts into another language; None leaves them English.
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
    if not fabricated:
        return [(book, "") for book in books]
    pairs = fabricated_unit(with_placeholders(books), PAPER, unit.house.chance)
    return [(book, pair.stem) for pair in pairs for book in (pair.source, pair.target)]


def made_unit(
    unit: Unit, folder: Path, *, fabricated: bool = False, retold: Retold | None = None
) -> MadeUnit:
    """Write the workbooks of a unit, and tell what is in them.

    Args:
        unit: What to make.
        folder: Folder of the workbooks; their paths are relative to it.
        fabricated: Make a source and a target of each sheet.
        retold: Puts their texts into another language; None leaves them English.

    Raises:
        OutputError: If a workbook cannot be written.
        MissingExtraError: Without the extra `synth`.
    """
    made = unit_books(unit, fabricated=fabricated, retold=retold)
    by_path = {book.path: book for book, _ in made}
    values = Values(by_path.get)
    sheets: list[MadeSheet] = []
    links: list[Link] = []
    for book, stem in made:
        ready = compiled(book, by_path.get, values)
        write_xlsx(ready, folder / book.path)
        sheets += _sheets(ready, stem, unit.quota.label or book.category)
        links += true_links(ready)
    links += true_siblings(facts_in_time(by_path.values()))
    said = _once(links)
    shown = {_pair(link) for link in said}
    keys = tuple(link for link in true_keys(by_path.values()) if _pair(link) not in shown)
    return MadeUnit(tuple(sheets), said, keys, len(made))


def _sheets(ready: CompiledBook, stem: str, label: str) -> Iterator[MadeSheet]:
    """The sheets of a workbook; published records need neither tables nor values."""
    book = ready.book
    for sheet, record in zip(book.sheets, true_records(ready), strict=True):
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
        )


def _pair(link: Link) -> tuple[str, str, str]:
    return link.source, link.target, link.type


def _once(links: Sequence[Link]) -> tuple[Link, ...]:
    """The first link of each pair of sheets and type."""
    found: dict[tuple[str, str, str], Link] = {}
    for link in links:
        found.setdefault(_pair(link), link)
    return tuple(found.values())
