"""Write the main table: a row of cells a method, the best of a column marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sat_retriever.datasets.metrics import Difference
from sat_retriever.datasets.metrics.rows import DEPTH
from sat_retriever.evaluation.bench import FEW, Bench, Scored

NONE = "–"


@dataclass(frozen=True, slots=True)
class Column:
    """One measure of every method."""

    title: str
    means: str  # its meaning, in a sentence
    of: Callable[[Scored], float | None]  # its value for a method; None if it has none
    text: Callable[[float], str]  # formats the value
    lower: bool = False  # less is better


@dataclass(frozen=True, slots=True)
class Cell:
    """One formatted value; `best` if no other method has a better one."""

    text: str
    best: bool = False


def share(value: float) -> str:
    """Format a number in [0, 1] with three digits.

    >>> share(0.9173), share(1.0)
    ('.917', '1.000')
    """
    return f"{value:.3f}".removeprefix("0")


def milliseconds(value: float) -> str:
    """Format a time with one digit after the point, or none from 100 on.

    >>> milliseconds(9.24), milliseconds(2612.7)
    ('9.2', '2,613')
    """
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def signed(found: Difference | None) -> str:
    """Format a difference and its interval.

    >>> signed(Difference(0.031, -0.002, 0.05))
    '+.031 [-.002, +.050]'
    """
    if found is None:
        return NONE
    mean, low, high = (
        f"{value + 0.0:+.3f}".replace("0.", ".", 1)  # "+ 0.0" turns -0.0 into 0.0
        for value in (found.mean, found.low, found.high)
    )
    return f"{mean} [{low}, {high}]"


def _metric(title: str, name: str, means: str, *, lower: bool = False) -> Column:
    return Column(title, means, lambda scored: scored.metrics[name], share, lower)


COLUMNS = (
    _metric("NDCG@5", "NDCG@5", "How much of the best possible order the first five sheets have."),
    _metric("R@5", "Recall@5", "Share of the relevant sheets among the first five."),
    _metric("Hit@5", "Hit@5", "Share of the questions with a relevant sheet among the first five."),
    _metric("MRR@5", "MRR@5", "One over the rank of the first relevant sheet, 0 beyond five."),
    _metric(
        "HN-FPR@1",
        "HN-FPR@1",
        "How often the first sheet is one that the labels rule out; less is better.",
        lower=True,
    ),
    _metric(
        f"R@{DEPTH}",
        f"CandidateRecall@{DEPTH}",
        f"Candidates: share of the relevant sheets among the first {DEPTH}.",
    ),
    Column(
        "p50 ms",
        "Half of the calls took no longer, from the question to the ranked sheets.",
        lambda scored: scored.latency.joint.p50 if scored.latency else None,
        milliseconds,
        lower=True,
    ),
    Column(
        "p95 ms",
        "95 of 100 calls took no longer.",
        lambda scored: scored.latency.joint.p95 if scored.latency else None,
        milliseconds,
        lower=True,
    ),
)


def cells(bench: Bench) -> list[list[Cell]]:
    """Return a row a method, a cell a column; the best are marked unless all values are equal."""
    by_column = [_column(column, bench.scored) for column in COLUMNS]
    return [list(row) for row in zip(*by_column, strict=True)]


def _column(column: Column, scored: Sequence[Scored]) -> list[Cell]:
    values = [column.of(one) for one in scored]
    there = [value for value in values if value is not None]
    best = (min if column.lower else max)(there, default=None)
    apart = len(set(there)) > 1
    return [
        Cell(NONE) if value is None else Cell(column.text(value), apart and value == best)
        for value in values
    ]


def notes(bench: Bench) -> list[str]:
    """Return sentences that a reader of the table needs to know."""
    number = len(bench.queries)
    said = []
    if any(one.difference for one in bench.scored):
        said.append(
            f"Δ is NDCG@5 minus that of {compared_row(bench)}, with its 95 % interval (paired "
            "bootstrap over the questions): where the interval holds 0, these questions do not "
            "tell the two rows apart."
        )
    calls = sorted({one.latency.calls for one in bench.scored if one.latency})
    if calls:
        counted = f"{calls[0]:,}" if len(calls) == 1 else f"{calls[0]:,} to {calls[-1]:,}"
        said.append(f"Latency is of one call, question to ranked sheets, over {counted} calls.")
    if bench.ruled_out:
        said.append(
            "No hard negatives are annotated: HN-FPR@1 counts the sheets that the labels rule out."
        )
    said += left_out(bench.left_out)
    return said if number >= FEW else [*said, few(number)]


def compared_row(bench: Bench) -> str:
    """Return the name of the row that the others are compared with, in words."""
    return "the row above" if bench.against is None else bench.against


def left_out(reasons: Mapping[str, str]) -> list[str]:
    """Return a sentence for each method without a row, from reasons by name.

    >>> left_out({"RAG+LLM": "no server answers"})
    ['Left out: RAG+LLM, as no server answers']
    """
    return [f"Left out: {name}, as {reason}" for name, reason in reasons.items()]


def few(number: int) -> str:
    """Return the warning for a small number of questions."""
    asked = "1 question is" if number == 1 else f"{number:,} questions are"
    return (
        f"Only {asked} labelled: with fewer than {FEW}, one question more or less can change "
        "which row is ahead."
    )
