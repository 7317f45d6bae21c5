"""The figures of the results: drawn from committed results, compared by the numbers they show.

A figure carries a hash of its numbers. `--check` compares that hash and not the drawing, which
differs between versions of matplotlib, so it needs no matplotlib. A figure that shows the right
numbers is left as it is: remove the file to have it drawn anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results import ROOT, read_results
from benchmarks.tables.drawing import (
    draw_comparison,
    draw_convergence,
    draw_growth,
    draw_latency,
    draw_sensitivity,
)
from benchmarks.tables.figure_data import (
    Chart,
    comparison_chart,
    convergence_chart,
    data_hash,
    growth_chart,
    latency_chart,
    sensitivity_chart,
)

FOLDER = ROOT / "docs" / "results" / "figures"
_HASH = re.compile(r"numbers ([0-9a-f]{16})")


@dataclass(frozen=True, slots=True)
class Figure:
    """One picture of the results.

    Attributes:
        title: Heading.
        text: Description in words, also for a reader who cannot see the picture.
        limits: What the figure does not show.
        chart: The numbers, from the committed results.
        draw: Makes the file, given the numbers and their hash.
    """

    title: str
    text: str
    limits: str
    chart: Callable[[], Chart]
    draw: Callable[[Chart, Path, str], None]


FIGURES: Mapping[str, Figure] = {
    "comparison.svg": Figure(
        "Every method",
        "NDCG@5 of every method on IndustryTab-1K, standard test and unseen families. Filled: "
        "measured here, mean ± standard deviation over seeds; hollow: reported.",
        "Which differences a test set tells apart; the main tables have the intervals.",
        lambda: comparison_chart(read_results("trained")),
        draw_comparison,
    ),
    "sensitivity.svg": Figure(
        "Sensitivity",
        "NDCG@5 on the standard test by number of candidates, depth, gate and link channels, "
        "seed 42. Filled: measured here; hollow: reported; dashed: each one's reference.",
        "Spread: it is one seed.",
        lambda: sensitivity_chart(read_results("train_sensitivity")),
        draw_sensitivity,
    ),
    "convergence.svg": Figure(
        "Convergence",
        "NDCG@5 on the validation part by epoch, of Stage 1, of the graph, and of the graph in "
        "each setting (seed 42; black: the reference). Epoch 0 is before training; the untrained "
        "encoder lies below its panel.",
        "Test questions: the validation part chose the epochs.",
        lambda: convergence_chart(read_results("trained"), read_results("train_sensitivity")),
        draw_convergence,
    ),
    "latency.svg": Figure(
        "Quality against latency",
        "Time of one question, both stages in one call, beside NDCG@5 on the standard test. "
        "Filled: measured here, median; hollow: reported, mean on an A40.",
        "A comparison of machines: ours are two processor cores, the paper's is an A40.",
        lambda: latency_chart(read_results("trained"), read_results("cascade")),
        draw_latency,
    ),
    "growth.svg": Figure(
        "From a thousand sheets to ten million",
        "What grows with the number of sheets, in a file and in PostgreSQL. Filled: measured on "
        "two cores, records with template-like names; hollow: extrapolated from 100,000, "
        "300,000 and a million, not measured. A file is filled by adding records, PostgreSQL by "
        "`sat migrate`; the first answer is that of a new process.",
        "Real names, which have rarer words and are faster, and one machine for both lines: they "
        "were measured on two.",
        lambda: growth_chart(
            read_results("million"), read_results("postgres"), read_results("ten_million")
        ),
        draw_growth,
    ),
}


def figures(*, check: bool, folder: Path = FOLDER) -> list[str]:
    """Return the names of the figures that do not show the committed results; none after drawing.

    Args:
        check: Draw nothing.
        folder: Folder of the figures.

    Raises:
        MissingExtraError: If a figure has to be drawn and matplotlib is not installed.
    """
    stale = []
    for name, figure in FIGURES.items():
        chart, path = figure.chart(), folder / name
        fresh = data_hash(chart)
        if shown_hash(path) == fresh:
            continue
        if check:
            stale.append(name)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            figure.draw(chart, path, f"numbers {fresh}")
    return stale


def shown_hash(path: Path) -> str | None:
    """Return the hash of the numbers in a figure; None without a figure or hash."""
    if not path.is_file():
        return None
    found = _HASH.search(path.read_text(encoding="utf-8"))
    return found[1] if found else None
