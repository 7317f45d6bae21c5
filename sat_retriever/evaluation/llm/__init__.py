"""Let a language model name the best sheets of a catalogue.

question + catalogue → prompt → asking (→ kept answers) → methods
"""

from sat_retriever.evaluation.llm.answers import Answer, Answers, Summary, summary
from sat_retriever.evaluation.llm.asking import LanguageModel, LanguageModelSettings

__all__ = ["Answer", "Answers", "LanguageModel", "LanguageModelSettings", "Summary", "summary"]
