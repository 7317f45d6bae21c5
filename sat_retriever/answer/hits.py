"""Candidates to hits, each with its reasons and the place that answers, and one sheet explained."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.candidates import CandidateSet
from sat_retriever.index.search.question import Question
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.explanation import Placed, WordPart
from sat_retriever.records.hits import NO_COPIES, Copies, CopiesOf, Hit, Load, Why
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord, Skipped
from sat_retriever.records.typedtable import TypedTable
from sat_retriever.text.forward import ForwardIndex, StoredContents
from sat_retriever.text.lexical import QueryWords, WordShares, sheet_texts
from sat_retriever.text.locate import Place, QueryTerms, matches, place_of
from sat_retriever.text.period.periods import period_of
from sat_retriever.text.period.spans import Span
from sat_retriever.text.segment import forms, stem, stems

Find = Callable[[], tuple[Why, Place]]
"""Finds the reasons for a hit, and where on its sheet the question is answered."""


class FoundHit(Hit):
    """A hit whose reasons, and the place that answers, are found when somebody looks at them.

    Of fifty hits most are never looked at; what one needs is read with the answer, so that it is
    of one state of the index, which may be closed by then.
    """

    @classmethod
    def of(
        cls, rank: int, score: float, record: SheetRecord, copies: Copies, load: Load, find: Find
    ) -> FoundHit:
        """A hit with a function that finds the rest."""
        hit = cls.__new__(cls)
        given = {"rank": rank, "score": score, "record": record, "copies": copies, "load": load}
        for name, value in given.items():
            object.__setattr__(hit, name, value)
        hit.__dict__["_find"] = find
        return hit

    @cached_property
    def _found(self) -> tuple[Why, Place]:
        find: Find = self.__dict__["_find"]
        return find()

    @cached_property
    def why(self) -> Why:
        """As in `Hit`, like the following."""
        return self._found[0]

    @cached_property
    def table_place(self) -> int:
        """Place of the table that answers."""
        return self._found[1].table

    @cached_property
    def part(self) -> str | None:
        """Rows of it that answer."""
        return self._found[1].part

    def __eq__(self, other: object) -> bool:
        return _plain(self) == (_plain(other) if isinstance(other, FoundHit) else other)

    __hash__ = Hit.__hash__


def _plain(hit: FoundHit) -> Hit:
    plain, values = hit.__reduce__()
    return plain(*values)


def hits_of(index: SheetIndex, found: CandidateSet, copies: CopiesOf) -> list[Hit]:
    """Hits in the order of some candidates, with their records, reasons and copies."""
    records, texts = found.records(), found.texts(found.ids)
    links: dict[str, list[Link]] = {}
    for link in found.links(found.ids):
        for end in dict.fromkeys((link.source, link.target)):
            links.setdefault(end, []).append(link)
    reasons = _Reasons(found.terms, QueryWords(found.question.read_as), found.question.times.spans)

    def load(sheet_id: str, table: int, totals: bool) -> TypedTable:
        """A function, so that copying a hit does not copy the index."""
        return index.table(sheet_id, table, totals=totals)

    hits: list[Hit] = []
    for rank, candidate in enumerate(found.candidates, start=1):
        sheet_id = candidate.sheet_id
        record, own = records.get(sheet_id), texts.get(sheet_id)
        if record is None:  # removed by a writer since the candidates were found
            continue
        if own is not None:
            record = replace(record, contents=StoredContents(own))
        find = partial(reasons.of, candidate, record, own, links.get(sheet_id, ()))
        own_copies = copies.get(sheet_id, NO_COPIES)
        hits.append(FoundHit.of(rank, candidate.score, record, own_copies, load, find))
    return hits


@dataclass(frozen=True, slots=True)
class _Reasons:
    """What the reasons for a hit are told by, apart from the hit."""

    terms: QueryTerms
    words: QueryWords
    spans: Sequence[Span]

    def of(
        self,
        candidate: Candidate,
        record: SheetRecord,
        texts: ForwardIndex | None,
        links: Sequence[Link],
    ) -> tuple[Why, Place]:
        """The reasons for a hit, and where on its sheet the question is answered."""
        place = Place()
        if texts is not None:
            place = place_of(self.terms, record.tables, texts, matches(self.terms, texts))
        matched, headers = self.words.matched(record)
        why = Why(
            words=matched,
            headers=headers,
            dense=candidate.dense,
            lexical=candidate.lexical,
            dense_rank=candidate.dense_rank,
            lexical_rank=candidate.lexical_rank,
            links=tuple(links),
            via=candidate.via,
            period=_period(record, self.spans),
            cells=place.cells,
            contents=candidate.contents,
            contents_rank=candidate.contents_rank,
            cell_words=tuple(x for x in self.words.spelled(place.words) if x not in matched),
        )
        return why, place


def _period(record: SheetRecord, asked: Sequence[Span]) -> str | None:
    """A sheet's time in words, if it lies within one that is asked for."""
    own = period_of(record) if asked else None
    within = own is not None and any(span.covers(own) for span in asked)
    return own.label if own is not None and within else None


