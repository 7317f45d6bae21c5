"""Rerank without training: by initials, by contents, and by links, which also add sheets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.question import Question
from sat_retriever.rank.links.pulls import (
    LinkSettings,
    Matrix,
    PullGraph,
    pull_graph,
    pulls,
    reason,
    walk,
)
from sat_retriever.rank.links.reading import read_closely
from sat_retriever.rank.reranker import Reranker, UntrainedKind, ranked
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.filters import Filters
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.lexical import WordShares
from sat_retriever.text.spelling import abbreviates, forms_of

# Share of the way to a score of 1 that such a sheet rises (benchmarks/LOG.md).
_BY_INITIALS = 0.6


def raise_abbreviations(
    query: str, candidates: Sequence[Candidate], records: Mapping[str, SheetRecord]
) -> list[Candidate]:
    """Return candidates, in their order, raised where a name abbreviates the query.

    `AVL` is raised for *average vehicle lifetime*, whatever the file is called, and for *what is
    the average vehicle lifetime?*, too: common words may be left out.
    """
    forms = forms_of(query)
    raised = []
    for each in candidates:
        record = records.get(each.sheet_id)
        if record and any(abbreviates(record.sheet, asked) for asked in forms):
            score = 1 - (1 - each.score) * (1 - _BY_INITIALS)
            raised.append(replace(each, score=score))
        else:
            raised.append(each)
    return raised


MIN_REACH = 0.3  # least weight of a link that adds a sheet


@dataclass(frozen=True, slots=True)
class LinkOrder:
    """The candidates in the order that links give them, with the data read for it."""

    candidates: Sequence[Candidate]  # the candidates, best first; each keeps its earlier rank
    records: Mapping[str, SheetRecord]
    homes: Mapping[str, str]  # workbook of each that has one; see `SheetIndex.workbook_of`
    words: WordShares  # share of each word of the question in the score of each of `read`
    read: Sequence[str]  # ids of the candidates, in the order of the columns of `words`


class LinkReranker(Reranker):
    """A reranker that raises sheets whose tables say what is asked, and sheets linked to the best.

    Sheets whose names abbreviate the query rise first (`raise_abbreviations`); if there are none,
    contents are read (`read_closely`). Then a sheet moves part of the way up to the sheet that
    pulls it. It moves further if that sheet has fewer of the query's words, and if it has more of
    the rest itself. So links leave the first sheet first, and no sheet overtakes the best of those
    that raise it. Without abbreviations, contents and links nothing moves. It has no state of its
    own and may be shared between threads.

    Args:
        index: Source of the candidates.
        settings: Its weights; None takes those chosen on validation data.
        dense_weight: Share of the cosine in the score that finds candidates; None is the index's
            own.
    """

    keeps_scale = True  # a sheet that no link raises keeps its score

    def __init__(
        self,
        index: SheetIndex,
        settings: LinkSettings | None = None,
        *,
        dense_weight: float | None = None,
    ) -> None:
        self.index = index
        self.settings = settings or LinkSettings()
        self.dense_weight = dense_weight

    def rerank(
        self, question: Question, candidates: Sequence[Candidate], filters: Filters | None = None
    ) -> list[Candidate]:
        """Return candidates with new scores and ranks, best first, with linked sheets added.

        Scores stay in the range of the fused score, comparable to it and never below it. `via`
        names the link that raised a sheet most. Ties are in the order of sheet ids.
        """
        return ranked(self.order(question, candidates, filters).candidates)

    def order(
        self, question: Question, candidates: Sequence[Candidate], filters: Filters | None = None
    ) -> LinkOrder:
        """Return the order of `rerank`, for a reranker that goes on from it."""
        found = sorted(candidates, key=_order)
        found = self._expanded(question, found, self._best(found), filters)
        ids = [candidate.sheet_id for candidate in found]
        records = self.index.records(ids)
        named = ((sheet_id, each.path or each.workbook) for sheet_id, each in records.items())
        homes = {sheet_id: home for sheet_id, home in named if home}
        raised = raise_abbreviations(question.text, found, records)
        # A question that a name abbreviates is asked by name: cells have nothing to add.
        found = raised if raised != found else read_closely(self.index, question, found)
        found = sorted(found, key=_order)
        ids = [candidate.sheet_id for candidate in found]
        words = self.index.word_shares(question, ids)
        links = self.index.links_between(self._best(found), ids)
        graph = pull_graph(ids, links, homes, self.settings)
        if graph:
            found = self._lifted(found, ids, graph, words)
        return LinkOrder(found, records, homes, words, ids)

    def _best(self, found: Sequence[Candidate]) -> list[str]:
        return [candidate.sheet_id for candidate in found[: self.settings.pulling]]

    def _expanded(
        self,
        question: Question,
        found: list[Candidate],
        best: Sequence[str],
        filters: Filters | None,
    ) -> list[Candidate]:
        """Add the sheets that the best candidates depend on."""
        limit = self.settings.hub_links
        links = self.index.link_targets(best, limit + 1).values()
        leading = [link for few in links if len(few) <= limit for link in few]
        known = {candidate.sheet_id for candidate in found}
        new = list(dict.fromkeys(x.target for x in leading if x.target not in known))
        if new:
            homes = self.index.workbook_of([*best, *new])
            wanted = {x.target for x in leading if self.settings.reach(x, homes) >= MIN_REACH}
            new = [sheet_id for sheet_id in new if sheet_id in wanted]
        if not new:
            return found
        scored = self.index.score_sheets(question, new, filters)
        return sorted([*found, *scored[: self.settings.expansion]], key=_order)

    def _lifted(
        self, found: list[Candidate], ids: list[str], graph: PullGraph, words: WordShares
    ) -> list[Candidate]:
        """Return candidates with the scores after walks over the graph, best first."""
        scores: Matrix = np.array([candidate.score for candidate in found])
        pulled = pulls(scores, graph, words, self.settings)
        ended = walk(scores, pulled.strongest(), self.settings.longest)
        lifted = []
        for row, candidate in enumerate(found):
            step = int(ended.gains[row].argmax())
            if ended.gains[row, step] > 0:
                via = reason(graph, pulled, ids, row, step)
                lifted.append(replace(candidate, score=float(ended.scores[row]), via=via))
            else:
                lifted.append(candidate)
        return sorted(lifted, key=_order)


def _order(candidate: Candidate) -> tuple[float, str]:
    return -candidate.score, candidate.sheet_id


LINKS = UntrainedKind("links", LinkReranker)
