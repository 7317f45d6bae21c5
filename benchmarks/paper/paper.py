"""Read the paper's figures from `paper.json`; this package measured none of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

PAPER = Path(__file__).resolve().parent / "paper.json"
LATENCY = "latency_ms"


@dataclass(frozen=True, slots=True)
class Reported:
    """One reported figure.

    Attributes:
        mean: The figure; a mean if several seeds or splits were run.
        sd: Its standard deviation over them; None if one run was reported.
    """

    mean: float
    sd: float | None = None


@dataclass(frozen=True, slots=True)
class ReportedGap:
    """A reported difference of two methods in NDCG@5.

    Attributes:
        mean: The mean difference.
        low: Lower end of its 95 % interval; None if none was reported.
        high: Upper end.
    """

    mean: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """A reported table whose cells are not metrics.

    Attributes:
        columns: Headings.
        rows: Cells of each row, by its name; None if the paper gives none.
    """

    columns: tuple[str, ...]
    rows: Mapping[str, Sequence[str | float | None]]


@cache
def content() -> Mapping[str, Any]:
    """Return all of `paper.json`."""
    found: dict[str, Any] = json.loads(PAPER.read_text(encoding="utf-8"))
    return found


def source(section: str) -> str:
    """Return the place of a section's figures in the paper, in words."""
    return str(content()[section]["source"])


def full_corpus(dataset: str) -> dict[str, dict[str, Reported]]:
    """Return the main table of one corpus: metric by name, without latency, by method.

    >>> full_corpus("industrytab_1k")["SAT"]["NDCG@5"]
    Reported(mean=0.9222, sd=0.0058)
    """
    return {
        method: {name: value for name, value in row.items() if name != LATENCY}
        for method, row in _main_rows(dataset).items()
    }


def latency_ms(dataset: str) -> dict[str, float]:
    """Return mean milliseconds of a question on an A40, by method.

    >>> latency_ms("industrytab_614")["RAG"]
    8.97
    """
    return {method: row[LATENCY].mean for method, row in _main_rows(dataset).items()}


def _main_rows(dataset: str) -> dict[str, dict[str, Reported]]:
    table = content()["full_corpus"]
    return {
        method: {name: Reported(*cell) for name, cell in zip(table["columns"], cells, strict=True)}
        for method, cells in table["corpora"][dataset].items()
    }


def stage_latencies() -> dict[str, dict[str, float]]:
    """Return milliseconds of Stage 1, of Stage 2 and of both on IndustryTab-1K, by method.

    >>> stage_latencies()["SAT"]["stage2_ms"]
    2.82
    """
    found: dict[str, dict[str, float]] = content()["latency"]["stages"]
    return found


def prompt_tokens() -> dict[str, int]:
    """Return the tokens of a prompt on IndustryTab-1K, by method with a language model."""
    found: dict[str, int] = content()["llm"]["prompt_tokens"]
    return found


def short_answers() -> dict[str, int]:
    """Return the number of answers with fewer sheets than requested, of 179, by method."""
    found: dict[str, int] = content()["llm"]["short_answers"]
    return found


def grouped() -> dict[str, float]:
    """Return NDCG@5 on unseen families, by method, from the authors' later runs."""
    return _figures("grouped")


def candidates() -> dict[str, float]:
    """Return the metrics of Stage 1's candidates of seed 42 on IndustryTab-1K."""
    return _figures("candidates")


def query_types() -> dict[str, float]:
    """Return NDCG@5 of SAT on IndustryTab-1K by query type, from the authors' later runs."""
    return _figures("query_types")


def _figures(section: str) -> dict[str, float]:
    return {name: value for name, value in content()[section].items() if name != "source"}


def sensitivity() -> dict[str, dict[str, float]]:
    """Return metrics of each row of the sensitivity table, by the row's name.

    >>> sensitivity()["k_10"]["Recall@5"]
    0.6867
    """
    table = content()["sensitivity"]
    return {
        name: dict(zip(table["columns"], row, strict=True)) for name, row in table["rows"].items()
    }


def graph_over_base() -> dict[str, ReportedGap]:
    """Return NDCG@5 of the graph minus its base scorer's by split, from the authors' later runs.

    >>> graph_over_base()["grouped"]
    ReportedGap(mean=0.0005, low=None, high=None)
    """
    gaps = _figures("graph_over_base")
    return {split: ReportedGap(**gap) for split, gap in gaps.items()}  # type: ignore[arg-type]


def corpus(dataset: str) -> Mapping[str, Any]:
    """Return the statistics of one corpus; empty if the paper has none.

    >>> corpus("industrytab_1k")["sheets"], corpus("eps")
    (1002, {})
    """
    found: Mapping[str, Any] = content()["datasets"]["corpora"].get(dataset, {})
    return found


def compared() -> Grid:
    """Return the properties of the compared methods."""
    return _grid("compared")


def training() -> Grid:
    """Return the hyper-parameters of each training."""
    return _grid("training")


def _grid(section: str) -> Grid:
    table = content()[section]
    return Grid(tuple(table["columns"]), table["rows"])
