"""Stage 2 by the Cross-Encoder: each candidate scored on its own, together with the query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.index import SheetIndex
from sat_retriever.index.question import Question
from sat_retriever.index.scores import probabilities
from sat_retriever.rank.fingerprints import check_trained_on
from sat_retriever.rank.kind import TrainedKind, TrainedOn
from sat_retriever.rank.pairs.folder import FORMAT, read_pair_folder
from sat_retriever.rank.pairs.model import CrossEncoder
from sat_retriever.rank.pairs.spec import PairSpec
from sat_retriever.rank.reranker import Reranker
from sat_retriever.rank.rescored import rescored
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.filters import Filters
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.serialize import serialize

_COMPLETE_SHARE = 0.5  # scores are probabilities: at least half as likely as the best sheet


def blended(logits: FloatArray, cosines: FloatArray, weight: float) -> NDArray[np.float64]:
    """Scores of pairs, any shape, float64: logit + w · Stage 1 score.

    Source: paper, appendix (Cross-Encoder).

    >>> blended(np.float32([1.0, 0.0]), np.float32([0.5, 0.75]), 10.0).tolist()
    [6.0, 7.5]
    """
    return logits.astype(np.float64) + weight * cosines.astype(np.float64)


class CrossEncoderReranker(Reranker):
    """Orders candidates by logit + w · cosine; safe to share between threads.

    Args:
        index: Where the candidates come from.
        model: The Cross-Encoder.

    Raises:
        FingerprintMismatchError: If it was trained on other texts or other cosines than the
            index has.
    """

    def __init__(self, index: SheetIndex, model: CrossEncoder) -> None:
        check_trained_on(index, model.folder, PAIRS.name, _trained_on(model.spec))
        self.index = index
        self.model = model

    @classmethod
    def load(
        cls, index: SheetIndex, folder: str | Path, *, threads: int | None = None
    ) -> CrossEncoderReranker:
        """The reranker in a folder that training wrote, for the sheets of an index.

        Raises:
            EncoderError: If the folder is no Cross-Encoder, damaged, or cannot be opened.
            FingerprintMismatchError: If it was trained on other texts or other cosines.
            InputError: If `threads` is below 1.
        """
        return cls(index, CrossEncoder.load(folder, threads=threads))

    @property
    def dense_weight(self) -> float:
        """Share of the cosine in the score that candidates are to be found by."""
        return self.model.spec.dense_weight

    @property
    def trained_candidates(self) -> int:
        """Number of candidates a query that its weight w was chosen with."""
        return self.model.spec.candidates

    @property
    def complete_share(self) -> float:
        """Share of the best score that a sheet of a complete answer has at least."""
        return _COMPLETE_SHARE

    def rerank(
        self,
        question: Question,
        candidates: Sequence[Candidate],
        filters: Filters | None = None,
    ) -> list[Candidate]:
        """The same sheets with new scores and ranks, best first.

        The score is the sigmoid of logit + w · (cosine - 1), in [0, 1]: subtracting w changes
        no order and keeps scores apart that would otherwise all be next to 1. Times that the
        query names hold it back by the same share as Stage 1's score. The order is that of the
        exact values, also where two round to the same number; equal ones come in the order of
        sheet ids. A sheet that was removed from the index in the meantime is left out.

        Args:
            question: The question that the candidates were found for.
            candidates: Stage 1's answer, in any order.
            filters: Not needed, since no sheet is added.

        Raises:
            EncoderError: If the model cannot be run.
        """
        records = self.index.records([candidate.sheet_id for candidate in candidates])
        found = [candidate for candidate in candidates if candidate.sheet_id in records]
        texts = [serialize(records[c.sheet_id], self.index.serialization) for c in found]
        cosines = np.array([candidate.dense for candidate in found], dtype=np.float32)
        scores = blended(self.model.logits(question.text, texts), cosines, self.model.spec.blend)
        times = np.array([candidate.time for candidate in found], dtype=np.float64)
        shown = probabilities(scores - self.model.spec.blend) * times
        # The logarithm of what is shown: it still tells apart what is next to 1.
        exact = np.log(times) - np.logaddexp(0.0, self.model.spec.blend - scores.astype(np.float64))
        return rescored(found, exact, shown)


def _trained_on(spec: PairSpec) -> TrainedOn:
    return TrainedOn(spec.encoder, spec.serialization)


PAIRS = TrainedKind(
    name="cross-encoder",
    label="Cross-Encoder",
    format=FORMAT,
    trained_on=lambda folder: _trained_on(read_pair_folder(folder)),
    load=CrossEncoderReranker.load,
)
