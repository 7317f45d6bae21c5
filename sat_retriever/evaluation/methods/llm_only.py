"""Rank by LLM-only: a language model reads the names of all sheets and picks five."""

from __future__ import annotations

from collections.abc import Sequence

from sat_retriever.evaluation.llm import Answers, LanguageModel, id_order, in_order, reranker
from sat_retriever.evaluation.method import Method
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.candidates import Candidate


def llm_only(index: SheetIndex, model: LanguageModel, answers: Answers | None = None) -> Method:
    """Rank the model's five sheets first, then all others in the order of their ids.

    Source: paper, section 4 (compared methods). The index is read once, when the method is made;
    its tokens are not used.

    Args:
        index: The sheets with their names.
        model: The model.
        answers: Kept answers to look up; None asks every time.
    """
    ids = sorted(index.sheet_ids(), key=id_order)
    names = {sheet_id: record.name for sheet_id, record in index.records(ids).items()}
    catalogue = in_order([_unscored(sheet_id) for sheet_id in ids])

    def find(query: str) -> Sequence[Candidate]:
        return catalogue

    return Method(find, reranker(lambda _: names, model, answers))


def _unscored(sheet_id: str) -> Candidate:
    """Return a candidate without scores."""
    return Candidate(sheet_id, 1, 1.0, dense=0.0, lexical=0.0, dense_rank=1, lexical_rank=None)
