"""Rank by a language model: LLM-only and RAG+LLM as methods, and as rows of a bench."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sat_retriever.datasets.metrics.rows import DEPTH
from sat_retriever.evaluation.llm.answers import Answer, Answers, summary
from sat_retriever.evaluation.llm.asking import LanguageModel, LanguageModelSettings
from sat_retriever.evaluation.llm.prompt import labels_of, prompt_of
from sat_retriever.evaluation.methods import Method, Rerank, is_trained, rag
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.candidates import Candidate
from sat_retriever.text.serialize import Serialization, serialize

Texts = Callable[[Sequence[str]], Mapping[str, str]]
_FORM = Serialization()  # the paper's text of a sheet, whatever text the index uses
ANSWERS, NAMES_ANSWERS = "answers.jsonl", "answers-llm-only.jsonl"


def reranker(texts: Texts, model: LanguageModel, answers: Answers | None = None) -> Rerank:
    """Return a function that puts the sheets a model names first; the others keep their order.

    A short or missing answer is thus filled up in candidate order. `texts` returns the texts of
    sheets for the prompt, by id. Kept answers are looked up before the model is asked; None asks
    every time, as a measurement of time needs.
    """

    def rerank(query: str, found: Sequence[Candidate]) -> Sequence[Candidate]:
        if not found:
            return []
        ids = [candidate.sheet_id for candidate in found]
        said = texts(ids)
        labels = labels_of(ids)
        prompt = prompt_of(query, labels, [said[each] for each in ids])
        answer = _answered(prompt, labels, model, answers)
        places = {label: place for place, label in enumerate(labels)}
        first = [places[label] for label in answer.ids]
        named = set(first)
        rest = [place for place in range(len(found)) if place not in named]
        return in_order([found[place] for place in (*first, *rest)])

    return rerank


def in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with ranks from 1 and scores 1/rank: only their order is known."""
    return [
        replace(candidate, rank=rank, score=1 / rank)
        for rank, candidate in enumerate(candidates, start=1)
    ]


def id_order(sheet_id: str) -> tuple[bool, int, str]:
    """Return a sort key of ids: numbers by value first, then the others as text.

    >>> sorted(["b#a", "10", "9"], key=id_order)
    ['9', '10', 'b#a']
    """
    number = sheet_id.isascii() and sheet_id.isdigit()
    return not number, int(sheet_id) if number else 0, sheet_id


def _answered(
    prompt: str, labels: Sequence[str], model: LanguageModel, answers: Answers | None
) -> Answer:
    if answers is None:
        return model.choose(prompt, labels)
    key = model.key(prompt)
    answer = answers.find(key, model.may_have_given)
    if answer is None:
        answer = model.choose(prompt, labels)
        answers.keep(key, answer)
    return answer


def llm_only(index: SheetIndex, model: LanguageModel, answers: Answers | None = None) -> Method:
    """Rank the five sheets first that a model picks from the names of all sheets.

    The others follow in the order of their ids. The index is read once, when the method is made;
    its tokens are not used.

    Source: paper, section 4 (compared methods).
    """
    ids = sorted(index.sheet_ids(), key=id_order)
    names = {sheet_id: record.name for sheet_id, record in index.records(ids).items()}
    unscored = Candidate("", 1, 1.0, dense=0.0, lexical=0.0, dense_rank=1, lexical_rank=None)
    catalogue = in_order([replace(unscored, sheet_id=sheet_id) for sheet_id in ids])

    def find(query: str) -> Sequence[Candidate]:
        return catalogue

    return Method(find, reranker(lambda _: names, model, answers))


def rag_llm(
    index: SheetIndex,
    model: LanguageModel,
    answers: Answers | None = None,
    first: Method | None = None,
) -> Method:
    """Rank five first that a model picks from RAG's fifty, then the others (paper, section 4).

    `first` is another ranking whose fifty it picks from.
    """
    before = first or rag(index)

    def texts(ids: Sequence[str]) -> Mapping[str, str]:
        records = index.records(ids)
        return {sheet_id: serialize(record, _FORM) for sheet_id, record in records.items()}

    return Method(lambda query: before.rank(query)[:DEPTH], reranker(texts, model, answers))


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A language model as a method of a bench: `name` of its row, and its kept answers."""

    name: str
    method: Method
    model: LanguageModel
    answers: Answers

    def seconds(self) -> list[float]:
        """Return the time of each answered question; a LanguageModelError if there is none."""
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
                f"that it or its server has, and not {wanted.num_ctx:,}."
            )
        if len(self._digests()) > 1:
            said.append(f"{self.name}: its answers are of {len(self._digests())} versions of it.")
        return said

    def _given(self) -> list[Answer]:
        return [answer for answer in self.answers.seen if not answer.failed]

    def _digests(self) -> list[str]:
        return sorted({answer.digest for answer in self._given()})


def asked_models(
    index: SheetIndex,
    settings: LanguageModelSettings,
    folder: Path,
    *,
    url: str | None = None,
    names: bool = False,
) -> list[AskedModel]:
    """Return a model on a server that picks from the results of the index's tokens.

    Nothing is asked yet. Without a server or the model, its row is left out. Answers kept in the
    folder are looked up first. `names` also returns LLM-only.

    Raises:
        InputError: If a file of answers holds something else.
        MissingExtraError: If the package `httpx` is not installed.
    """
    model = LanguageModel(settings, url)
    first = "Stage 1" if is_trained(index) else "RAG"
    kept = Answers(folder / ANSWERS)
    made = [AskedModel(f"{first}+LLM ({settings.model})", rag_llm(index, model, kept), model, kept)]
    if names:
        kept = Answers(folder / NAMES_ANSWERS)
        method = llm_only(index, model, kept)
        made.insert(0, AskedModel(f"LLM-only ({settings.model})", method, model, kept))
    return made