def explanation_of(
    index: SheetIndex, sheet_id: str, best: CandidateSet, copies: CopiesOf
) -> tuple[Placed, Placed | None]:
    """Return a sheet and the one right above it in the answer; None above the first.

    `best` has the best sheets in the order of the answer; all others follow as they were found.

    Raises:
        InputError: If the sheet is not in the index any more.
    """
    question, filters = best.question, best.filters
    found = index.search.standing(question, sheet_id, filters)
    if not found:
        raise InputError(f"{sheet_id!r} was removed meanwhile; ask again")
    ranked = best.of(_ranked(sheet_id, found, best.candidates))
    hits = {hit.sheet_id: hit for hit in hits_of(index, ranked, copies)}
    shares = ranked.word_shares()
    placed = []
    for column, each in enumerate(ranked.candidates):
        before = index.search.standing(question, each.sheet_id, filters)
        if each.sheet_id in hits and before:
            hit = replace(hits[each.sheet_id], rank=each.rank)
            words = _word_parts(question, shares, column, hit)
            first = before[0]
            parts = each.time, each.role, each.together
            placed.append(Placed(hit, words, first.rank, first.score, *parts))
    return placed[0], placed[1] if placed[1:] else None


def _ranked(
    sheet_id: str, found: Sequence[Candidate], best: Sequence[Candidate]
) -> list[Candidate]:
    answer = [replace(each, rank=rank) for rank, each in enumerate(best, start=1)]
    places = {each.sheet_id: place for place, each in enumerate(answer)}
    at = places.get(sheet_id)
    if at is not None:
        return [answer[at], *([answer[at - 1]] if at else [])]
    own, *above = found
    if any(each.sheet_id in places for each in above):
        above = answer[-1:]
    return [own, *above]


def skips_of(index: SheetIndex, sheet_id: str) -> tuple[Skipped, ...]:
    """Parts of a sheet, or of the workbook that it is or would be in, that were not read."""
    return tuple(
        skip
        for state in index.workbooks()
        for skip in state.skipped
        if sheet_id == f"{skip.path}#{skip.sheet}"
        or (skip.sheet is None and f"{sheet_id}#".startswith(f"{skip.path}#"))
    )


def _word_parts(
    question: Question, shares: WordShares, column: int, hit: Hit
) -> tuple[WordPart, ...]:
    """The words of a question, with the share of each in the score of the sheet in a column."""
    found = {each.word: each for each in question.scores.matches.found if each.sheets}
    inside = {each for word in hit.why.cell_words for each in stems(word)}
    rows = {word: row for row, word in enumerate(shares.words)}
    spelled = {stem(form): form for each in forms(question.read_as) for form in each}
    parts = []
    for word in question.words:
        row = rows.get(word)
        share, most = (
            (0.0, 0.0) if row is None else (shares.shares[row, column], shares.limits[row])
        )
        within = word in inside and not share
        codes = found[word].codes if word in found and not share else ()
        code = next((x for each in codes if (x := _written(each.text, hit.record))), "")
        parts.append(
            WordPart(spelled[word], float(share), float(most), word in found, within, code)
        )
    return tuple(parts)


def _written(code: str, record: SheetRecord) -> str:
    """A code as a sheet's names and headers write it; empty if they do not have it."""
    for text in sheet_texts(record):
        form = next((x for chunk in forms(text) for x in chunk if stem(x) == code), None)
        if form is not None:
            found = re.search(re.escape(form), text, re.IGNORECASE)
            return found[0] if found else form
    return ""
