"""Compute metrics of validation questions in training, by the scorer that reports use."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from sat_retriever.datasets.metrics.rows import Rows, metrics_of, row_of
from sat_retriever.train.data.trainingdata import NO_SHEET, QueryRows


def ranked_metrics(
    ranked: NDArray[np.int64], questions: QueryRows, names: Collection[str]
) -> dict[str, float]:
    """Return means over the questions, each in [0, 1], without metrics that no question defines.

    Args:
        ranked: Rows of the sheets of each question, best first, (m, k), padded with `NO_SHEET`.
        questions: The questions with relevant sheets and hard negatives.
        names: Names of metrics from `sat_retriever.datasets.metrics.rows`.
    """
    labels = zip(questions.positives, questions.hard_negatives, strict=True)
    rows = [
        row_of(place, [row for row in found if row != NO_SHEET], gold, hard)
        for place, (found, (gold, hard)) in enumerate(zip(ranked.tolist(), labels, strict=True))
    ]
    return defined_metrics(rows, names)


def defined_metrics(rows: Rows, names: Collection[str]) -> dict[str, float]:
    """Return means over the rows, without metrics that no row defines."""
    found = metrics_of(rows, names)
    return {name: value for name, value in found.items() if value is not None}
