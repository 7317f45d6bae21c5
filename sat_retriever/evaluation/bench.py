"""Methods side by side on labelled questions of one index: what the main table is made of."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.evaluation.comparison import difference
from sat_retriever.evaluation.latency import Latency, Times, latency
from sat_retriever.evaluation.method import Method
from sat_retriever.evaluation.rows import metrics_of, rows_of
from sat_retriever.evaluation.run import Run
from sat_retriever.index import SheetIndex
from sat_retriever.labels import Query
from sat_retriever.metrics import Difference
from sat_retriever.types import Candidate, Link

FEW = 50  # fewer questions than these tell methods apart by large differences only
LISTED = 10  # first sheets of a question that a report shows
_WARM_UP = 5
_LEAST_TIMED = 10

Told = Callable[[str, int, int], None]  # what is being done, how many are done, and of how many


def tell_nobody(what: str, done: int, total: int) -> None:
    """Tell nobody."""


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


@dataclass(frozen=True, slots=True)
class Scored:
    """One method's answers and what they are worth: a row of the main table.

    Attributes:
        name: What the row is called.
        run: Its rankings, by place of the question.
        rows: One row a question; see `rows_of`.
        metrics: Means over the rows; see `metrics_of`.
        latency: Times of one question; None if it was not timed.
        difference: NDCG@5 minus that of the row above; None in the first row.
        lifted: By place of the question, the link that lifted a sheet most, for those of
            its first ten that one did.
    """

    name: str
    run: Run
    rows: Sequence[Mapping[str, Any]]
    metrics: Mapping[str, float | None]
    latency: Latency | None
    difference: Difference | None
    lifted: Mapping[int, Mapping[str, Link]]


@dataclass(frozen=True, slots=True)
class Bench:
    """Methods on the same questions.

    Attributes:
        queries: The questions by place, with what counts as a hard negative.
        sheet_ids: Every sheet of the index, in order; rows name sheets by their place in it.
        scored: One for each method, in the order given.
    """

    queries: Mapping[int, Query]
    sheet_ids: Sequence[str]
    scored: Sequence[Scored]


def bench(
    index: SheetIndex,
    queries: Sequence[Query],
    methods: Mapping[str, Method],
    timing: Timing | None = None,
    told: Told = tell_nobody,
) -> Bench:
    """Every method's answers to the same questions, scored, timed and compared.

    Where no question at all has annotated hard negatives, the sheets that the labels rule out
    count as such: whoever wrote the labels has looked at them.

    Args:
        index: Where the methods look.
        queries: Labelled questions; every sheet they name is in the index.
        methods: By name, in the order of the table: a row is compared with the one above.
        timing: How many calls are timed; None for the usual.
        told: Called as the work goes on.

    Raises:
        EmptyInputError: If there are no questions or no methods.
        InputError: If a relevant sheet is not in the index.
    """
    if not queries or not methods:
        raise EmptyInputError("there is nothing to compare; give questions and methods")
    sheet_ids = index.sheet_ids()
    numbers = {sheet_id: number for number, sheet_id in enumerate(sheet_ids)}
    for query in queries:
        for sheet_id in query.positives:
            if sheet_id not in numbers:
                raise InputError(
                    f"{sheet_id!r}, relevant for {query.text[:60]!r}, is not in {index.path}; "
                    "index its workbook, or correct the labels"
                )
    asked = dict(enumerate(judged(queries)))
    scored: list[Scored] = []
    for name, method in methods.items():
        one = _scored(name, method, asked, numbers, told)
        rest = _times(name, method, one[1], asked, timing or Timing(), told)
        ahead = difference({None: one[0].rows}, {None: scored[-1].rows}) if scored else None
        scored.append(replace(one[0], latency=rest, difference=ahead))
    return Bench(asked, sheet_ids, tuple(scored))


def judged(queries: Sequence[Query]) -> list[Query]:
    """The questions with what was ruled out as hard negatives, if none has annotated ones.

    >>> found = judged([Query("a", ("x",), negatives=("y",))])
    >>> found[0].hard_negatives
    ('y',)
    """
    if any(query.hard_negatives for query in queries):
        return list(queries)
    return [replace(query, hard_negatives=query.negatives) for query in queries]


def _scored(
    name: str,
    method: Method,
    queries: Mapping[int, Query],
    numbers: Mapping[str, int],
    told: Told,
) -> tuple[Scored, float]:
    """A method's answers without times, and about how many seconds one took."""
    places = iter(queries)
    lifted: dict[int, dict[str, Link]] = {}

    def rank(text: str) -> Sequence[Candidate]:
        found = method.rank(text)
        links = {sheet.sheet_id: sheet.via for sheet in found[:LISTED] if sheet.via}
        place = next(places)
        if links:
            lifted[place] = links
        return found

    start = time.perf_counter()
    run = Method(rank).run(queries, lambda done, total: told(name, done, total))
    each = (time.perf_counter() - start) / len(queries)
    rows = rows_of(queries, run, numbers)
    return Scored(name, run, rows, metrics_of(rows), None, None, lifted), each


def _times(
    name: str,
    method: Method,
    each_s: float,
    queries: Mapping[int, Query],
    timing: Timing,
    told: Told,
) -> Latency | None:
    """Times of a method over some of the questions; None if none are to be timed."""
    if name in timing.own:
        return measured(timing.own[name]())
    if timing.questions < 1:
        return None
    # Both stages are called once together and once apart.
    affordable = int(timing.seconds / (2 * timing.repeats * max(each_s, 1e-9)))
    most = min(timing.questions, max(_LEAST_TIMED, affordable), len(queries))
    texts = [query.text for query in queries.values()]
    chosen = [texts[number * len(texts) // most] for number in range(most)]
    if len(set(chosen)) == 1:  # an index keeps the last question; a blank makes it another one
        chosen = [chosen[0], f"{chosen[0]} "]
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
    values = [1000 * each for each in seconds]
    cuts = statistics.quantiles(values * (1 if len(values) > 1 else 2), n=20, method="inclusive")
    times = Times(statistics.fmean(values), cuts[9], cuts[18])
    return Latency(times, times, None, len(values))
