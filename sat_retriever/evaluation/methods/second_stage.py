"""Any trained reranker over the candidates that it was trained on."""

from __future__ import annotations

from functools import partial

from sat_retriever.evaluation.method import Method
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.reranker import Reranker
from sat_retriever.retriever import CANDIDATES


def second_stage(index: SheetIndex, reranker: Reranker) -> Method:
    """As many candidates as a reranker knows, found with its own weight, in the order it gives.

    Args:
        index: Where candidates come from.
        reranker: What orders them.
    """
    find = partial(index.candidates, top_k=reranker.trained_candidates or CANDIDATES)
    ask = partial(index.question, dense_weight=reranker.dense_weight)
    return Method(find, reranker.rerank, ask)
