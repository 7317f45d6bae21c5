"""Gather what the list of a question's candidates shows, before any of it is weighed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.question import Question
from sat_retriever.rank.links import LinkOrder
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.contents import Role
from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.tokens import FloatArray

LINKED = (
    LinkType.FORMULA_REFERENCE, LinkType.AGGREGATION, LinkType.SUMMARY_SOURCE,
    LinkType.JOIN_KEY, LinkType.SIBLING_PERIOD,
)  # fmt: skip
"""Types of links that features are made of."""
SPEAKING = 10  # best candidates whose links to the others count
ROLES = tuple(Role)


@dataclass(frozen=True, slots=True)
class CandidateList:
    """One question's k candidates after links, best first, and what is known of them.

    Attributes:
        candidates: The candidates; `score` is the score that the ranking starts from.
        before: Their scores before links and reading, (k,); the score itself for an added sheet.
        added: True for a sheet that links added, (k,).
        homes: Number of each candidate's workbook, (k,), from 0 in the order of the list.
        roles: Place of each candidate's role in `ROLES`, (k,).
        sizes: Rows and columns, (k, 2); NaN if unknown.
        limits: Weight of each word of the question, (w,); they sum to 1, or w is 0.
        shares: What each word adds to each candidate's score by names, (w, k).
        links: Weight of the strongest link of each type, (t, 2, k, k). Entry [t, 0, j, i]: sheet
            i depends on sheet j. Entry [t, 1, i, j]: the same link from the other end. Links
            of the `SPEAKING` best alone.
        covered: Most of the question that the names of one sheet cover, in [0, 1].
        alone: Share of the weight of its words that contents have and names have not, in [0, 1].
        named: Share of the weight of its words that names have, in [0, 1].
        words: Number of its words.
        explaining: True if it asks for documentation.
        dense_weight: Share of the cosines in its scores.
        contents: True if the index has contents.
        size: Sheets in the index.
    """

    candidates: tuple[Candidate, ...]
    before: FloatArray
    added: NDArray[np.bool_]
    homes: NDArray[np.intp]
    roles: NDArray[np.intp]
    sizes: FloatArray
    limits: FloatArray
    shares: FloatArray
    links: FloatArray
    covered: float
    alone: float
    named: float
    words: int
    explaining: bool
    dense_weight: float
    contents: bool
    size: int

    def each(self, *names: str) -> FloatArray:
        """Return n attributes of all candidates, (n, k) float32; None becomes NaN."""
        found = [[getattr(each, name) for each in self.candidates] for name in names]
        return np.array(found, dtype=np.float32)


def candidate_list(
    index: SheetIndex,
    question: Question,
    first: Sequence[Candidate],
    order: LinkOrder,
) -> CandidateList:
    """Gather the facts of a list.

    Args:
        index: Source of the candidates.
        question: The question that they were found for.
        first: The candidates as Stage 1 found them.
        order: The same after links, with sheets that links added, or the best of them.
    """
    found = order.candidates
    ids = [candidate.sheet_id for candidate in found]
    earlier = {candidate.sheet_id: candidate.score for candidate in first}
    owned = [order.homes.get(each) or each for each in ids]
    numbers = {home: number for number, home in enumerate(dict.fromkeys(owned))}
    column = {sheet_id: place for place, sheet_id in enumerate(order.read)}
    snapshot, matches = question.scores.snapshot, question.scores.matches
    rareness = matches.rareness
    total = rareness.names + rareness.contents or 1.0
    sizes = np.full((len(ids), 2), np.nan, dtype=np.float32)
    roles = np.zeros(len(ids), dtype=np.intp)
    for row, sheet_id in enumerate(ids):
        record = order.records.get(sheet_id)
        if record is not None:
            rows = np.nan if record.num_rows is None else record.num_rows
            sizes[row], roles[row] = (rows, len(record.columns)), ROLES.index(record.role)
    return CandidateList(
        candidates=tuple(found),
        before=np.array([earlier.get(c.sheet_id, c.score) for c in found], dtype=np.float32),
        added=np.array([c.sheet_id not in earlier for c in found]),
        homes=np.array([numbers[home] for home in owned], dtype=np.intp),
        roles=roles,
        sizes=sizes,
        limits=order.words.limits,
        shares=order.words.shares[:, [column[each] for each in ids]],
        links=_weights(ids, index.links_between(ids[:SPEAKING], ids, [*map(str, LINKED)])),
        covered=matches.covered,
        alone=rareness.contents_alone / total,
        named=rareness.names / total,
        words=len(matches.words),
        explaining=matches.explaining,
        dense_weight=question.dense_weight,
        contents=bool(snapshot.contents),
        size=snapshot.sheets,
    )


def _weights(ids: Sequence[str], links: Sequence[Link]) -> FloatArray:
    place: Mapping[str, int] = {sheet_id: number for number, sheet_id in enumerate(ids)}
    kinds = {kind.value: number for number, kind in enumerate(LINKED)}
    found = np.zeros((len(LINKED), 2, len(ids), len(ids)), dtype=np.float32)
    for link in links:
        source, target = place.get(link.source), place.get(link.target)
        if source is not None and target is not None and source != target and link.type in kinds:
            of_kind = found[kinds[link.type]]
            of_kind[0, target, source] = max(of_kind[0, target, source], link.weight)
            of_kind[1, source, target] = max(of_kind[1, source, target], link.weight)
    return found
