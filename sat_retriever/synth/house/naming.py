"""Name files and tabs by a convention of `naming.json` for one house."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sat_retriever.records.files import portable
from sat_retriever.synth.house.when import When, grain, period_text

MAX_TAB = 31
MAX_FILE = 120
MAX_FILE_BYTES = 200  # of the 255 that file systems allow, because suffixes and prefixes are added
_NOT_IN_TABS = re.compile(r"[\[\]:*?/\\\x00-\x1f]+")
_EMPTY = "\x00"
_NOTHING = re.compile(r"[ _.,\-]*\(?\x00\)?")
_EDGES = " _.,-"
_VERSIONS = ("v1", "v2", "v2 final", "final", "v3", "rev1")


def filled(template: str, parts: Mapping[str, str]) -> str:
    """Fill in the parts of a name; empty parts leave no separators.

    >>> filled("{company} - {subject} - {period}", {"company": "A", "subject": "", "period": "B"})
    'A - B'
    """
    text = template.format_map({key: part or _EMPTY for key, part in parts.items()})
    return _NOTHING.sub("", text).strip(_EDGES)


def letters(text: str, case: str, space: str) -> str:
    """Change the letter case of a text and the separator of its words."""
    text = {"lower": text.lower(), "upper": text.upper()}.get(case, text)
    return re.sub(r"[ ]+", space, text)


def shortened(text: str, abbreviations: Mapping[str, str]) -> str:
    """Abbreviate the words of a text that have an abbreviation."""
    return " ".join(abbreviations.get(word.casefold(), word) for word in text.split())


def file_name(text: str) -> str:
    """Return a text as a folder's or file's name that is valid on Windows, macOS and Linux.

    >>> file_name("A/B: C?. "), file_name("con")
    ('A B C', 'con_')
    """
    return _cut(portable(text), MAX_FILE, MAX_FILE_BYTES).rstrip(". ") or "untitled"


def tab_name(text: str) -> str:
    """Return a text as a tab's name that is valid in Excel; a long one is cut and numbered.

    >>> tab_name("In/Out [2024]"), len(tab_name("x" * 40))
    ('In Out 2024', 31)
    """
    name = re.sub(r" {2,}", " ", _NOT_IN_TABS.sub(" ", text)).strip(" '")
    if name.casefold() == "history":  # a name that Excel reserves
        name = "History 1"
    return _cut(name, MAX_TAB) or "Sheet1"


def _cut(text: str, limit: int, most_bytes: int = 4 * MAX_FILE) -> str:
    """Cut a text to a number of characters and bytes; its digest's digits keep it distinct."""
    if len(text) <= limit and len(text.encode()) <= most_bytes:
        return text
    digits = int(hashlib.sha256(text.casefold().encode()).hexdigest()[:8], 16) % 10_000
    kept = text[: limit - 5].encode()[: most_bytes - 5].decode(errors="ignore")
    return f"{kept.rstrip(_EDGES)} {digits:04}"


@dataclass(frozen=True, slots=True)
class Style:
    """A naming convention with one spelling chosen for each period.

    Attributes:
        periods: Spelling by "year", "quarter", "month", and by these after "tab_", "date_" …
        number: Number at the beginning of a numbered name and at the end of a downloaded one.
    """

    convention: Mapping[str, Any]
    abbreviations: Mapping[str, str]
    periods: Mapping[str, str]
    number: int
    version: str

    @classmethod
    def chosen(
        cls, convention: Mapping[str, Any], abbreviations: Mapping[str, str], chance: random.Random
    ) -> Style:
        """Draw a style of the convention."""
        spellings = {
            key: chance.choice(patterns)
            for key, patterns in convention.items()
            if isinstance(patterns, list)
        }
        number, version = chance.randint(1, 12), chance.choice(_VERSIONS)
        return cls(convention, abbreviations, spellings, number, version)

    def spelled(self, when: When | None, place: str = "") -> str:
        """Write the period in this style; empty without one."""
        if when is None:
            return ""
        key = grain(when)
        return period_text(self.periods.get(place + key, self.periods[key]), when)

    def joined(self, text: str) -> str:
        """Write words in this style's case, abbreviated if the style does so."""
        if self.convention.get("short"):
            text = shortened(text, self.abbreviations)
        return letters(text, self.convention["case"], self.convention["space"])


def path(style: Style, company: str, category: str, subject: str, when: When | None) -> str:
    """Return a workbook's path by the convention, from company, category, subject and period."""
    within = when if when is not None and (when.quarter or when.month) else None
    parts = {
        "company": style.joined(company),
        "category": style.joined(category),
        "subject": style.joined(subject),
        "period": style.spelled(when),
        "within": style.spelled(within, "" if subject else "bare_"),
        "date": style.spelled(when, "date_"),
        "yyyy": str(when.year) if when else "",
        "number": f"{style.number:02}",
        "serial": str(style.number),
        "version": style.version,
    }
    *folders, file = (filled(name, parts) for name in style.convention["path"].split("/"))
    if not file:  # only the category is left
        file = parts["category"]
    levels = [file_name(name) for name in folders if name]
    return "/".join([*levels, f"{file_name(file)}.xlsx"])


def tab(style: Style, kind: str, when: When | None, part: str, place: int) -> str:
    """Return the name of a tab; the kind's name is shortened if the name is too long for Excel."""
    pattern = style.convention["tab"]
    if "{kind}" not in pattern and (when or part):  # a number is not unique here
        pattern = style.convention["tab_else"]
    parts = {"part": style.joined(part), "index": str(place)}
    # September is the longest month: all tabs of a series are shortened alike.
    longest = style.spelled(replace(when, month=9) if when and when.month else when, "tab_")
    told = {"kind": "", "period": longest, **parts}
    room = MAX_TAB - len(filled(pattern, told)) - 1
    short = shortened(kind, style.abbreviations)
    stems = " ".join(word[:4] for word in kind.split())
    forms = (kind, short, stems, _cut(stems, max(room, 8)))
    named = next((form for form in forms if len(style.joined(form)) <= room), forms[-1])
    told = {"kind": style.joined(named), "period": style.spelled(when, "tab_"), **parts}
    return tab_name(filled(pattern, told))
