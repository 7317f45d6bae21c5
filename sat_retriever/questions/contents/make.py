"""Make labelled questions about what stands in the sheets of an index."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from sat_retriever.datasets.labels.query import UNANSWERABLE, Query
from sat_retriever.questions.contents.draw import (
    COPY,
    KINDS,
    LABEL,
    PHRASED,
    VALUE,
    Draft,
    contains_phrase,
    drawn,
    folded,
)
from sat_retriever.questions.contents.versions import CopiesOf, version_queries
from sat_retriever.questions.facts import Words
from sat_retriever.questions.generate import Made
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.contents import content_texts
from sat_retriever.text.segment import stem, words


def invented(drafts: Sequence[Draft], number: int, chance: random.Random) -> list[Draft]:
    """Return drafts whose texts are put together from those of others, each with a known header.

    Digits of codes are replaced; of two names, the beginning of one goes with the end of the
    other. Most of them are in no sheet; the others are to be dropped.
    """
    found: dict[str, Draft] = {}
    known = {draft.text.casefold() for draft in drafts}
    for draft in drafts[: 2 * number]:
        text = _other(draft.text, chance.choice(drafts).text, chance)
        if text and text.casefold() not in known and len(found) < number:
            found.setdefault(text.casefold(), Draft(UNANSWERABLE, text, draft.header))
    return list(found.values())


def _other(text: str, second: str, chance: random.Random) -> str:
    """A text like the first; "" if none can be made.

    >>> chance = random.Random(0)
    >>> _other("Ann Roth", "Ben Okafor", chance), len(_other("TH-100", "", chance))
    ('Ann Okafor', 6)
    """
    if sum(map(str.isdigit, text)) > 2:
        digits = "123456789"
        return "".join(chance.choice(digits) if each.isdigit() else each for each in text)
    start, end = text.split(), second.split()
    if len(start) < 2 or len(end) < 2 or start[-1].casefold() == end[-1].casefold():
        return ""
    return " ".join((*start[:-1], end[-1]))


class Holders:
    """The sheets that answer drafts."""

    def __init__(self, drafts: Sequence[Draft], most: int) -> None:
        self._drafts = drafts
        self._most = most
        self._sheets: list[list[str]] = [[] for _ in drafts]
        self._dropped: set[int] = set()
        self._invented: dict[str, list[tuple[int, Words]]] = defaultdict(list)
        self._by_word: dict[str, list[tuple[int, int, Words]]] = defaultdict(list)
        for number, draft in enumerate(drafts):
            phrase = draft.phrase
            # A long word is in few sheets, so few phrases are compared.
            place = max(range(len(phrase)), key=lambda at: (len(phrase[at]), -at))
            self._by_word[phrase[place]].append((number, place, phrase))
            if draft.kind == UNANSWERABLE:
                self._invented[phrase[place]].append((number, phrase))

    def read(self, records: Iterable[SheetRecord]) -> None:
        """Look for all drafts in all sheets."""
        for record in records:
            self._read(record)

    def found(self) -> list[tuple[Draft, tuple[str, ...]]]:
        """Drafts with all sheets that answer them; none for an unanswerable one."""
        return [
            (draft, tuple(sorted(sheets)))
            for number, (draft, sheets) in enumerate(zip(self._drafts, self._sheets, strict=True))
            if number not in self._dropped and bool(sheets) != (draft.kind == UNANSWERABLE)
        ]

    def _read(self, record: SheetRecord) -> None:
        """Note the drafts of one sheet.

        Dropped are drafts whose words stand in names, by which the sheet is found as well, and
        those that are a part of a longer code, so that they may mean it or not.
        """
        names = folded(" ".join((record.path, record.workbook, record.sheet, *_headers(record))))
        self._dropped.update(number for number, _ in self._having(names))
        held: dict[int, bool] = {}
        every: set[str] = set(names)
        for text in () if record.contents is None else content_texts(record.contents):
            said = folded(text)
            every.update(said)
            for number, phrase in self._having(said):
                held[number] = held.get(number, False) or contains_phrase(text, phrase)
        for number in held.keys() - self._dropped:
            if not held[number] or len(self._sheets[number]) >= self._most:
                self._dropped.add(number)
            elif self._has_header(record, self._drafts[number]):
                self._sheets[number].append(record.sheet_id)
        self._scattered(every)

    def _having(self, said: Sequence[str]) -> Iterator[tuple[int, Words]]:
        for at, word in enumerate(said):
            for number, place, phrase in self._by_word.get(word, ()):
                start = at - place
                if start >= 0 and tuple(said[start : start + len(phrase)]) == phrase:
                    yield number, phrase

    def _scattered(self, every: set[str]) -> None:
        """Drop unanswerable drafts whose words stand apart in one sheet."""
        for word in every & self._invented.keys():
            for number, phrase in self._invented[word]:
                if every.issuperset(phrase):
                    self._dropped.add(number)

    def _has_header(self, record: SheetRecord, draft: Draft) -> bool:
        if draft.kind != LABEL:
            return True
        wanted = set(_stems(draft.header))
        return any(wanted.issubset(_stems(header)) for header in _headers(record))


def _headers(record: SheetRecord) -> Iterator[str]:
    tables = [table.columns for table in record.tables] or [record.columns]
    return (column.name for columns in tables for column in columns)


def _stems(header: str) -> list[str]:
    return [stem(word) for word in words(header[:200])]


MAX_POSITIVES = 5
"""Most sheets that answer a question about a text; one that more hold does not tell them apart."""
_PATIENCE = 6  # texts drawn for each requested question


@dataclass(frozen=True, slots=True)
class Contents:
    """Sheets with their contents."""

    records: Iterable[SheetRecord]
    copies: CopiesOf


def content_queries(
    contents: Contents,
    numbers: Mapping[str, int],
    seed: int = 0,
    *,
    about: frozenset[str] | None = None,
) -> list[Made]:
    """Make questions for a value, a note, a row label, a version, or for something absent.

    The positives of a question are all sheets that hold its text, wherever it stands in them; a
    label's sheets also have the header. Texts that stand in names or headers are not asked for.
    What nothing answers is put together from words of the index, and no sheet has these words.
    Contents that were read in samples hold no more than their samples.

    Source: beyond the paper, which keeps metadata alone.

    Args:
        contents: The sheets; read twice, and twice again for versions.
        numbers: Most questions of each kind: value, note, label, copy, unanswerable.
        seed: Seed of all choices; memory depends on the numbers alone.
        about: Ids of the only sheets that may be positives; None for any.
    """
    chance = random.Random(f"contents {seed}")  # noqa: S311 - repeatable, no secret
    records = contents.records
    wanted = {kind: numbers.get(kind, 0) for kind in KINDS}
    found: dict[str, list[Made]] = {}
    phrased = [kind for kind in PHRASED if wanted[kind]]
    sources = (VALUE, LABEL) if wanted[UNANSWERABLE] else ()
    kinds = list(dict.fromkeys((*phrased, *sources)))
    if kinds:
        drafts = drawn(records, kinds, _PATIENCE * max(wanted.values()), seed)
        absent = [draft for kind in sources for draft in drafts[kind]]
        chance.shuffle(absent)
        tried = [draft for kind in phrased for draft in drafts[kind]]
        tried += invented(absent, _PATIENCE * wanted[UNANSWERABLE], chance)
        found = _answered(records, tried, wanted, chance, about)
    if wanted[COPY]:
        found[COPY] = version_queries(
            records, contents.copies, wanted[COPY], seed, most=MAX_POSITIVES, about=about
        )
    return list(chain.from_iterable(found.get(kind, ()) for kind in KINDS))


def shares(number: int, kinds: Collection[str]) -> dict[str, int]:
    """Divide a number of questions evenly over kinds, the first ones getting what is left.

    >>> shares(7, ("value", "note", "copy"))
    {'value': 3, 'note': 2, 'copy': 2}
    """
    ordered = [kind for kind in KINDS if kind in kinds]
    each, rest = divmod(number, len(ordered)) if ordered else (0, 0)
    return {kind: each + (place < rest) for place, kind in enumerate(ordered)}


def _answered(
    records: Iterable[SheetRecord],
    drafts: list[Draft],
    wanted: Mapping[str, int],
    chance: random.Random,
    about: frozenset[str] | None,
) -> dict[str, list[Made]]:
    holders = Holders(drafts, MAX_POSITIVES)
    holders.read(records)
    found: dict[str, dict[str, Made]] = {}
    for draft, positives in holders.found():
        made = found.setdefault(draft.kind, {})
        inside = about is None or about.issuperset(positives)
        if inside and len(made) < wanted[draft.kind]:
            text = draft.said(chance)
            fixed = tuple(filter(None, (draft.text, draft.header)))
            query = Query(text, positives, query_type=draft.kind)
            made.setdefault(text.casefold(), Made(query, fixed))
    return {kind: list(made.values()) for kind, made in found.items()}
