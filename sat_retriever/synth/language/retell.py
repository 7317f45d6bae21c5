"""Translate the texts of workbooks, and adapt their formulas."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sat_retriever.synth.book.model import (
    Book,
    Column,
    Combine,
    Layout,
    Lookup,
    Recipe,
    Sheet,
    SheetAt,
    Take,
    Through,
    Total,
    TotalWhere,
    Value,
)
from sat_retriever.synth.house.naming import MAX_TAB, tab_name
from sat_retriever.synth.house.when import MONTHS
from sat_retriever.synth.language.translate import Translator
from sat_retriever.synth.words.vocabulary import Vocabulary

Say = Callable[[str], str]
Proper = Callable[[str], bool]

MAX_DISTINCT = 40  # text columns with more values contain names and codes
PROPER = (
    "companies markets institutions sources suppliers customers cities countries indices".split()
)
"""The lists of names."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TIMES = "|".join(rf"{month}|{month[:3]}" for month in MONTHS)
_KEPT = rf"[^\W_]*\d[^\W_]*|{_TIMES}|final|rev"  # numbers, versions and months stay in names
_EDGES = re.compile(r"^([\W_]*)(.*?)([\W_]*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Wording:
    """The parts of names that are translated, and those that are equal in every language.

    Attributes:
        kept: Pattern of the parts that stay: the company's name, times, numbers.
        proper: Predicate for values that are names and stay.
    """

    kept: re.Pattern[str]
    proper: Proper

    @classmethod
    def of(cls, book: Book, proper: Proper) -> Wording:
        """Find the parts that stay in one workbook."""
        entities = {sheet.facts.entity for sheet in book.sheets if sheet.facts is not None}
        spelled = (
            r"[\W_]+".join(map(re.escape, name.split())) for name in sorted(entities) if name
        )
        what = "|".join([*spelled, _KEPT])
        return cls(
            re.compile(rf"[\W_]*(?<![^\W_])(?:{what})(?![^\W_])[\W_]*", re.IGNORECASE), proper
        )

    def values(self, column: Column) -> Sequence[str]:
        """Return the values to translate, if a column without a key repeats a few; see `book`."""
        if column.key or column.placeholder or column.style != "text":
            return ()
        found = dict.fromkeys(
            cell for cell in column.cells if isinstance(cell, str) and _wordy(cell)
        )
        told = [text for text in found if not self.proper(text)]
        return told if len(found) <= MAX_DISTINCT else ()

    def spoken(self, text: str) -> list[str]:
        """Return the words of a name that are translated."""
        return [words for _, words, _ in self._pieces(text) if words]

    def retold(self, text: str, say: Say) -> str:
        """Replace those words of a name by their translations."""
        return "".join(
            f"{before}{say(words)}{after}" for before, words, after in self._pieces(text)
        )

    def _pieces(self, text: str) -> list[tuple[str, str, str]]:
        """Split a text into separators, words and separators; the words of kept parts are empty."""
        found: list[tuple[str, str, str]] = []
        start = 0
        for kept in (*self.kept.finditer(text), None):
            words = text[start : kept.start() if kept else len(text)]
            match = _EDGES.match(words)
            if words and match:
                found.append((match[1], match[2], match[3]))
            if kept:
                found.append((kept[0], "", ""))
                start = kept.end()
        return found


def proper_names(vocabulary: Vocabulary) -> Proper:
    """Return a predicate for names of a person, company, place or market in these words."""
    lists = vocabulary.lists
    whole = {name for noun in PROPER for name in lists.get(noun, ())}
    given, family = set(lists["given_names"]), set(lists["family_names"])
    first, second = set(lists["company_first_words"]), set(lists["company_business_words"])

    def proper(text: str) -> bool:
        one, _, other = text.partition(" ")
        return (
            text in whole
            or (one in given and other in family)
            or (one in first and other in second)
        )

    return proper


def _wordy(text: str) -> bool:
    """True if a value consists of words rather than a code or number."""
    return not re.search(r"\d", text) and re.search(r"[^\W\d_]{2}", text) is not None


def plain(text: str) -> str:
    """Separate the words of a header for a translator.

    >>> plain("material_code"), plain("materialCode"), plain("Unit Price")
    ('material code', 'material Code', 'Unit Price')
    """
    if " " in text:
        return text
    return re.sub(r"_+", " ", _HUMP.sub(" ", text)).strip() or text


def like(text: str, said: str, seen: str) -> str:
    """Give a translation the letter case and the separators of its text.

    >>> like("item_code", "Artikelnummer", "item code"), like("NET PAY", "netto", "NET PAY")
    ('artikelnummer', 'NETTO')
    """
    if said == seen:
        return text
    if "_" in text and " " not in text:
        said = said.replace(" ", "_")
    elif text != seen:  # words joined by capitals
        first, *rest = said.split()
        said = first[0].lower() + first[1:] + "".join(word[0].upper() + word[1:] for word in rest)
    if text.isupper() and len(text) > 3:
        return said.upper()
    return said.lower() if text.islower() else said


class Retelling:
    """The translation of one unit's workbooks; a workbook must come after those it refers to."""

    def __init__(
        self,
        translator: Translator,
        language: str,
        *,
        proper: Proper = lambda _: False,
    ) -> None:
        self._translator = translator
        self._language = language
        self._proper = proper
        self._tabs: dict[str, Mapping[str, str]] = {}  # by path of the workbook

    def book(self, book: Book) -> Book:
        """Translate titles, headers, groups, units, tabs and repeated values of a workbook.

        Facts stay unchanged. Columns with a key stay too: two things may have the same
        translation, but keys must differ.
        """
        names = Wording.of(book, self._proper)
        say = self._said(_texts(book, names))
        self._tabs[book.path] = _named(book.sheets, names, say)
        sheets = tuple(self._sheet(book.path, sheet, names, say) for sheet in book.sheets)
        return replace(book, sheets=sheets)

    def _said(self, texts: Iterable[str]) -> Say:
        seen = {text: plain(text) for text in texts if text}
        wanted = list(dict.fromkeys(seen.values()))
        said = dict(zip(wanted, self._translator.translate(wanted, self._language), strict=True))
        return lambda text: like(text, said[seen[text]], seen[text]) if text else ""

    def _sheet(self, path: str, sheet: Sheet, names: Wording, say: Say) -> Sheet:
        at = self._at(path)
        return replace(
            sheet,
            name=self._tabs[path][sheet.name],
            columns=tuple(
                replace(_column(column, names, say, at), header=header)
                for column, header in zip(sheet.columns, _headers(sheet, say), strict=True)
            ),
            layout=_layout(sheet.layout, names, say),
            total_label=say(sheet.total_label),
            charts=tuple(replace(chart, at=at(chart.at)) for chart in sheet.charts),
            choices=tuple(replace(choice, at=at(choice.at)) for choice in sheet.choices),
            pivots=tuple(replace(pivot, at=at(pivot.at)) for pivot in sheet.pivots),
        )

    def _at(self, path: str) -> Callable[[SheetAt], SheetAt]:
        def moved(at: SheetAt) -> SheetAt:
            tabs = self._tabs.get(at.book or path, {})
            return replace(at, sheet=tabs.get(at.sheet, at.sheet))

        return moved


_NUMBERS = re.compile(r"(?:[ _-]+[^\W_]*\d[^\W_]*)+$")  # " 2024 Q1", "_3Q24"


def _texts(book: Book, names: Wording) -> Iterable[str]:
    for sheet in book.sheets:
        yield from names.spoken(sheet.name)
        for line in (*sheet.layout.titles, *sheet.layout.notes):
            yield from names.spoken(line)
        yield sheet.total_label
        for column in sheet.columns:
            yield from (column.header, column.group, column.unit)
            yield from names.values(column)


def _headers(sheet: Sheet, say: Say) -> list[str]:
    """Translate headers; one whose translation is already another header stays unchanged."""
    found: dict[str, None] = {}
    for column in sheet.columns:
        new = say(column.header)
        found[column.header if new in found else new] = None
    return list(found)


def _column(column: Column, names: Wording, say: Say, at: Callable[[SheetAt], SheetAt]) -> Column:
    values = {text: say(text) for text in names.values(column)}
    return replace(
        column,
        group=say(column.group),
        unit=say(column.unit),
        cells=tuple(_cell(cell, values, at) for cell in column.cells),
    )


def _cell(
    cell: Value | Recipe, values: Mapping[str, str], at: Callable[[SheetAt], SheetAt]
) -> Value | Recipe:
    match cell:
        case str():
            return values.get(cell, cell)
        case Combine():
            left, right = _cell(cell.left, values, at), _cell(cell.right, values, at)
            return replace(cell, left=left, right=right)  # type: ignore[arg-type]
        case Take() | Total() | TotalWhere() | Lookup():
            return replace(cell, at=at(cell.at))
        case Through():
            first, last = at(SheetAt(cell.first)).sheet, at(SheetAt(cell.last)).sheet
            return replace(cell, first=first, last=last)
    return cell


def _layout(layout: Layout, names: Wording, say: Say) -> Layout:
    return replace(
        layout,
        titles=tuple(names.retold(line, say) for line in layout.titles),
        notes=tuple(names.retold(line, say) for line in layout.notes),
    )


def _shortened(name: str) -> str:
    """Shorten a name for a tab; it is cut before its period, which distinguishes tabs.

    >>> _shortened("Gewinn- und Verlustrechnung 2024 Q1")
    'Gewinn- und Verlustrech 2024 Q1'
    """
    end = _NUMBERS.search(name)
    if len(name) <= MAX_TAB or end is None:
        return name
    return name[: MAX_TAB - len(end[0])].rstrip(" _-") + end[0]


def _named(sheets: Iterable[Sheet], names: Wording, say: Say) -> Mapping[str, str]:
    found: dict[str, str] = {}
    taken: set[str] = set()
    for sheet in sheets:
        new = tab_name(_shortened(names.retold(sheet.name, say)))
        tries = (new, *(tab_name(f"{new[:26]} {n}") for n in range(2, len(taken) + 3)))
        found[sheet.name] = next(name for name in tries if name.casefold() not in taken)
        taken.add(found[sheet.name].casefold())
    return found
