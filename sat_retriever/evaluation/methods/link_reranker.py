"""Rank by tokens and words, then by links: Stage 2 without training."""

from __future__ import annotations

from dataclasses import replace

from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.methods.fused import fused
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.links.linkrank import LinkReranker


def link_reranker(index: SheetIndex, dense_weight: float | None = None) -> Method:
    """Rank fused candidates by a walk over the links of the index; see `LinkReranker`.

    The paper has no such row.

    Args:
        index: The index to search.
        dense_weight: Share of the cosine among candidates, in [0, 1]; None is the index's own.
    """
    return replace(fused(index, dense_weight), rerank=LinkReranker(index).rerank)
