"""Write a bench as one HTML page: the table, and for every question the sheets and reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics import mean
from sat_retriever.datasets.metrics.rows import DEPTH, PER_QUERY
from sat_retriever.evaluation.bench import LISTED, Bench, Scored
from sat_retriever.evaluation.latency import Told
from sat_retriever.evaluation.maintable import COLUMNS, cells, compared_row, notes, signed
from sat_retriever.evaluation.methods import no_progress
from sat_retriever.index.index import SheetIndex
from sat_retriever.pages.onepage import one_page
from sat_retriever.records.links import Link, kind_of
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.segment import forms, stem, stems

QUESTIONS = 2_000  # more make a page slow, and nobody reads them
_RELEVANT = 40  # relevant sheets of a question that are listed
_HEADERS, _HEADER_CHARS, _NAME_CHARS, _EVIDENCE_CHARS = 10, 60, 300, 200
_READ_AT_ONCE = 500
RELEVANT, RULED_OUT, OTHER = 1, 2, 0
_SCRIPTS = ("model.js", "summary.js", "detail.js", "list.js")
BUCKETS = 10  # of NDCG@5, and one more for a perfect order


@dataclass(slots=True)
class _Sheets:
    """The sheets to show, each once, numbered in order of appearance."""

    numbers: dict[str, int] = field(default_factory=dict)
    headers: dict[str, list[set[str]]] = field(default_factory=dict)  # stems of each header shown
    shown: list[dict[str, Any]] = field(default_factory=list)

    def add(self, records: Mapping[str, SheetRecord], sheet_ids: Iterable[str]) -> None:
        for sheet_id in sheet_ids:
            if sheet_id in self.numbers:
                continue
            record = records.get(sheet_id, SheetRecord(sheet_id, sheet_id))
            names = [column.name for column in record.columns if column.name]
            self.numbers[sheet_id] = len(self.shown)
            self.headers[sheet_id] = [set(stems(name)) for name in names[:_HEADERS]]
            self.shown.append(
                {
                    "name": record.sheet[:_NAME_CHARS],
                    "citation": record.citation[:_NAME_CHARS],
                    "headers": [name[:_HEADER_CHARS] for name in names[:_HEADERS]],
                    "more": max(0, len(names) - _HEADERS),
                }
            )


def questions_of(
    bench: Bench, index: SheetIndex, told: Told
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """Return the questions, their sheets by number, and the number of questions left out.

    If there are more than `QUESTIONS`, those with the highest mean NDCG@5 are left out.
    """
    ndcg = PER_QUERY["NDCG@5"]
    values = {
        place: [ndcg(scored.rows[row]) for scored in bench.scored]
        for row, place in enumerate(bench.queries)
    }
    worst = sorted(values, key=lambda place: (mean(values[place]), place))[:QUESTIONS]
    kept = sorted(worst)
    sheets = _Sheets()
    found = []
    for start in range(0, len(kept), _READ_AT_ONCE):
        part = kept[start : start + _READ_AT_ONCE]
        ids = dict.fromkeys(each for place in part for each in _named(bench, place))
        sheets.add(index.records([each for each in ids if each not in sheets.numbers]), ids)
        for place in part:
            found.append(
                {
                    "ndcg": [round(value, 4) for value in values[place]],
                    **_question(bench, index, sheets, place),
                }
            )
            told("explaining", len(found), len(kept))
    return found, sheets.shown, len(values) - len(kept)


def _named(bench: Bench, place: int) -> list[str]:
    """Return the sheets that a question shows: its relevant ones, and the first of each method."""
    first = (found.sheet_id for one in bench.scored for found in one.run[place][:LISTED])
    return list(dict.fromkeys((*bench.queries[place].positives[:_RELEVANT], *first)))


def _question(bench: Bench, index: SheetIndex, sheets: _Sheets, place: int) -> dict[str, Any]:
    query, ids = bench.queries[place], _named(bench, place)
    facts, known, nowhere = _facts(index, sheets, query.text, ids)
    relevant = query.positives[:_RELEVANT]
    ranks = []
    for scored in bench.scored:
        at = {found.sheet_id: rank for rank, found in enumerate(scored.run[place], start=1)}
        ranks.append([at.get(sheet_id, 0) for sheet_id in relevant])
    gold = set(query.positives)
    hits = [
        [rank for rank, found in enumerate(scored.run[place], start=1) if found.sheet_id in gold]
        for scored in bench.scored
    ]
    return {
        "number": place + 1,
        "text": query.text,
        "type": query.query_type,
        "relevant": [sheets.numbers[sheet_id] for sheet_id in relevant],
        "count": len(gold),
        "words": known,
        "nowhere": nowhere,
        "ranks": ranks,
        "hits": hits,
        "found": [sum(rank <= 5 for rank in each) for each in hits],
        "first": [_first(sheets, query, one, place) for one in bench.scored],
        "facts": facts,
    }


def _first(sheets: _Sheets, query: Query, scored: Scored, place: int) -> list[list[Any]]:
    """Return a method's first sheets: number, score, judgement, its reason, the raising link."""
    lifted = scored.lifted.get(place, {})
    return [
        [
            sheets.numbers[found.sheet_id],
            round(found.score, 4),
            _mark(query, found.sheet_id),
            query.hard_negative_types.get(found.sheet_id, ""),
            _link(found.sheet_id, lifted.get(found.sheet_id)),
        ]
        for found in scored.run[place][:LISTED]
    ]


