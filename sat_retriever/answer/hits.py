"""Candidates to hits: each with its record, its reasons, and the place that answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.question import Question
from sat_retriever.rank.links.reading import asked_of
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.hits import NO_COPIES, CopiesOf, Hit, Why
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.typedtable import TypedTable
from sat_retriever.text.lexical import QueryWords
from sat_retriever.text.locate.asked import Asked
from sat_retriever.text.locate.place import place_of
from sat_retriever.text.period.periods import period_of
from sat_retriever.text.period.spans import Span


def hits_of(
    index: SheetIndex, question: Question, found: Sequence[Candidate], copies: CopiesOf
) -> list[Hit]:
    """Hits in the order of some candidates, with their records, reasons and copies."""
    ids = [candidate.sheet_id for candidate in found]
    records = index.records(ids, contents=True)
    links = index.links_between(ids, ids)
    asked = _asked(index, question, records.values())
    words = QueryWords(question.read_as)

    def load(sheet_id: str, table: int, totals: bool) -> TypedTable:
        """A function, so that copying a hit does not copy the index."""
        return index.table(sheet_id, table, totals=totals)

    hits = []
    for rank, candidate in enumerate(found, start=1):
        record = records.get(candidate.sheet_id)
        if record is None:  # removed by a writer since the candidates were found
            continue
        matched, headers = words.matched(record)
        place = place_of(asked, record)
        own = tuple(x for x in links if candidate.sheet_id in (x.source, x.target))
        why = Why(
            words=matched,
            headers=headers,
            dense=candidate.dense,
            lexical=candidate.lexical,
            dense_rank=candidate.dense_rank,
            lexical_rank=candidate.lexical_rank,
            links=own,
            via=candidate.via,
            period=_period(record, question.times.spans),
            cells=place.cells,
            contents=candidate.contents,
            contents_rank=candidate.contents_rank,
            cell_words=tuple(x for x in words.spelled(place.words) if x not in matched),
        )
        own_copies = copies.get(candidate.sheet_id, NO_COPIES)
        at = (place.table, place.part, own_copies)
        hits.append(Hit(rank, candidate.score, record, why, *at, load=load))
    return hits


def _asked(index: SheetIndex, question: Question, records: Iterable[SheetRecord]) -> Asked:
    """Return the question as contents are compared with it; nothing without contents."""
    if all(record.contents is None for record in records):
        return Asked({}, "")
    return asked_of(index, question)


def _period(record: SheetRecord, asked: Sequence[Span]) -> str | None:
    """A sheet's time in words, if it lies within one that is asked for."""
    own = period_of(record) if asked else None
    within = own is not None and any(span.covers(own) for span in asked)
    return own.label if own is not None and within else None
