"""Rank by RAG+LLM: a language model reads the sheets that RAG found and picks five."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sat_retriever.evaluation.llm import Answers, LanguageModel, reranker
from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.methods.rag import rag
from sat_retriever.index.index import SheetIndex
from sat_retriever.text.serialize import Serialization, serialize

_FORM = Serialization()  # the paper's text of a sheet, whatever text the index uses


def rag_llm(index: SheetIndex, model: LanguageModel, answers: Answers | None = None) -> Method:
    """Rank the model's five of RAG's fifty sheets first, then the others in RAG's order.

    Source: paper, section 4 (compared methods).

    Args:
        index: Sheets with tokens of an encoder that was not trained on sheets.
        model: The model.
        answers: Kept answers to look up; None asks every time.
    """

    def texts(ids: Sequence[str]) -> Mapping[str, str]:
        records = index.records(ids)
        return {sheet_id: serialize(record, _FORM) for sheet_id, record in records.items()}

    return Method(rag(index).rank, reranker(texts, model, answers))
