"""Rerank without training: by initials, by contents, and by links, which also add sheets."""

from __future__ import annotations

import numpy as np

from sat_retriever.index.search.candidates import CandidateSet
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
from sat_retriever.text.spelling import abbreviates, forms_of

# Share of the way to a score of 1 that such a sheet rises (benchmarks/LOG.md).
_BY_INITIALS = 0.6


def raise_abbreviations(found: CandidateSet) -> list[Candidate]:
    """Return the candidates in their order, raised where a name abbreviates the query.

    `AVL` is raised for *average vehicle lifetime*, whatever the file is called, and for *what is
    the average vehicle lifetime?*, too: common words may be left out.
    """
    forms, names = forms_of(found.question.text), found.names(found.ids)
    raised = []
    for each in found.candidates:
        name = names.get(each.sheet_id)
        if name and any(abbreviates(name.sheet, asked) for asked in forms):
            score = 1 - (1 - each.score) * (1 - _BY_INITIALS)
            raised.append(each.placed(each.rank, score))
        else:
            raised.append(each)
    return raised


MIN_REACH = 0.3  # least weight of a link that adds a sheet


class LinkReranker(Reranker):
    """A reranker that raises sheets whose tables say what is asked, and sheets linked to the best.

    Sheets whose names abbreviate the query rise first (`raise_abbreviations`); if there are none,
    contents are read (`read_closely`). Then a sheet moves part of the way up to the sheet that
    pulls it. It moves further if that sheet has fewer of the query's words, and if it has more of
    the rest itself. So links leave the first sheet first, and no sheet overtakes the best of those
    that raise it. Without abbreviations, contents and links nothing moves. It has no state of its
    own and may be shared between threads.

    Args:
        settings: Its weights; None takes those chosen on validation data.
        dense_weight: Share of the cosine in the score that finds candidates; None is the index's
            own.
    """

    keeps_scale = True  # a sheet that no link raises keeps its score

    def __init__(
        self, settings: LinkSettings | None = None, *, dense_weight: float | None = None
    ) -> None:
        self.settings = settings or LinkSettings()
        self.dense_weight = dense_weight

    def rerank(self, found: CandidateSet) -> list[Candidate]:
        """Return candidates with new scores and ranks, best first, with linked sheets added.

        Scores stay in the range of the fused score, comparable to it and never below it. `via`
        names the link that raised a sheet most. Ties are in the order of sheet ids.
        """
        return ranked(self.order(found).candidates)

    def order(self, found: CandidateSet) -> CandidateSet:
        """The set of `rerank` for a reranker that goes on from it; sheets keep earlier ranks."""
        found = self._expanded(found.of(sorted(found.candidates, key=_order)))
        raised = raise_abbreviations(found)
        if raised == list(found.candidates):
            # A question that a name abbreviates is asked by name: cells have nothing to add to it.
            raised = read_closely(found)
        found = found.of(sorted(raised, key=_order))
        links = found.links(self._best(found))
        graph = pull_graph(found.ids, links, found.homes(found.ids), self.settings)
        return found.of(self._lifted(found, graph)) if graph else found

    def _best(self, found: CandidateSet) -> list[str]:
        return found.ids[: self.settings.pulling]

    def _expanded(self, found: CandidateSet) -> CandidateSet:
        limit, best = self.settings.hub_links, self._best(found)
        links = found.links_from(best, limit + 1).values()
        leading = [link for few in links if len(few) <= limit for link in few]
        known = set(found.ids)
        new = list(dict.fromkeys(x.target for x in leading if x.target not in known))
        if new:
            homes = found.homes([*best, *new])
            wanted = {x.target for x in leading if self.settings.reach(x, homes) >= MIN_REACH}
            new = [sheet_id for sheet_id in new if sheet_id in wanted]
        if not new:
            return found
        added = found.further(new)[: self.settings.expansion]
        return found.of(sorted([*found.candidates, *added], key=_order))

    def _lifted(self, found: CandidateSet, graph: PullGraph) -> list[Candidate]:
        """Return candidates with the scores after walks over the graph, best first."""
        ids = found.ids
        scores: Matrix = np.array([candidate.score for candidate in found.candidates])
        pulled = pulls(scores, graph, found.word_shares(), self.settings)
        ended = walk(scores, pulled.strongest(), self.settings.longest)
        lifted = []
        for row, candidate in enumerate(found.candidates):
            step = int(ended.gains[row].argmax())
            if ended.gains[row, step] > 0:
                via = reason(graph, pulled, ids, row, step)
                lifted.append(candidate.placed(candidate.rank, float(ended.scores[row]), via))
            else:
                lifted.append(candidate)
        return sorted(lifted, key=_order)


def _order(candidate: Candidate) -> tuple[float, str]:
    return -candidate.score, candidate.sheet_id


LINKS = UntrainedKind("links", LinkReranker)
