"""Rerank by what a list of candidates shows: its scores, words, workbooks and links."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.question import Question
from sat_retriever.rank.features.features import candidate_list, list_inputs
from sat_retriever.rank.features.model import FORMAT, FeatureModel, FeatureSpec
from sat_retriever.rank.links.linkrank import LinkReranker
from sat_retriever.rank.reranker import Reranker, rescored
from sat_retriever.rank.trained import TrainedKind, check_trained_on
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.filters import Filters


class FeatureReranker(Reranker):
    """A reranker that starts from the order of `LinkReranker` and moves sheets by bounded steps.

    It reads no token, so its numbers mean the same in every corpus. A list that looks unlike those
    it learnt from keeps the order of the links; one in between is moved in part. May be shared
    between threads.

    Source: none; the paper's second stage reads tokens and learns from one corpus. Features and
    lists as in learning to rank (Liu 2009).

    Raises:
        FingerprintMismatchError: If it was trained on cosines of another encoder or other texts.
    """

    keeps_scale = True  # bounded moves are added to the scores, and strange lists keep theirs

    def __init__(self, index: SheetIndex, model: FeatureModel, folder: str | Path) -> None:
        check_trained_on(index, Path(folder), FEATURES.command, model.spec)
        self.index = index
        self.model = model
        self.trained_candidates = model.spec.candidates
        self._folder = folder
        self._links = LinkReranker(index)

    @classmethod
    def load(cls, index: SheetIndex, folder: str | Path) -> FeatureReranker:
        """Load the reranker in a folder, for the sheets of an index.

        Raises:
            EncoderError: If the folder is not such a reranker, or is damaged.
        """
        return cls(index, FeatureModel.load(folder), folder)

    def over(self, index: SheetIndex) -> FeatureReranker:
        """Return the same reranker for an index as some groups see it."""
        return FeatureReranker(index, self.model, self._folder)

    def rerank(
        self, question: Question, candidates: Sequence[Candidate], filters: Filters | None = None
    ) -> list[Candidate]:
        """Return candidates with new scores and ranks, best first, with linked sheets added."""
        order = self._links.order(question, candidates, filters)
        scores = np.array([candidate.score for candidate in order.candidates])
        if len(scores) > 1:
            known = candidate_list(self.index, question, candidates, order)
            scores = scores + self.model.moves(list_inputs(known))
        return rescored(order.candidates, scores, np.minimum(scores, 1.0))


FEATURES = TrainedKind(
    "features", "Features", FORMAT, FeatureSpec, FeatureReranker.load, carries=True
)
