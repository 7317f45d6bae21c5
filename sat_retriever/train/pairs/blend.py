"""Choose the weight of the Stage 1 score beside the logit on validation questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sat_retriever.rank.cross_encoder import blended
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.data.trainingdata import NO_SHEET, QueryRows
from sat_retriever.train.data.validation import ranked_metrics
from sat_retriever.train.loop.task import MEASURE
from sat_retriever.train.pairs.pairs import FoundSheets, Rows


@dataclass(frozen=True, slots=True)
class Blend:
    """The chosen weight and its result.

    Attributes:
        weight: The chosen weight w.
        ndcg: Mean NDCG@5 over the questions, by weight.
        ranked: Rows of each question's sheets at the chosen weight, best first, (m, k), padded
            with `NO_SHEET`.
    """

    weight: float
    ndcg: dict[float, float]
    ranked: Rows


def choose_blend(
    logits: FloatArray,
    found: FoundSheets,
    questions: QueryRows,
    sheet_ids: Sequence[str],
    weights: Sequence[float],
) -> Blend:
    """Choose the weight with the highest mean NDCG@5; the smallest among equals.

    Source: paper, appendix (Cross-Encoder).

    Args:
        logits: Logits of the sheets found, (m, k).
        found: Sheets and cosines of m questions.
        questions: The questions with their relevant sheets.
        sheet_ids: Id of each sheet; breaks ties.
        weights: Weights to try, at least one.
    """
    rankings = {w: _ranked(logits, found, sheet_ids, w) for w in sorted(weights)}
    measured = {
        w: ranked_metrics(each, questions, (MEASURE,))[MEASURE] for w, each in rankings.items()
    }
    best = max(measured, key=lambda w: measured[w])  # of equals the first, as weights ascend
    return Blend(best, measured, rankings[best])


def _ranked(
    logits: FloatArray, found: FoundSheets, sheet_ids: Sequence[str], weight: float
) -> Rows:
    """Return the sheets of each question by logit + w · cosine, best first, (m, k)."""
    there = found.rows != NO_SHEET
    scores = np.where(there, blended(logits, found.cosines, weight), -np.inf)
    tie = np.empty(len(sheet_ids), dtype=np.int64)
    tie[sorted(range(len(sheet_ids)), key=lambda row: sheet_ids[row])] = np.arange(len(sheet_ids))
    order = np.lexsort((tie[found.rows], -scores), axis=1)
    ranked: Rows = np.take_along_axis(found.rows, order, axis=1)
    return ranked