def _mark(query: Query, sheet_id: str) -> int:
    if sheet_id in query.positives:
        return RELEVANT
    ruled_out = sheet_id in query.hard_negatives or sheet_id in query.negatives
    return RULED_OUT if ruled_out else OTHER


def _link(sheet_id: str, link: Link | None) -> list[str] | None:
    """Return a link's type, its wording from one sheet's side, the other sheet, and evidence."""
    if link is None:
        return None
    there, back = kind_of(link.type).says
    way, other = (there, link.target) if link.source == sheet_id else (back, link.source)
    return [link.type, way, other[:_NAME_CHARS], link.evidence[:_EVIDENCE_CHARS]]


def _facts(
    index: SheetIndex, sheets: _Sheets, text: str, ids: Sequence[str]
) -> tuple[dict[int, list[Any]], list[str], list[str]]:
    """Return the reasons for each sheet, the question's known words, and its unknown words."""
    question = index.question(text)
    scored = {one.sheet_id: one for one in index.search.score_sheets(question, ids)}
    shares = index.search.word_shares(question, ids)
    spelled: dict[str, str] = {}
    for word in (form for each in forms(text) for form in each):
        spelled.setdefault(stem(word), word)
    has = shares.shares > 0
    facts = {}
    for column, sheet_id in enumerate(ids):
        own = [row for row in range(len(shares.words)) if has[row, column]]
        stems = {shares.words[row] for row in own}
        headers = [n for n, each in enumerate(sheets.headers[sheet_id]) if stems & each]
        one = scored.get(sheet_id)
        if one is not None:  # else a writer has removed it since
            # Cosine and its rank, share of the words and its rank, 0 without a common word.
            dense, lexical = round(one.dense, 3), round(one.lexical, 3)
            found = [dense, one.dense_rank, lexical, one.lexical_rank or 0, own, headers]
            facts[sheets.numbers[sheet_id]] = found
    known = [spelled.get(word, word) for word in shares.words]
    return (
        facts,
        known,
        [spelled.get(word, word) for word in question.words if word not in shares.words],
    )


def report_html(
    bench: Bench,
    index: SheetIndex,
    *,
    title: str,
    about: str = "",
    remarks: Sequence[str] = (),
    told: Told = no_progress,
) -> str:
    """Return the text of a page that needs no other file and no network.

    It has the main table, the spread of NDCG@5 of each method, and the questions, to sort, filter
    and open. Each question shows the rank of its relevant sheets in every method, the first ten
    sheets of the chosen method, and the reasons for each of them. `about` stands below the title,
    for example the source of the questions; `remarks` below the table.
    """
    questions, sheets, left_out = questions_of(bench, index, told)
    said = [*notes(bench), *remarks]
    if left_out:
        said.append(
            f"{left_out:,} of the {len(bench.queries):,} questions are in the table, but not "
            "listed: those that the methods answer best."
        )
    data = {
        "title": title,
        "about": about,
        "notes": said,
        "depth": DEPTH,
        "listed": LISTED,
        "total": len(bench.sheet_ids),
        "columns": [[column.title, column.means] for column in COLUMNS],
        "against": compared_row(bench),
        "methods": [
            _method(one, bench.compared_with(number), [[cell.text, cell.best] for cell in row])
            for number, (one, row) in enumerate(zip(bench.scored, cells(bench), strict=True))
        ],
        "sheets": sheets,
        "questions": questions,
    }
    return one_page("sat_retriever.evaluation.report", _SCRIPTS, title=title, data=data)


def _method(scored: Scored, other: int | None, row: Sequence[Sequence[Any]]) -> dict[str, Any]:
    return {
        "name": scored.name,
        "cells": row,
        "difference": signed(scored.difference),
        "other": other,
        "spread": spread([PER_QUERY["NDCG@5"](each) for each in scored.rows]),
    }


def spread(values: Sequence[float]) -> list[int]:
    """Count the values in each tenth of [0, 1), and those equal to 1.

    >>> spread([0.0, 0.05, 0.95, 1.0])
    [2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    """
    counts = [0] * (BUCKETS + 1)
    for value in values:
        # A value that differs from 1 only by rounding is a perfect order.
        counts[BUCKETS if value > 1 - 1e-9 else int(value * BUCKETS)] += 1
    return counts
