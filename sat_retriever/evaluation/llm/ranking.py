"""Put candidates in the order that a language model gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sat_retriever.evaluation.llm.answers import Answer, Answers
from sat_retriever.evaluation.llm.asking import LanguageModel
from sat_retriever.evaluation.llm.prompt import labels_of, prompt_of
from sat_retriever.evaluation.method import Rerank
from sat_retriever.records.candidates import Candidate

Texts = Callable[[Sequence[str]], Mapping[str, str]]


def reranker(texts: Texts, model: LanguageModel, answers: Answers | None = None) -> Rerank:
    """Return a function that puts the sheets a model names first; the others keep their order.

    A short or missing answer is thus filled up in candidate order.

    Args:
        texts: Returns the texts of sheets for the prompt, by id.
        model: The model.
        answers: Kept answers, looked up before the model is asked; None asks every time, as a
            measurement of time needs.
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
