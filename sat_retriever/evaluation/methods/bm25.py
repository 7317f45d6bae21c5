"""Rank by BM25 over words of names and headers; no training and no encoder."""

from __future__ import annotations

from functools import partial

import numpy as np

from sat_retriever.datasets.metrics.run import DEPTH
from sat_retriever.evaluation.method import Method
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.question import Question
from sat_retriever.records.candidates import Candidate


def bm25(index: SheetIndex) -> Method:
    """Rank sheets by BM25 alone; sheets without a word of the question are not ranked.

    Source: Robertson and Zaragoza (2009). The paper has no such row.
    """
    # At a weight of 0 the token has no effect; a given one saves encoding the question.
    token = np.eye(1, index.width, dtype=np.float32)[0]
    ask = partial(index.question, dense_weight=0.0, token=token, times=False)

    def find(question: Question) -> list[Candidate]:
        return [sheet for sheet in index.candidates(question, DEPTH) if sheet.lexical > 0]

    return Method(find, ask=ask)
