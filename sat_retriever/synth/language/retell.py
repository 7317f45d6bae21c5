"""Translate the texts of workbooks, and adapt their formulas."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

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
from sat_retriever.synth.house.naming import MAX_TAB, file_name, tab_name
from sat_retriever.synth.language.translate import Translator
from sat_retriever.synth.language.wording import Proper, Say, Wording, like, plain


class Retelling:
    """The translation of one unit's workbooks; a workbook must come after those it refers to."""

    def __init__(
        self,
        translator: Translator,
        language: str,
        *,
        files: bool = False,
        proper: Proper = lambda _: False,
    ) -> None:
        """Prepare a translation into a language.

        Args:
            translator: Translator of words and headers.
            language: Tag of the language, for example "de".
            files: True if names of files and folders are translated as well.
            proper: Predicate for values that are names and stay, for example `proper_names(words)`.
        """
        self._translator = translator
        self._language = language
        self._files = files
        self._proper = proper
        self._tabs: dict[str, Mapping[str, str]] = {}  # by old path of the workbook
        self._paths: dict[str, str] = {}

    def book(self, book: Book) -> Book:
        """Translate titles, headers, groups, units, tabs and repeated values of a workbook.

        Facts stay unchanged. Columns with a key stay too: two things may have the same
        translation, but keys must differ.

        Raises:
            LanguageModelError: If the translator raises it.
        """
        names = Wording.of(book, self._proper)
        say = self._said(_texts(book, names, files=self._files))
        self._tabs[book.path] = _named(book.sheets, names, say)
        self._paths[book.path] = self._path(book.path, names, say)
        sheets = tuple(self._sheet(book.path, sheet, names, say) for sheet in book.sheets)
        return replace(book, path=self._paths[book.path], sheets=sheets)

    def _said(self, texts: Iterable[str]) -> Say:
        seen = {text: plain(text) for text in texts if text}
        wanted = list(dict.fromkeys(seen.values()))
        said = dict(zip(wanted, self._translator.translate(wanted, self._language), strict=True))
        return lambda text: like(text, said[seen[text]], seen[text]) if text else ""

    def _path(self, path: str, names: Wording, say: Say) -> str:
        if not self._files:
            return path
        new = "/".join(
            file_name(names.retold(name, say)) for name in path[: -len(_SUFFIX)].split("/")
        )
        taken = {other.casefold() for other in self._paths.values()}
        numbered = [new, *(f"{new} ({n})" for n in range(2, len(taken) + 3))]
        return next(p for n in numbered if (p := n + _SUFFIX).casefold() not in taken)

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
            return SheetAt(tabs.get(at.sheet, at.sheet), self._paths.get(at.book, at.book))

        return moved


_SUFFIX = ".xlsx"
_NUMBERS = re.compile(r"(?:[ _-]+[^\W_]*\d[^\W_]*)+$")  # " 2024 Q1", "_3Q24"


def translated(book: Book, translator: Translator, language: str, *, files: bool = False) -> Book:
    """Translate one workbook; use `Retelling` for several that refer to each other."""
    return Retelling(translator, language, files=files).book(book)


def _texts(book: Book, names: Wording, *, files: bool) -> Iterable[str]:
    if files:
        for name in book.path[: -len(_SUFFIX)].split("/"):
            yield from names.spoken(name)
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
    """Return the new names of tabs by the old ones, valid and unique."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for sheet in sheets:
        new = tab_name(_shortened(names.retold(sheet.name, say)))
        tries = (new, *(tab_name(f"{new[:26]} {n}") for n in range(2, len(taken) + 3)))
        found[sheet.name] = next(name for name in tries if name.casefold() not in taken)
        taken.add(found[sheet.name].casefold())
    return found
