"""Summarize the cost of a language model's answers, and how many were short or failed."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sat_retriever.errors import LanguageModelError
from sat_retriever.evaluation.llm.answers import Answer


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over the questions of a run.

    Attributes:
        questions: All of them.
        short: Questions answered with fewer sheets than requested, and filled up.
        failed: Questions without an answer; their candidates keep their order.
        retries: Tries beyond the first.
        tokens_min: Fewest tokens of a prompt; None if no server count is known.
        tokens_mean: Mean tokens of a prompt.
        tokens_max: Most tokens of a prompt.
        seconds: Time of all tries of all questions, measured when they were asked.
        problems: Reasons of failures, each with its number of questions; most frequent first.
    """

    questions: int
    short: int
    failed: int
    retries: int
    tokens_min: int | None
    tokens_mean: float | None
    tokens_max: int | None
    seconds: float
    problems: Mapping[str, int]

    @property
    def mostly(self) -> str:
        """The most frequent problem, as the end of a sentence."""
        problem = next(iter(self.problems), "")
        return f"; most often: {problem}" if problem else ""

    def check_answered(self) -> None:
        """Refuse a run in which no question was answered.

        Raises:
            LanguageModelError: If no question was answered, so there is no row to show.
        """
        if self.failed == self.questions:
            raise LanguageModelError(
                f"not one of {self.questions:,} questions was answered{self.mostly}"
            )


def summary(answers: Sequence[Answer]) -> Summary:
    """Return counts over some answers.

    >>> failed = Answer((), None, 3, short=False, failed=True, seconds=1.0, problem="too slow")
    >>> summary([Answer(("3",), 90, 2, short=True, failed=False, seconds=0.5), failed])
    ... # doctest: +NORMALIZE_WHITESPACE
    Summary(questions=2, short=1, failed=1, retries=3,
            tokens_min=90, tokens_mean=90.0, tokens_max=90, seconds=1.5,
            problems={'too slow': 1})
    """
    tokens = [each.prompt_tokens for each in answers if each.prompt_tokens is not None]
    return Summary(
        questions=len(answers),
        short=sum(each.short for each in answers),
        failed=sum(each.failed for each in answers),
        retries=sum(each.tries - 1 for each in answers),
        tokens_min=min(tokens, default=None),
        tokens_mean=statistics.fmean(tokens) if tokens else None,
        tokens_max=max(tokens, default=None),
        seconds=round(sum(each.seconds for each in answers), 3),
        problems=dict(Counter(each.problem for each in answers if each.failed).most_common()),
    )
