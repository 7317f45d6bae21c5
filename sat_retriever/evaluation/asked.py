"""Use language models as rows of a bench: ask them, keep their answers, and write remarks."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sat_retriever.evaluation.llm import (
    Answer,
    Answers,
    LanguageModel,
    LanguageModelSettings,
    summary,
)
from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.methods.llm_only import llm_only
from sat_retriever.evaluation.methods.rag_llm import rag_llm
from sat_retriever.evaluation.named import is_trained
from sat_retriever.index.index import SheetIndex

ANSWERS, NAMES_ANSWERS = "answers.jsonl", "answers-llm-only.jsonl"


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A language model as a method of a bench.

    Attributes:
        name: Name of its row.
        method: The method that asks it.
        model: The language model.
        answers: Its answers, kept as they come.
    """

    name: str
    method: Method
    model: LanguageModel
    answers: Answers

    def seconds(self) -> list[float]:
        """Return the time of each answered question, measured when it was asked, in seconds.

        Raises:
            LanguageModelError: If no question was answered, so there is no row to show.
        """
        summary(self.answers.seen).check_answered()
        return [answer.seconds for answer in self._given()]

    def counts(self) -> dict[str, Any]:
        """Return counts of questions and answers, prompt tokens, and facts about the model."""
        return {
            **asdict(summary(self.answers.seen)),
            "digests": list(filter(None, self._digests())),
            "settings": asdict(self.model.settings),
            "context_length": self.model.known.context_length if self.model.known else None,
        }

    def remarks(self, *, left_out: bool = False) -> list[str]:
        """Return sentences that a reader needs to know about its row, or about the missing row."""
        if left_out:
            kept = len(self._given())
            if not kept:
                return []
            number = "1 answer" if kept == 1 else f"{kept:,} answers"
            return [
                f"{self.name}: {number} so far, kept in {self.answers.path.name}: run it again "
                "with --force, and it goes on there."
            ]
        found = summary(self.answers.seen)
        tokens = "" if found.tokens_mean is None else f", {found.tokens_mean:,.0f} tokens a prompt"
        said = [
            f"{self.name}: {found.questions - found.failed:,} of {found.questions:,} questions "
            f"answered{tokens}. Its latency is that of the model alone, over the answers, when "
            "they were given."
        ]
        if found.short:
            said.append(
                f"{self.name}: {found.short:,} named too few sheets, and were filled up in the "
                "order of the candidates."
            )
        if found.failed:
            said.append(
                f"{self.name}: {found.failed:,} failed, and count as the order of the "
                f"candidates{found.mostly}"
            )
        return [*said, *self._about_model()]

    def _about_model(self) -> list[str]:
        known, wanted = self.model.known, self.model.settings
        said = []
        if known is None:
            said.append(
                f"{self.name}: all answers are kept ones; no server was there to say whether the "
                "model is still the same."
            )
        elif known.context_length is not None and known.context_length < wanted.num_ctx:
            said.append(
                f"{self.name}: asked with a context of {known.context_length:,} tokens, the most "
                f"that it was made for, and not {wanted.num_ctx:,}."
            )
        if len(self._digests()) > 1:
            said.append(f"{self.name}: its answers are of {len(self._digests())} versions of it.")
        return said

    def _given(self) -> list[Answer]:
        return [answer for answer in self.answers.seen if not answer.failed]

    def _digests(self) -> list[str]:
        return sorted({answer.digest for answer in self._given()})


def asked_models(
    index: SheetIndex, settings: LanguageModelSettings, folder: Path, *, names: bool = False
) -> list[AskedModel]:
    """Return a model of the local Ollama that picks from the results of the index's tokens.

    Nothing is asked yet. Without a server or the model, its row is left out.

    Args:
        index: Source of the candidates.
        settings: The model and its options.
        folder: Folder of the kept answers, which are looked up before the model is asked.
        names: True also returns LLM-only, which picks from the names of all sheets.

    Raises:
        InputError: If a file of answers holds something else.
        MissingExtraError: If the package `ollama` is not installed.
    """
    model = LanguageModel(settings)
    first = "Stage 1" if is_trained(index) else "RAG"
    kept = Answers(folder / ANSWERS)
    made = [AskedModel(f"{first}+LLM ({settings.model})", rag_llm(index, model, kept), model, kept)]
    if names:
        kept = Answers(folder / NAMES_ANSWERS)
        method = llm_only(index, model, kept)
        made.insert(0, AskedModel(f"LLM-only ({settings.model})", method, model, kept))
    return made
