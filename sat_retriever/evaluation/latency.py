"""Measure the time of a method for one question: each stage alone, and both in one call."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.evaluation.methods import Method, no_progress
from sat_retriever.records.grouping import evenly
from sat_retriever.records.progress import Progress

Given = TypeVar("Given")

WARM_UP = 20
REPEATS = 3
_WARM_UP = 5
_LEAST_TIMED = 10
Told = Callable[[str, int, int], None]  # the activity, how many are done, and of how many


@dataclass(frozen=True, slots=True)
class Times:
    """The milliseconds of one question."""

    mean: float
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Latency:
    """The times of a method, all over the same questions."""

    joint: Times  # both stages as one call, measured separately and not added up
    stage1: Times  # tokenise, encode, compare with all tokens, select the best
    stage2: Times | None  # put the candidates in a new order; None without Stage 2
    calls: int  # timed ones of each


def latency(
    method: Method,
    queries: Sequence[str],
    *,
    repeats: int = REPEATS,
    warm_up: int = WARM_UP,
    synchronise: Callable[[], object] = lambda: None,
    progress: Progress = no_progress,
) -> Latency:
    """Time a method, one question after another, over all questions in each repeat.

    `warm_up` calls come before the first timed one; they go through the questions in turn.
    `synchronise` is called before and after each timed call, within its time at the end: it waits
    for the work of a GPU. `progress` receives the number of timed calls done.

    Source: paper, section 4 (latency). Loading models and encoding sheets are excluded. Departs:
    percentiles beside the mean; the joint call is timed as well. On a processor no
    synchronisation is needed: a model's answer is a NumPy array when its call returns.
    """
    if not queries:
        raise EmptyInputError("there are no questions to time")
    if repeats < 1 or warm_up < 0:
        raise InputError(f"repeats must be 1 or more, warm_up 0 or more: {repeats}, {warm_up}")

    def milliseconds(call: Callable[..., Given], *arguments: object) -> tuple[float, Given]:
        """Return the time of a call, and its result."""
        synchronise()
        start = time.perf_counter()
        given = call(*arguments)
        synchronise()
        return (time.perf_counter() - start) * 1000, given

    for number in range(warm_up):
        method.rank(queries[number % len(queries)])
    joint: list[float] = []
    first: list[float] = []
    second: list[float] = []
    for done in range(1, repeats + 1):
        joint += [milliseconds(method.rank, query)[0] for query in queries]
        for query in queries:
            spent, (asked, found) = milliseconds(method.stage1, query)
            first.append(spent)
            if method.rerank is not None:
                second.append(milliseconds(method.rerank, asked, found)[0])
        progress(done * len(queries), repeats * len(queries))
    return Latency(
        times_of(joint), times_of(first), times_of(second) if second else None, len(joint)
    )


def times_of(values: Sequence[float]) -> Times:
    """Return mean and percentiles, interpolated between the sorted values.

    >>> times_of([1.0, 2.0, 6.0])
    Times(mean=3.0, p50=2.0, p95=5.6)
    """
    cuts = statistics.quantiles(values, n=20, method="inclusive") if len(values) > 1 else None
    middle, high = (cuts[9], cuts[18]) if cuts else (values[0], values[0])
    return Times(statistics.fmean(values), middle, high)


@dataclass(frozen=True, slots=True)
class Timing:
    """The number of calls to time.

    `own` has functions, by name of a method, that return the seconds of each call. They serve
    methods that time their own calls, such as those with kept answers.
    """

    questions: int = 100  # most, spread evenly over all; 0 times nothing
    seconds: float = 15.0  # approximate limit for a method; slow ones are asked fewer questions
    repeats: int = 1  # of each question
    own: Mapping[str, Callable[[], Sequence[float]]] = field(default_factory=dict)


def timed(
    name: str, method: Method, each_s: float, texts: Sequence[str], timing: Timing, told: Told
) -> Latency | None:
    """Time a method whose answers take about `each_s` seconds; None if none are to be timed."""
    if name in timing.own:
        return measured(timing.own[name]())
    if timing.questions < 1:
        return None
    # Both stages are called once together and once apart.
    affordable = int(timing.seconds / (2 * timing.repeats * max(each_s, 1e-9)))
    chosen = evenly(texts, min(timing.questions, max(_LEAST_TIMED, affordable)))
    return latency(
        method,
        chosen,
        repeats=timing.repeats,
        warm_up=min(_WARM_UP, len(chosen)),
        progress=lambda done, total: told(f"{name}: timing", done, total),
    )


def measured(seconds: Sequence[float]) -> Latency | None:
    """Return the times of calls that were timed elsewhere, in seconds; None without a call.

    >>> measured([1.0, 3.0]).joint
    Times(mean=2000.0, p50=2000.0, p95=2900.0)
    """
    if not seconds:
        return None
    times = times_of([1000 * each for each in seconds])
    return Latency(times, times, None, len(seconds))
