"""Rank by SAT's Stage 1 only: the cosine of tokens of a trained Sheet Encoder."""

from __future__ import annotations

from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.methods.rag import rag
from sat_retriever.index.index import SheetIndex


def stage1(index: SheetIndex) -> Method:
    """Rank sheets by cosine, in an index whose encoder `sat train encoder` wrote.

    Source: paper, section 3.3. Only the index's encoder differs from RAG.
    """
    return rag(index)
