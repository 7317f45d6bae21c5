"""Rerank by what a list of candidates shows: its scores, words, workbooks and links."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.candidates import CandidateSet
from sat_retriever.rank.features.features import candidate_list, list_inputs
from sat_retriever.rank.features.model import FORMAT, FeatureModel, FeatureSpec
from sat_retriever.rank.links.linkrank import LinkReranker
from sat_retriever.rank.reranker import Reranker, rescored
from sat_retriever.rank.trained import TrainedKind, check_trained_on
from sat_retriever.records.candidates import Candidate


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
        self.model = model
        self.trained_candidates = model.spec.candidates
        self._links = LinkReranker()

    @classmethod
    def load(cls, index: SheetIndex, folder: str | Path) -> FeatureReranker:
        """Load the reranker in a folder for an index; an EncoderError if it is none or damaged."""
        return cls(index, FeatureModel.load(folder), folder)

    def rerank(self, found: CandidateSet) -> list[Candidate]:
        """Return candidates with new scores and ranks, best first, with linked sheets added."""
        order = self._links.order(found)
        scores = np.array([candidate.score for candidate in order.candidates])
        if len(scores) > 1:
            scores = scores + self.model.moves(list_inputs(candidate_list(found, order)))
        return rescored(order.candidates, scores, np.minimum(scores, 1.0))


FEATURES = TrainedKind(
    "features", "Features", FORMAT, FeatureSpec, FeatureReranker.load, carries=True
)
