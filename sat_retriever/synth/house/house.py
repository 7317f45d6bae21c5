"""One company for the templates: its words, names, and habits of naming and layout."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sat_retriever.synth.book.model import Dialect, Layout
from sat_retriever.synth.house import naming
from sat_retriever.synth.house.when import When
from sat_retriever.synth.words.pools import pool
from sat_retriever.synth.words.vocabulary import Vocabulary
from sat_retriever.synth.words.wordfiles import words_of

CASES = ("as is", "as is", "as is", "snake", "upper", "camel")
_COLOURS = ("DDEBF7", "E2EFDA", "FFF2CC", "FCE4D6", "EDEDED", "D9E1F2", "F4CCCC", "D0E0E3")
_FONTS = ("Calibri", "Arial", "Verdana", "Cambria", "Tahoma", "Aptos")
_SUBTITLES = ("Prepared by {department}", "Internal use only", "All figures as booked", "{name}")
_NOTES = (
    "Source: own records",
    "Figures are subject to review",
    "Please send corrections before the end of the month",
    "Please do not overwrite formulas",
)


@dataclass(frozen=True, slots=True)
class House:
    """A company, market or institution.

    All results depend only on the seed, the name, the prefix and the arguments, never on the
    order of calls, so any part of a corpus can be made alone.

    Attributes:
        prefix: Text before the names of its files; houses of the same name with different
            prefixes have different figures.
    """

    name: str
    seed: int
    vocabulary: Vocabulary
    prefix: str = ""

    def chance(self, *purpose: object) -> random.Random:
        """Return a stream of random numbers for one purpose."""
        text = "\x1f".join(
            map(str, (self.seed, self.name, *filter(None, (self.prefix,)), *purpose))
        )
        digest = hashlib.sha256(text.encode()).digest()
        return random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311 - repeatable, no secret

    def pool(self, noun: str, size: int) -> tuple[str, ...]:
        """Return `size` names or codes of this house, the same in all its sheets.

        Nouns: every list of `lists.json`, pairs of words ("employees", "movies"), fields of a list
        ("material_specs", in the order of "materials"), and codes in the house's style, which end
        in "_ids", "_codes" or "_numbers". `pool(x, 5)` is the beginning of `pool(x, 9)`; if a list
        is too short, numbers are appended.
        """
        return pool(noun, size, self.vocabulary.lists, partial(self.chance, "pool"))

    def variant(self, category: str) -> int:
        """Return the number of the house's schema variant for a category."""
        words = self.vocabulary.category(category)
        return self.chance("variant", category).randrange(words.variants)

    def header(self, category: str, kind: str, column: str) -> str:
        """Return a column's header in this house's schema variant and letter case."""
        headers = self.vocabulary.kind(category, kind).headers(column)
        return cased(headers[self.variant(category) % len(headers)], self.letter_case())

    def letter_case(self) -> str:
        """Return its letter case of headers: unchanged, or a case common in programs."""
        return self.chance("letter case").choice(CASES)

    def unit(self, category: str, kind: str, column: str) -> str:
        """Return the text of the units row; empty for none."""
        return self.vocabulary.kind(category, kind).units.get(column, "")

    def path(self, category: str, subject: str, when: When | None) -> str:
        """Return the path of a workbook in this house's naming convention for the category.

        `subject` is that of the file beyond category and period ("Annual Summary"); empty for the
        category's only kind of workbook for that period.
        """
        words = self._name(category, self.vocabulary.category(category).names)
        path = naming.path(self._style(category), self.name, words, subject, when)
        return f"{self.prefix}__{path}" if self.prefix else path

    def tab(self, category: str, kind: str, when: When | None = None, part: str = "") -> str:
        """Return a tab's name; `when` is for tabs that differ by it, `part` for all others."""
        kinds = self.vocabulary.category(category).kinds
        name = self.kind_name(category, kind)
        place = 1 + list(kinds).index(kind)
        return naming.tab(self._style(category), name, when, part, place)

    def kind_name(self, category: str, kind: str) -> str:
        """Return the house's name for a kind of sheet."""
        return self._name(category, self.vocabulary.kind(category, kind).names)

    def layout(self, title: str, *purpose: object) -> Layout:
        """Return titles, gaps and offsets of this house (some houses have none)."""
        house, sheet = self.chance("layout"), self.chance("at", *purpose)
        titled = house.random() < 0.7
        gap, first_row, first_column = house.choice((0, 1, 1, 2)), house.choice((0, 0, 0, 1)), 0
        if house.random() < 0.15:
            first_column = 1
        subtitle = house.choice((*_SUBTITLES, "", "", ""))
        noted = house.random() < 0.4
        above = (title, subtitle.format(department="Finance", name=self.name)) if titled else ()
        notes = (sheet.choice(_NOTES),) if noted and sheet.random() < 0.5 else ()
        return Layout(
            titles=tuple(line for line in above if line),
            gap=gap if titled else 0,
            first_row=first_row,
            first_column=first_column,
            notes=notes,
        )

    def dialect(self) -> Dialect:
        """Return its style of formulas and its colour of headers."""
        chance = self.chance("dialect")
        return Dialect(
            lookup=chance.choice(("vlookup", "vlookup", "index_match", "xlookup")),
            ranges=chance.choice(("area", "area", "column", "name", "table")),
            colour=chance.choice(_COLOURS),
            font=chance.choice(_FONTS),
        )

    def convention(self, category: str) -> str:
        """Return the name of its naming convention for a category."""
        return str(self._convention(category)["name"])

    def _convention(self, category: str) -> Mapping[str, Any]:
        return self.chance("convention", category).choice(self.vocabulary.naming)

    def _style(self, category: str) -> naming.Style:
        return naming.Style.chosen(
            self._convention(category),
            self.vocabulary.abbreviations,
            self.chance("spelling", category),
        )

    def _name(self, category: str, names: Sequence[str]) -> str:
        """Return one of several names; lists of equal length always give the same position."""
        return names[self.chance("names", category).randrange(10_000) % len(names)]


def cased(header: str, case: str) -> str:
    """Write a header in a letter case.

    >>> [cased("Material Code", case) for case in ("as is", "snake", "upper", "camel")]
    ['Material Code', 'material_code', 'MATERIAL CODE', 'materialCode']
    """
    if case == "upper":
        return header.upper()
    words = words_of(header)
    if case == "as is" or not words:
        return header
    if case == "snake":
        return "_".join(word.lower() for word in words)
    first, *rest = words
    return first.lower() + "".join(word[0].upper() + word[1:].lower() for word in rest)
