"""Resolve the targets in a workbook's formulas to its sheets, or to other workbooks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from sat_retriever.links.formula.operands import SPACES, Taken, Target
from sat_retriever.records.structure import DefinedName, Structure, Use

_ENDS = re.compile(r"[\\/]+")
MAX_TARGET = 2_000


def decoded(target: str) -> str:
    """A relationship's target, percent-decoded, without the query and fragment of a URL.

    >>> decoded("file:///C:/My%20data/Q1%20sales.xlsx")
    'file:///C:/My data/Q1 sales.xlsx'
    """
    target = target[:MAX_TARGET].strip()
    if "://" in target[:10]:
        target = target.partition("?")[0].partition("#")[0]
    return unquote(target)


def written(file: str) -> str:
    """A workbook as a formula itself writes it, decoded if it is a URL.

    In a path there, only brackets are encoded, because they would end it.

    >>> written("https://a.org/Q1%20data.xlsx?web=1"), written("50%20off%5B2%5D.xlsx")
    ('https://a.org/Q1 data.xlsx', '50%20off[2].xlsx')
    """
    if "://" in file[:10]:
        return decoded(file)
    return re.sub("%5B", "[", re.sub("%5D", "]", file, flags=re.I), flags=re.I)


def file_key(target: str) -> str:
    r"""Case-folded file name of a path or URL, by which workbooks are looked up.

    >>> file_key("\\\\server\\share\\Budget.XLSX"), file_key("../a/Book.xlsx")
    ('budget.xlsx', 'book.xlsx')
    """
    parts = [part for part in _ENDS.split(target[-MAX_TARGET:].strip()) if part]
    return unicodedata.normalize("NFC", parts[-1]).casefold() if parts else ""


def between(places: dict[str, int], count: int, first: str, last: str) -> range:
    """Positions of a sheet, or of the sheets of a 3-D range, among `count` sheets in tab order.

    An end of a 3-D range may have no position: authors often put empty sheets "First" and "Last"
    around the sheets to total. The range then extends to the outermost sheet.

    >>> places = {"jan": 0, "feb": 1, "mar": 2}
    >>> between(places, 3, "Feb", ""), between(places, 3, "Feb", "Last")
    (range(1, 2), range(1, 3))
    """
    start = places.get(first.casefold())
    if not last:
        return range(0) if start is None else range(start, start + 1)
    end = places.get(last.casefold())
    if start is not None and end is not None and end < start:
        start, end = end, start
    return range(0 if start is None else start, count if end is None else end + 1)


_MAX_DEPTH = 8  # nesting of names that refer to names
_MAX_FOLLOWED = 500  # names resolved for one reference
_MAX_FOLLOWED_IN_ALL = 200_000


class Meant(NamedTuple):
    """A resolved target: the position of a sheet of this workbook, or a target in another."""

    use: Use
    place: int = -1
    external: Target | None = None


class Scope:
    """Sheets in tab order, names and tables of one workbook."""

    def __init__(self, sheets: Sequence[str], structure: Structure, file: str = "") -> None:
        self._own_file = file_key(file)
        self.count = len(sheets)
        self.places: dict[str, int] = {}
        for place, sheet in enumerate(sheets):
            self.places.setdefault(sheet.casefold(), place)
        for place, sheet in enumerate(sheets):  # line breaks in formulas are read as spaces
            self.places.setdefault(sheet.translate(SPACES).casefold(), place)
        self._defined: dict[tuple[str, str], DefinedName] = {}
        for name in structure.names:
            self._defined.setdefault((_fold(name.sheet), name.name.casefold()), name)
        self._tables: dict[str, str] = {}
        for each in structure.tables:
            self._tables.setdefault(each.table.name.casefold(), each.sheet)
        self._files = {str(each.index): decoded(each.target) for each in structure.externals}
        self.complete = bool(structure.tabs)
        self.names = known_names(structure)
        self._texts: dict[str, list[Taken]] = {}
        self._followed = 0
        self._follow_until = 0

    def meant(self, sheet: str, taken: Taken) -> list[Meant]:
        """The resolved targets of a formula on a sheet; empty if they do not exist."""
        self._follow_until = min(self._followed + _MAX_FOLLOWED, _MAX_FOLLOWED_IN_ALL)
        return list(dict.fromkeys(self._meant(sheet, taken, ())))

    def text(self, sheet: str, text: str, use: Use) -> list[Meant]:
        """The resolved targets of a data source's text, all with the same use."""
        every = (Taken(use, each.target) for each in self._taken(text))
        return list(dict.fromkeys(found for each in every for found in self.meant(sheet, each)))

    def _meant(self, sheet: str, taken: Taken, above: tuple[str, ...]) -> Iterator[Meant]:
        use, target = taken
        external: Target | None = None
        if target.workbook and not self._is_own(target):
            external = self._external(target)
            if external is None:
                return
            if self._is_own_file(external.workbook):
                target = external._replace(workbook="")
                external = None
        if external is not None:
            yield Meant(use, external=external)
        elif target.name:
            yield from self._named(sheet, Taken(use, target), above)
        else:
            yield from (Meant(use, place) for place in self._span(target))

    def _span(self, target: Target) -> range:
        """Positions of the target's sheets; if all tabs are known, both ends must exist."""
        ends = (_fold(target.first), _fold(target.last or target.first))
        if self.complete and not all(end in self.places for end in ends):
            return range(0)
        return between(self.places, self.count, target.first, target.last)

    def _is_own(self, target: Target) -> bool:
        """True if the workbook in `Report.xlsx!rate` is in fact a sheet of that name."""
        return not target.first and target.workbook.casefold() in self.places

    def _is_own_file(self, file: str) -> bool:
        beside = file.removeprefix("./").removeprefix(".\\")
        plain = "/" not in beside and "\\" not in beside
        return plain and bool(self._own_file) and file_key(beside) == self._own_file

    def _external(self, target: Target) -> Target | None:
        """The target with its workbook as a file; None if the file is unknown."""
        if not target.workbook.isdigit():
            return target._replace(workbook=written(target.workbook))
        file = self._files.get(target.workbook.lstrip("0"), "")
        return target._replace(workbook=file) if file else None

    def _named(self, sheet: str, taken: Taken, above: tuple[str, ...]) -> Iterator[Meant]:
        use, target = taken
        name = target.name.casefold()
        scope = _fold(target.first or target.workbook or sheet)
        defined = self._defined.get((scope, name)) or self._defined.get(("", name))
        if defined is None:
            place = self.places.get(_fold(self._tables.get(name)))
            if place is not None:
                yield Meant(use, place)
            return
        self._followed += 1
        if defined.text in above or len(above) >= _MAX_DEPTH or self._followed > self._follow_until:
            return
        inner = self._taken(defined.text)
        ranges = {each.target[:4] for each in inner if each.use is Use.VALUE}
        for each in inner:
            # A range behind a name is used as the formula uses the name. The name's own formula may
            # also count the range to find its length; that use does not matter.
            use_of_it = use if each.use is Use.VALUE else each.use
            if each.use is Use.VALUE or each.target[:4] not in ranges:
                yield from self._meant(
                    defined.sheet or sheet, Taken(use_of_it, each.target), (*above, defined.text)
                )

    def _taken(self, text: str) -> list[Taken]:
        from sat_retriever.links.formula.tokens import UnreadableFormulaError, taken

        if text not in self._texts:
            try:
                self._texts[text] = taken(text, self.names)
            except UnreadableFormulaError:
                self._texts[text] = []
        return self._texts[text]


def known_names(structure: Structure) -> frozenset[str]:
    """Casefolded names and tables, which are references in a formula even without a sheet."""
    names = (each.name for each in structure.names)
    tables = (each.table.name for each in structure.tables)
    return frozenset(name.casefold() for name in (*names, *tables))


def _fold(sheet: str | None) -> str:
    return (sheet or "").casefold()
