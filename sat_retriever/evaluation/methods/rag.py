"""RAG: the cosine of question and sheet tokens, by an encoder that was taught nothing."""

from __future__ import annotations

from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.methods.fused import fused
from sat_retriever.index.index import SheetIndex


def rag(index: SheetIndex) -> Method:
    """Sheets by cosine, from an index whose encoder was not trained on sheets.

    Source: paper, section 4 (compared methods). Departs: by whatever encoder the index has,
    for example MiniLM in place of BGE.
    """
    return fused(index, 1.0, times=False)
