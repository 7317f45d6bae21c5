"""SAT, Stage 1 only: the cosine of tokens, by a Sheet Encoder that learned from questions."""

from __future__ import annotations

from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.methods.rag import rag
from sat_retriever.index.index import SheetIndex


def stage1(index: SheetIndex) -> Method:
    """Sheets by cosine, from an index whose encoder `sat train encoder` wrote.

    Source: paper, section 3.3. It differs from RAG by the index's encoder and nothing else.
    """
    return rag(index)
