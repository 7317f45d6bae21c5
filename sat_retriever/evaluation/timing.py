"""How many calls of a bench are timed, and the times of one of its methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sat_retriever.evaluation.latency import Latency, latency, times_of
from sat_retriever.evaluation.method import Method
from sat_retriever.gathering import evenly

_WARM_UP = 5
_LEAST_TIMED = 10

Told = Callable[[str, int, int], None]  # what is being done, how many are done, and of how many


@dataclass(frozen=True, slots=True)
class Timing:
    """How many calls are timed.

    Attributes:
        questions: Most questions, spread evenly over all; 0 times nothing.
        seconds: About how long the timing of one method may take; slow methods are asked
            fewer questions, ten at least.
        repeats: Times that each of them is asked.
        own: By name, methods that time their own calls, as one that keeps its answers has to:
            gives the seconds of each.
    """

    questions: int = 100
    seconds: float = 15.0
    repeats: int = 1
    own: Mapping[str, Callable[[], Sequence[float]]] = field(default_factory=dict)


def timed(
    name: str, method: Method, each_s: float, texts: Sequence[str], timing: Timing, told: Told
) -> Latency | None:
    """Times of a method over some of the questions; None if none are to be timed.

    Args:
        name: What the method is called.
        method: What answers.
        each_s: About how many seconds one answer takes.
        texts: All questions.
        timing: How many of them are asked.
        told: Called as the work goes on.
    """
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
    """Times of calls that were timed elsewhere; None without one.

    >>> measured([1.0, 3.0]).joint
    Times(mean=2000.0, p50=2000.0, p95=2900.0)
    """
    if not seconds:
        return None
    times = times_of([1000 * each for each in seconds])
    return Latency(times, times, None, len(seconds))
