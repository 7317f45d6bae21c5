"""BM25: words of names and headers; no training and no encoder."""

from __future__ import annotations

from functools import partial

import numpy as np

from sat_retriever.evaluation.method import Method
from sat_retriever.index.index import SheetIndex
from sat_retriever.metrics.run import DEPTH


def bm25(index: SheetIndex) -> Method:
    """Sheets by BM25 alone; those that share no word with a question are not ranked.

    Source: Robertson and Zaragoza (2009). The paper has no such row.
    """
    # Any token does at a weight of 0, and saves the time of encoding the question.
    token = np.eye(1, index.width, dtype=np.float32)[0]
    find = partial(index.without_times().candidates, top_k=DEPTH, dense_weight=0.0, token=token)
    return Method(lambda query: [sheet for sheet in find(query) if sheet.lexical > 0])
