"""RAG+LLM: a language model reads the sheets that RAG found and names five."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sat_retriever.evaluation.llm import Answers, LanguageModel, reranker
from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.methods.rag import rag
from sat_retriever.index.index import SheetIndex
from sat_retriever.text.serialize import Serialization, serialize

_FORM = Serialization()  # the paper's text of a sheet, whatever the index's own is


def rag_llm(index: SheetIndex, model: LanguageModel, answers: Answers | None = None) -> Method:
    """The model's five of RAG's fifty first, then the others as RAG has them.

    Source: paper, section 4 (compared methods).

    Args:
        index: Sheets with tokens of an encoder that was not trained on sheets.
        model: The model.
        answers: Where answers are kept and looked up; None asks every time.
    """

    def texts(ids: Sequence[str]) -> Mapping[str, str]:
        records = index.records(ids)
        return {sheet_id: serialize(record, _FORM) for sheet_id, record in records.items()}

    return Method(rag(index).rank, reranker(texts, model, answers))
