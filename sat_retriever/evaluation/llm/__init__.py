"""Let a language model name the best sheets of a catalogue.

question + catalogue → prompt → asking (→ kept answers) → ranking → summary
"""

from sat_retriever.evaluation.llm.answers import Answer, Answers
from sat_retriever.evaluation.llm.asking import LanguageModel, LanguageModelSettings
from sat_retriever.evaluation.llm.ranking import id_order, in_order, reranker
from sat_retriever.evaluation.llm.summary import Summary, summary

__all__ = [
    "Answer",
    "Answers",
    "LanguageModel",
    "LanguageModelSettings",
    "Summary",
    "id_order",
    "in_order",
    "reranker",
    "summary",
]
