"""Rank by RAG: the cosine of question and sheet tokens of an encoder not trained on sheets."""

from __future__ import annotations

from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.methods.fused import fused
from sat_retriever.index.index import SheetIndex


def rag(index: SheetIndex) -> Method:
    """Rank sheets by cosine, in an index whose encoder was not trained on sheets.

    Source: paper, section 4 (compared methods). Departs: the encoder is the index's own, for
    example MiniLM in place of BGE.
    """
    return fused(index, 1.0, times=False)
