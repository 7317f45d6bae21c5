"""Rerank with the Cross-Encoder, which scores each candidate together with the query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sat_retriever.encoder.onnx.device import Device
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.fusion import probabilities
from sat_retriever.index.search.question import Question
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
    """Return the scores of pairs, any shape, float64: logit + w · Stage 1 score.

    Source: paper, appendix (Cross-Encoder).

    >>> blended(np.float32([1.0, 0.0]), np.float32([0.5, 0.75]), 10.0).tolist()
    [6.0, 7.5]
    """
    return logits.astype(np.float64) + weight * cosines.astype(np.float64)


class CrossEncoderReranker(Reranker):
    """A reranker by logit + w · cosine; may be shared between threads.

    Args:
        index: Source of the candidates.
        model: The Cross-Encoder.

    Raises:
        FingerprintMismatchError: If it was trained on other texts or other cosines than the
            index has.
    """

    def __init__(self, index: SheetIndex, model: CrossEncoder) -> None:
        check_trained_on(index, model.folder, PAIRS.command, _trained_on(model.spec))
        self.index = index
        self.model = model

    @classmethod
    def load(
        cls,
        index: SheetIndex,
        folder: str | Path,
        *,
        threads: int | None = None,
        device: Device | None = None,
    ) -> CrossEncoderReranker:
        """Load the reranker in a folder that training wrote, for the sheets of an index.

        Args:
            index: Source of the candidates.
            folder: The reranker's folder.
            threads: Processor cores to use, at least 1; None takes all available, at most four.
            device: "cuda", "cpu" or "auto"; None takes the index's.

        Raises:
            EncoderError: If the folder is not a Cross-Encoder, is damaged, or cannot be opened.
            FingerprintMismatchError: If it was trained on other texts or other cosines.
            InputError: If `threads` is below 1, or the device is unknown.
            MissingExtraError: If CUDA is asked for, and onnxruntime lacks it.
        """
        model = CrossEncoder.load(folder, threads=threads, device=device or index.device)
        return cls(index, model)

    @property
    def dense_weight(self) -> float:
        """Share of the cosine in the score that finds its candidates."""
        return self.model.spec.dense_weight

    @property
    def trained_candidates(self) -> int:
        """Number of candidates per query that its weight w was chosen with."""
        return self.model.spec.candidates

    @property
    def complete_share(self) -> float:
        """Smallest share of the best score for a sheet of a complete answer."""
        return _COMPLETE_SHARE

    def rerank(
        self,
        question: Question,
        candidates: Sequence[Candidate],
        filters: Filters | None = None,
    ) -> list[Candidate]:
        """Return the same sheets with new scores and ranks, best first.

        The score is the sigmoid of logit + w · (cosine - 1), in [0, 1]. Subtracting w changes no
        order and separates scores that would otherwise all be close to 1. Periods that the query
        names hold it back by the same share as Stage 1's score. Exact values decide the order, even
        if two round to the same number; equal ones are in the order of sheet ids. Sheets that were
        removed from the index since are left out.

        Args:
            question: The question that the candidates were found for.
            candidates: The result of Stage 1, in any order.
            filters: Unused, since no sheet is added.

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
        # The logarithm of the shown score still distinguishes values close to 1.
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
