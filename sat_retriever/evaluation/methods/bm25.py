"""BM25: words of names and headers; no training and no encoder."""

from __future__ import annotations

from functools import partial

from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.run import DEPTH
from sat_retriever.index import SheetIndex


def bm25(index: SheetIndex) -> Method:
    """Sheets by BM25 alone; those that share no word with a question are not ranked.

    Source: Robertson and Zaragoza (2009). The paper has no such row.
    """
    find = partial(index.candidates, top_k=DEPTH, dense_weight=0.0)
    return Method(lambda query: [sheet for sheet in find(query) if sheet.lexical > 0])
