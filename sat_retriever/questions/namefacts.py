"""Read facts about a user's sheets from their names, headers, periods and links.

There are no templates and no list of subjects. Sheets with similar headers are compared: the
words that their names share name the content, and the words that differ name the owner.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sat_retriever.questions.facts import SheetFacts, Words
from sat_retriever.questions.spokennames import (
    header_words,
    initials,
    linked,
    name_words,
    phrase,
    says_something,
    speakable,
    spoken_keys,
    weak,
    whole_time,
    without,
)
from sat_retriever.records.formats import without_extension
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.period.periods import SheetPeriod, period_of

ALIKE = 0.5  # share of common headers from which two sheets count as having the same content
MAX_FOLDERS = 4  # nearest ones that are read
_LEADERS = 6  # distinct layouts kept for one name
_MAX_HEADERS = 64  # of a sheet
_EXAMPLES = 5  # sheets named for each reason

_JOINING = frozenset("a and at by for from in of on or the to vs with und de et y".split())

NO_NAME = "neither tab nor file has a name that says what it holds"
NO_PHRASE = "the name is too long, or a code that nobody would say"


@dataclass(slots=True)
class LeftOut:
    """The sheets that no query asks for, for one reason: their number and the first few."""

    reason: str
    number: int = 0
    examples: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Found:
    """The facts of each sheet that can be asked for, in the order of the records."""

    facts: tuple[SheetFacts, ...]
    left_out: tuple[LeftOut, ...] = ()


@dataclass(slots=True)
class _Sheet:
    """A sheet by the words of its names; `levels` are the nearest folders, the file and the tab."""

    sheet_id: str
    workbook: str
    levels: tuple[Words, ...]
    headers: frozenset[str]
    period: SheetPeriod | None
    varying: int = -1  # the level that names the owner
    entity: Words = ()


def found_facts(records: Iterable[SheetRecord], links: Iterable[Link] = ()) -> Found:
    """Find subject, owner, period, keys and workbook of well-named sheets, in linear time."""
    sheets = [_sheet(record) for record in records]
    _find_entities(sheets)
    headers = {sheet.sheet_id: sheet.headers for sheet in sheets}
    summaries, joined = linked(links, headers)
    spoken = spoken_keys(joined, headers.values())
    manifold = _manifold(sheets)
    facts: list[SheetFacts] = []
    left_out: dict[str, LeftOut] = {}
    for sheet in sheets:
        kind, category, reason = _subject(sheet, manifold=sheet.workbook in manifold)
        owner = phrase(sheet.entity) or _file_named(sheet, kind, category)
        if reason:
            left = left_out.setdefault(reason, LeftOut(reason))
            left.number += 1
            left.examples += [sheet.sheet_id] * (left.number <= _EXAMPLES)
            continue
        keys = dict.fromkeys(spoken[each] for each in sorted(sheet.headers) if each in spoken)
        facts.append(
            SheetFacts(
                sheet_id=sheet.sheet_id,
                category=phrase(category),
                kind=phrase(kind),
                entity=owner,
                period=sheet.period,
                keys=tuple(keys),
                schema=_digest(sheet.headers),
                workbook=sheet.workbook,
                summary=sheet.sheet_id in summaries,
            )
        )
    return Found(tuple(facts), tuple(left_out[reason] for reason in sorted(left_out)))


def _sheet(record: SheetRecord) -> _Sheet:
    path = record.path or record.workbook
    *folders, file = path.split("/")
    stem = without_extension(file)
    levels = [name_words(each) for each in folders[-MAX_FOLDERS:]]
    levels.append(name_words(stem))
    tab = record.sheet
    levels.append(() if tab.casefold() == stem.casefold() else name_words(tab))
    return _Sheet(
        sheet_id=record.sheet_id,
        workbook=path or record.sheet_id,
        levels=tuple(levels),
        headers=frozenset(header_words(each.name) for each in record.columns[:_MAX_HEADERS]) - {""},
        period=period_of(record),
    )


def _digest(headers: Iterable[str]) -> str:
    text = "\n".join(sorted(headers))
    return (
        hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest() if text else ""
    )


# ---- the owner of the data


def _find_entities(sheets: Sequence[_Sheet]) -> None:
    """Record in each sheet the words that distinguish it from similar sheets on one level of names.

    The outermost level that differs counts: a company's folder before its regions' tabs.
    """
    deepest = max((len(sheet.levels) for sheet in sheets), default=0)
    for level in range(deepest):
        groups: dict[tuple[int, tuple[Words, ...]], list[_Sheet]] = {}
        for sheet in sheets:
            if sheet.varying < 0 and level < len(sheet.levels) and sheet.headers:
                others = (*sheet.levels[:level], *sheet.levels[level + 1 :])
                groups.setdefault((len(sheet.levels), others), []).append(sheet)
        for group in groups.values():
            for alike in _alike(group):
                _name_entities(alike, level)


def _alike(group: Sequence[_Sheet]) -> Iterator[list[_Sheet]]:
    clusters: list[tuple[frozenset[str], list[_Sheet]]] = []
    for sheet in group:
        for headers, members in clusters:
            shared = len(headers & sheet.headers)
            if shared >= ALIKE * len(headers | sheet.headers):
                members.append(sheet)
                break
        else:
            if len(clusters) < _LEADERS:
                clusters.append((sheet.headers, [sheet]))
    return (members for _, members in clusters)


def _name_entities(sheets: Sequence[_Sheet], level: int) -> None:
    """Find the words of each name that most names on a level lack; they name the entity."""
    names = sorted({sheet.levels[level] for sheet in sheets})
    if len(names) < 2:
        return
    counts = Counter(word for name in names for word in set(name))
    common = {word for word, count in counts.items() if count > len(names) / 2}
    for sheet in sheets:
        name = sheet.levels[level]
        own = tuple(word for word in name if word not in common)
        if own and (own[0] in _JOINING or own[-1] in _JOINING):
            own = name  # for "customers and invoices", not "and invoices"
        if own and all(word.isdigit() for word in own):
            if level >= len(name) or level >= len(sheet.levels) - 2:
                continue  # numbered files and tabs are copies or parts, not owners
            own = name  # "team 7"
        if own and _in_one_run(own, name) and speakable(own) and not weak(own):
            sheet.varying, sheet.entity = level, own


def _in_one_run(own: Words, name: Words) -> bool:
    return any(name[start : start + len(own)] == own for start in range(len(name)))


# ---- the content of the sheet


def _manifold(sheets: Iterable[_Sheet]) -> set[str]:
    tabs: dict[str, Words] = {}
    found: set[str] = set()
    for sheet in sheets:
        tab = _tab(sheet)
        if tabs.setdefault(sheet.workbook, tab) != tab:
            found.add(sheet.workbook)
    return found


def _tab(sheet: _Sheet) -> Words:
    """Return the words of the tab without its owner's name and its file's initials."""
    tab = without(sheet.levels[-1], sheet.entity)
    short = initials(sheet.levels[-2])
    if tab and tab[0].casefold() == short and (len(short) > 2 or len(tab) == 1):
        tab = tab[1:]
    return () if whole_time(tab) else tab


def _subject(sheet: _Sheet, *, manifold: bool) -> tuple[Words, Words, str]:
    """Return the kind, the category, and the reason if there is no kind."""
    tab, file = _tab(sheet), without(sheet.levels[-2], sheet.entity)
    folder = _folder(sheet)
    named = says_something(file)
    told = says_something(tab) and tab != file
    together = told and named and weak(tab)
    if together:
        kind = (*file, *(word for word in tab if word not in file)) or tab
    elif told:
        kind = tab
    elif named:
        kind = file
    else:
        kind = folder
    if not says_something(kind):
        # North.xlsx and South.xlsx in no folder: the possible owner is the only name
        kind, sheet.entity = sheet.entity, ()
    if not says_something(kind):
        return (), (), NO_NAME
    if not speakable(kind):
        return (), (), NO_PHRASE
    inside = manifold or (told and not together)
    category = file if inside and named and speakable(file) else folder
    return kind, category, ""


def _file_named(sheet: _Sheet, kind: Words, category: Words) -> str:
    """Return the file's name if it names the sheet's owner: "Plant extension" of its milestones."""
    file = without(sheet.levels[-2], sheet.entity)
    if not category or category != file or kind[: len(file)] == file:
        return ""
    # "acme" of "acme balance sheet" for the kind "balance sheet"; not "concert" of "concert singer"
    owner = without(file, kind) if len(kind) > 1 or len(file) > 2 else file
    return phrase(owner) if speakable(owner) and not weak(owner) else ""


def _folder(sheet: _Sheet) -> Words:
    """Return the words of the nearest folder that names contents rather than an owner."""
    for place in range(len(sheet.levels) - 3, -1, -1):
        if place != sheet.varying and speakable(sheet.levels[place]):
            return sheet.levels[place]
    return ()
