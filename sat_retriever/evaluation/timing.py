"""Decide how many calls of a bench are timed, and time one of its methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sat_retriever.evaluation.latency import Latency, latency, times_of
from sat_retriever.evaluation.method import Method
from sat_retriever.records.grouping import evenly

_WARM_UP = 5
_LEAST_TIMED = 10

Told = Callable[[str, int, int], None]  # the activity, how many are done, and of how many


@dataclass(frozen=True, slots=True)
class Timing:
    """The number of calls to time.

    Attributes:
        questions: Most questions, spread evenly over all; 0 times nothing.
        seconds: Approximate limit of the timing of one method; slow methods are asked fewer
            questions, but at least ten.
        repeats: Number of times that each question is asked.
        own: By name, functions that return the seconds of each call, for methods that time their
            own calls, such as those with kept answers.
    """

    questions: int = 100
    seconds: float = 15.0
    repeats: int = 1
    own: Mapping[str, Callable[[], Sequence[float]]] = field(default_factory=dict)


def timed(
    name: str, method: Method, each_s: float, texts: Sequence[str], timing: Timing, told: Told
) -> Latency | None:
    """Time a method over some of the questions; None if none are to be timed.

    Args:
        name: Name of the method.
        method: The method.
        each_s: Approximate time of one answer, in seconds.
        texts: All questions.
        timing: Number of questions to ask.
        told: Receives the progress.
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
    """Return the times of calls that were timed elsewhere; None without a call.

    >>> measured([1.0, 3.0]).joint
    Times(mean=2000.0, p50=2000.0, p95=2900.0)
    """
    if not seconds:
        return None
    times = times_of([1000 * each for each in seconds])
    return Latency(times, times, None, len(seconds))
