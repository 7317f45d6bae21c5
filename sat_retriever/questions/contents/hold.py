"""Find the sheets that hold the texts of drafts, in one pass over all sheets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from sat_retriever.datasets.labels.query import UNANSWERABLE
from sat_retriever.questions.contents.draft import LABEL, Draft, contains_phrase, folded
from sat_retriever.questions.facts import Words
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.contents import content_texts
from sat_retriever.text.segment import stem, words


class Holders:
    """The sheets that answer drafts.

    Args:
        drafts: The drafts.
        most: Sheets of a draft; one that more answer is dropped.
    """

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
        """Yield the drafts whose words stand side by side in a text."""
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
        """True if a sheet has the header that a label is asked with."""
        if draft.kind != LABEL:
            return True
        wanted = set(_stems(draft.header))
        return any(wanted.issubset(_stems(header)) for header in _headers(record))


def _headers(record: SheetRecord) -> Iterator[str]:
    tables = [table.columns for table in record.tables] or [record.columns]
    return (column.name for columns in tables for column in columns)


def _stems(header: str) -> list[str]:
    return [stem(word) for word in words(header[:200])]
