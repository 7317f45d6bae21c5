"""Compare methods on labelled questions of one index; give the results as JSON."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics import Difference
from sat_retriever.datasets.metrics.comparison import difference
from sat_retriever.datasets.metrics.rows import Run, metrics_of, rows_of
from sat_retriever.errors import (
    EmptyInputError,
    InputError,
    LanguageModelError,
    OutputError,
    SatError,
)
from sat_retriever.evaluation.latency import Latency, Timing, Told, timed
from sat_retriever.evaluation.methods import Method, no_progress
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.links import Link

FEW = 50  # fewer questions show only large differences between methods
LISTED = 10  # first sheets of a question that a report shows
FORMAT = 2  # of the results


@dataclass(frozen=True, slots=True)
class Scored:
    """One method's answers with their metrics: a row of the main table."""

    name: str
    run: Run  # rankings, by place of the question
    rows: Sequence[Mapping[str, Any]]  # one a question; see `rows_of`
    metrics: Mapping[str, float | None]  # means over the rows
    latency: Latency | None  # of one question; None if not timed
    difference: Difference | None  # NDCG@5 minus that of the row it is compared with
    lifted: Mapping[int, Mapping[str, Link]]


@dataclass(frozen=True, slots=True)
class Bench:
    """Methods on the same questions."""

    queries: Mapping[int, Query]  # by place, with the sheets that count as hard negatives
    sheet_ids: Sequence[str]  # all of the index; rows name sheets by their place in it
    scored: Sequence[Scored]  # one for each method, in the order given
    left_out: Mapping[str, str] = field(default_factory=dict)
    ruled_out: bool = False
    against: str | None = None

    def compared_with(self, row: int) -> int | None:
        """Return the row that a row is compared with, counted from 0; None for none."""
        if self.against is None:
            return row - 1 if row else None
        named = [other for other, one in enumerate(self.scored) if one.name == self.against]
        return named[0] if named and named != [row] else None


def bench(
    index: SheetIndex,
    queries: Sequence[Query],
    methods: Mapping[str, Method],
    timing: Timing | None = None,
    told: Told = no_progress,
    *,
    against: str | None = None,
) -> Bench:
    """Score, time and compare the answers of every method to the same questions.

    If no question has annotated hard negatives, the sheets that the labels rule out count as such,
    since the author of the labels has judged them. A method whose language model fails, or whose
    answers cannot be kept, gives no row; the others keep theirs. All rows are compared with the
    method `against`, or each with the one above.

    Raises:
        EmptyInputError: If there are no questions or no methods.
        InputError: If a relevant sheet is not in the index, or no method has the name `against`.
        LanguageModelError: If no method gives a row, and the first failed because of its model.
        OutputError: If no method gives a row, and the first could not keep its answers.
    """
    if not queries or not methods:
        raise EmptyInputError("there is nothing to compare; give questions and methods")
    if against is not None and against not in methods:
        raise InputError(
            f"there is no row {against!r} to compare with; the rows are: {', '.join(methods)}"
        )
    sheet_ids = index.sheet_ids()
    numbers = {sheet_id: number for number, sheet_id in enumerate(sheet_ids)}
    _check_indexed(queries, numbers, index)
    asked = dict(enumerate(judged(queries)))
    ruled_out = list(asked.values()) != list(queries)
    texts = [query.text for query in queries]
    scored: list[Scored] = []
    failed: dict[str, SatError] = {}
    for name, method in methods.items():
        try:
            one, each_s = _scored(name, method, asked, numbers, told)
            times = timed(name, method, each_s, texts, timing or Timing(), told)
        except (LanguageModelError, OutputError) as error:  # may come late; the other rows are kept
            failed[name] = error
            continue
        scored.append(replace(one, latency=times))
    if not scored:
        raise next(iter(failed.values()))
    left_out = {name: str(error) for name, error in failed.items()}
    return _compared(Bench(asked, sheet_ids, tuple(scored), left_out, ruled_out, against))


def _compared(found: Bench) -> Bench:
    rows = list(found.scored)
    for row, one in enumerate(found.scored):
        other = found.compared_with(row)
        if other is not None:
            ahead = difference({None: one.rows}, {None: found.scored[other].rows})
            rows[row] = replace(one, difference=ahead)
    return replace(found, scored=tuple(rows))


def _check_indexed(queries: Sequence[Query], numbers: Mapping[str, int], index: SheetIndex) -> None:
    for query in queries:
        for sheet_id in query.positives:
            if sheet_id not in numbers:
                raise InputError(
                    f"{sheet_id!r}, relevant for {query.text[:60]!r}, is not in {index.path}; "
                    "index its workbook, or correct the labels"
                )


def judged(queries: Sequence[Query]) -> list[Query]:
    """Return the questions with ruled-out sheets as hard negatives, if none are annotated.

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


def results_of(bench: Bench, about: Mapping[str, Any], *, per_query: bool = True) -> dict[str, Any]:
    """Return the measurement, ready for JSON; every figure of the table follows from it.

    `about` describes it: index, labels, and how it was made. `per_query` includes the questions and
    the rows of each method.
    """
    found: dict[str, Any] = {"format": FORMAT, **about, "questions": len(bench.queries)}
    found["hard_negatives"] = "ruled out by the labels" if bench.ruled_out else "as annotated"
    if per_query:
        found["queries"] = [
            {
                "query": place,
                "text": query.text,
                "type": query.query_type,
                "positives": list(query.positives),
                "hard_negatives": list(query.hard_negatives),
            }
            for place, query in bench.queries.items()
        ]
    found["against"] = bench.against
    found["methods"] = [
        _method(bench, row, per_query=per_query) for row in range(len(bench.scored))
    ]
    found["left_out"] = dict(bench.left_out)
    return found


def _method(bench: Bench, row: int, *, per_query: bool) -> dict[str, Any]:
    scored = bench.scored[row]
    found: dict[str, Any] = {
        "name": scored.name,
        "metrics": dict(scored.metrics),
        "latency_ms": asdict(scored.latency) if scored.latency else None,
        "ndcg_difference": _difference(bench, row),
    }
    if per_query:
        found["per_query"] = [
            {**each, "sheets": [bench.sheet_ids[number] for number in each["sheets"]]}
            for each in scored.rows
        ]
    return found


def _difference(bench: Bench, row: int) -> dict[str, Any] | None:
    """Return mean and interval of a row's difference, and the row that it is `to`."""
    found, other = bench.scored[row].difference, bench.compared_with(row)
    if found is None or other is None:
        return None
    return {"to": bench.scored[other].name, **asdict(found)}
