"""Choose the share of the cosine in the fused score on validation questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sat_retriever.datasets.metrics import mean, ndcg
from sat_retriever.index.search.columns import Periods
from sat_retriever.index.search.fusion import DENSE_WEIGHT, fuse, held_back, time_factors
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import LexicalScorer, query_words
from sat_retriever.text.period.question import asked_spans
from sat_retriever.train.data.trainingdata import TrainingData
from sat_retriever.train.encoder.mining import best_places
from sat_retriever.train.loop.task import MEASURE

CHOSEN = "dense_weight"  # its name among the metrics, and in the encoder's folder
_K = 5
_DIGITS = 9  # smaller differences count as equal


@dataclass(frozen=True, slots=True)
class Fusion:
    """The chosen share of the cosine, and the result of every share.

    Attributes:
        dense_weight: The chosen share.
        ndcg: Mean NDCG@5 of the validation questions by share.
    """

    dense_weight: float
    ndcg: Mapping[float, float]

    def metrics(self) -> dict[str, float]:
        """Return the chosen share and the whole curve, by name."""
        curve = {name_of(share): value for share, value in self.ndcg.items()}
        return {CHOSEN: self.dense_weight, **curve}


def name_of(share: float) -> str:
    """Return the name of the measure at a share.

    >>> name_of(0.4)
    'NDCG@5, dense_weight = 0.4'
    """
    return f"{MEASURE}, {CHOSEN} = {share:g}"


def choose_fusion(
    data: TrainingData, lexical: LexicalScorer, questions: FloatArray, sheets: FloatArray
) -> Fusion:
    """Choose the share of the cosine in the fused score with the highest NDCG@5 on validation.

    All sheets are searched and scored as in an index: share · cosine + (1 - share) · BM25,
    where BM25 is a share of its best possible value. Scores are held back by time if the data
    has times. Ties are in the order of sheet ids.

    Args:
        data: The validation questions and the sheets.
        lexical: BM25 over the sheets, in their order.
        questions: Tokens of the m validation questions, (m, d), rows of unit length.
        sheets: Tokens of the n sheets, (n, d), rows of unit length.
    """
    ids = data.sheet_ids
    by_id = np.array(sorted(range(len(ids)), key=lambda row: ids[row]))  # decides between equals
    found: dict[float, list[float]] = {share: [] for share in data.shares}
    asked = zip(data.validation.texts, data.validation.positives, questions, strict=True)
    for text, gold, token in asked:
        dense = (sheets @ token)[by_id]  # (n,)
        words = lexical.scores(query_words(text))[by_id]
        times = data.times
        left = np.ones_like(dense)
        if times is not None:
            left = time_factors(Periods.of(times), asked_spans(text))[by_id]
        relevant = [str(row) for row in gold]
        for share, values in found.items():
            scores = held_back(fuse(dense, words, share), left)
            first = by_id[best_places(scores, min(_K, len(ids)))]
            values.append(ndcg([str(row) for row in first], relevant, _K))
    means = {share: mean(values) for share, values in found.items()}
    return Fusion(best_share(means), means)


def best_share(ndcg: Mapping[float, float]) -> float:
    """Return the share with the highest measure; among equals the nearest to the untrained default.

    A flat curve is no evidence, so a tie keeps near the default, which was chosen on more questions
    and uses both words and training. Of two at equal distance the smaller wins: words need no
    training.

    >>> best_share({0.0: 0.7, 0.3: 0.9, 0.5: 0.9, 1.0: 0.8}), best_share({0.0: 1.0, 1.0: 1.0})
    (0.3, 0.0)
    """
    return min(
        ndcg,
        key=lambda share: (
            -round(ndcg[share], _DIGITS), round(abs(share - DENSE_WEIGHT), _DIGITS), share,
        ),
    )  # fmt: skip
