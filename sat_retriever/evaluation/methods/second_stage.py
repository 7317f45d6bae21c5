"""Rank with any trained reranker, over candidates like those of its training."""

from __future__ import annotations

from functools import partial

from sat_retriever.answer.retriever import CANDIDATES
from sat_retriever.evaluation.method import Method
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.reranker import Reranker


def second_stage(index: SheetIndex, reranker: Reranker) -> Method:
    """Rank with a reranker, over as many candidates and with the weight that it was trained on.

    Args:
        index: Source of the candidates.
        reranker: The reranker.
    """
    find = partial(index.candidates, top_k=reranker.trained_candidates or CANDIDATES)
    ask = partial(index.question, dense_weight=reranker.dense_weight)
    return Method(find, reranker.rerank, ask)
