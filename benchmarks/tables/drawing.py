"""The figures' charts, each drawn to an SVG file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.tables.figure_data import Chart, Curve, Panel, Point
from benchmarks.tables.svg import GREY, sheet
from sat_retriever._extras import require

# Okabe and Ito's colours, told apart by colour-blind readers.
OURS, REPORTED = "#0072B2", "#D55E00"
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
_BLACK = "#000000"  # of the reference
_FEW = 8  # points of a line that are marked


def draw_sensitivity(chart: Chart, path: Path, about: str) -> None:
    """Draw a panel for each group of settings; the dashed lines are the references.

    Args:
        chart: Its numbers.
        path: The SVG file.
        about: Goes into the file's description.
    """
    widths = [len(panel.reported) + 1.0 for panel in chart]
    with sheet(
        path, about, 1, len(chart), 2.7, sharey=True, gridspec_kw={"width_ratios": widths}
    ) as (figure, panels):
        for axes, panel in zip(panels[0], chart, strict=True):
            _reference_lines(axes, panel)
            _marks(axes, panel.reported, REPORTED, "D", hollow=True, shift=0.13)
            _marks(axes, panel.ours, OURS, "o", hollow=False, shift=-0.13)
            axes.set_title(panel.title)
            axes.set_xticks(range(len(panel.reported)), [point.label for point in panel.reported])
            axes.tick_params(axis="x", length=0)
            axes.grid(visible=False, axis="x")
            axes.set_xlim(-0.6, len(panel.reported) - 0.4)
        panels[0][0].set_ylabel("NDCG@5")
        _missing_marks(panels[0], chart)
        _legend(figure, chart)


def _reference_lines(axes: Any, panel: Panel) -> None:
    for level, colour in zip(panel.lines, (OURS, REPORTED), strict=True):
        if level is not None:
            axes.axhline(level, color=colour, linestyle=(0, (4, 3)), linewidth=0.9)


def _marks(
    axes: Any, points: Sequence[Point], colour: str, marker: str, *, hollow: bool, shift: float
) -> None:
    found = [(place + shift, point.y) for place, point in enumerate(points) if point.y is not None]
    if found:
        places, values = zip(*found, strict=True)
        face = "white" if hollow else colour
        axes.plot(places, values, marker, color=colour, markerfacecolor=face, markersize=5)


def _missing_marks(panels: Sequence[Any], chart: Chart) -> None:
    """Mark the settings not run by this package, in a band below all other marks."""
    low, high = panels[0].get_ylim()
    if any(point.y is None for panel in chart for point in panel.ours):
        panels[0].set_ylim(low - 0.3 * (high - low), high)
    for axes, panel in zip(panels, chart, strict=True):
        missing = [place for place, point in enumerate(panel.ours) if point.y is None]
        if len(missing) == len(panel.ours):
            axes.text(0.5, 0.06, "not run", transform=axes.transAxes, color=GREY, ha="center")
            continue
        for place in missing:
            axes.text(place, 0.03, "not run", transform=axes.get_xaxis_transform(), rotation=90,
                      color=GREY, fontsize=6.5, ha="center", va="bottom")  # fmt: skip


def _legend(figure: Any, chart: Chart) -> None:
    lines = require("matplotlib.lines", "bench")
    handles = [
        lines.Line2D([], [], color=OURS, marker="o", linestyle="", markersize=5),
        lines.Line2D([], [], color=REPORTED, marker="D", markerfacecolor="white", linestyle="",
                     markersize=5),
    ]  # fmt: skip
    names = ["measured here", "reported"]
    if any(panel.lines != (None, None) for panel in chart):
        handles.append(lines.Line2D([], [], color=GREY, linestyle=(0, (4, 3)), linewidth=0.9))
        names.append("reference")
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))


def draw_convergence(chart: Chart, path: Path, about: str) -> None:
    """Draw a panel for each group of runs and a line for each run.

    Args:
        chart: Its numbers.
        path: The SVG file.
        about: Goes into the file's description.
    """
    ticker = require("matplotlib.ticker", "bench")
    with sheet(path, about, -(-len(chart) // 3), 3, 5.2) as (figure, panels):
        for axes, panel in zip(panels.flat, chart, strict=True):
            axes.set_title(panel.title)
            if not panel.curves:
                _not_run(axes)
                continue
            for label, curve, colour in _coloured(panel):
                epochs, values = zip(*curve, strict=True)
                marker = "." if len(curve) <= _FEW else ""
                axes.plot(epochs, values, marker=marker, color=colour, label=label)
            axes.set_ylim(*_trained_range(panel))
            axes.xaxis.set_major_locator(ticker.MaxNLocator(5, integer=True))
            axes.yaxis.set_major_locator(ticker.MaxNLocator(5))
            axes.yaxis.set_major_formatter("{x:.3f}")
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=4, handlelength=1.2,
                        columnspacing=1.2)  # fmt: skip
        figure.supxlabel("epoch", fontsize=8)
        for row in panels:
            row[0].set_ylabel("validation NDCG@5")


def _trained_range(panel: Panel) -> tuple[float, float]:
    """Return the range of values after the first epoch; untrained values are far lower."""
    values = [value for _, curve in panel.curves for epoch, value in curve if epoch > 0]
    values = values or [value for _, curve in panel.curves for _, value in curve]
    before = [value for _, curve in panel.curves for epoch, value in curve if epoch == 0]
    low, high = min(values), max(values)
    near = [value for value in before if value > low - 2 * max(high - low, 0.01)]
    low, high = min([low, *near]), max([high, *near])
    margin = 0.06 * max(high - low, 0.005)
    return low - margin, high + margin


def _coloured(panel: Panel) -> Iterator[tuple[str, Curve, str]]:
    """Yield the label, line, colour: one colour a label, and a label only with its first line."""
    colours: dict[str, str] = {panel.reference: _BLACK} if panel.reference else {}
    named: set[str] = set()
    for label, curve in panel.curves:
        free = next((each for each in _COLOURS if each not in colours.values()), GREY)
        yield "_" if label in named else label, curve, colours.setdefault(label, free)
        named.add(label)


def _not_run(axes: Any) -> None:
    axes.text(0.5, 0.5, "not run", transform=axes.transAxes, color=GREY, ha="center")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)


def draw_growth(chart: Chart, path: Path, about: str) -> None:
    """Draw a panel for each figure and a line for each store, dashed to where it was drawn on.

    Args:
        chart: Its numbers.
        path: The SVG file.
        about: Goes into the file's description.
    """
    with sheet(path, about, 1, len(chart), 2.6) as (figure, panels):
        for axes, panel in zip(panels[0], chart, strict=True):
            axes.set_title(panel.title)
            if not panel.curves:
                _not_run(axes)
                continue
            foreseen = {point.label: point for point in panel.ours}
            for (store, line), colour, side in zip(
                panel.curves, (OURS, REPORTED), (-1, 1), strict=False
            ):
                axes.plot(*zip(*line, strict=True), "o-", color=colour, markersize=4, label=store)
                if store in foreseen:
                    _draw_on(axes, line[-1], foreseen[store], colour, side)
            _name_sizes(axes, [value for _, line in panel.curves for _, value in line])
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center",
                      ncols=2)  # fmt: skip


def _draw_on(axes: Any, last: tuple[float, float], point: Point, colour: str, side: int) -> None:
    """Draw a dashed line to a hollow mark, with its value above (1) or below (-1) it."""
    axes.plot((last[0], point.x), (last[1], point.y), "--", color=colour, linewidth=0.9)
    axes.plot(point.x, point.y, "o", color=colour, markerfacecolor="white", markersize=4)
    axes.annotate(f"{point.y:.3g}", (point.x, point.y), (4, 9 * side), textcoords="offset points",
                  color=colour, fontsize=6.5, ha="center", va="center")  # fmt: skip


def _name_sizes(axes: Any, values: Sequence[float]) -> None:
    """Give both axes logarithms, named in plain numbers."""
    ticker = require("matplotlib.ticker", "bench")
    axes.set(xscale="log", yscale="log", xlabel="sheets")
    axes.margins(0.12)
    steps = (1, 2, 5) if max(values) < 30 * min(values) else (1,)
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=steps))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.set_xticks([10**3, 10**5, 10**7], ["1,000", "100,000", "10 million"])


def draw_comparison(chart: Chart, path: Path, about: str) -> None:
    """Draw a row for each method, with reported figures beside ours.

    Args:
        chart: Its numbers.
        path: The SVG file.
        about: Goes into the file's description.
    """
    names = [point.label for point in chart[0].ours]
    height = 0.24 * len(names) + 0.9
    with sheet(path, about, 1, len(chart), height, sharey=True, sharex=True) as (figure, panels):
        for axes, panel in zip(panels[0], chart, strict=True):
            for place, (mine, theirs) in enumerate(zip(panel.ours, panel.reported, strict=True)):
                apart = 0.0 if theirs.y is None else 0.17
                _bar(axes, theirs.y, theirs.sd, place + apart, hollow=True)
                _bar(axes, mine.y, mine.sd, place - apart, hollow=False)
                if mine.y is None:
                    _say_not_run(axes, place - apart)
            axes.set_title(f"IndustryTab-1K, {panel.title}")
            axes.set_xlabel("NDCG@5")
        _name_rows(panels[0], names)
        panels[0][0].set_xlim(_floor(chart) - 0.02, 1.02)
        panels[0][0].set_xticks([0.2, 0.4, 0.6, 0.8, 1.0][_floor(chart) > 0.2 :])
        _legend(figure, chart)


def _bar(axes: Any, value: float | None, sd: float | None, place: float, *, hollow: bool) -> None:
    """Draw a mark with its standard deviation; draw nothing without a value."""
    colour = REPORTED if hollow else OURS
    if value is not None:
        axes.errorbar(value, place, xerr=sd, fmt="D" if hollow else "o", color=colour,
                      markerfacecolor="white" if hollow else colour, markersize=4.5,
                      elinewidth=1, capsize=2)  # fmt: skip


def _floor(chart: Chart) -> float:
    """Return the tenth below every mark and its deviation, at least 0."""
    lows = [
        point.y - (point.sd or 0.0)
        for panel in chart
        for point in (*panel.ours, *panel.reported)
        if point.y is not None
    ]
    return max(0.0, math.floor(min(lows) * 10) / 10)


def draw_latency(chart: Chart, path: Path, about: str) -> None:
    """Draw a row for each method: its time on each machine, then its quality.

    Args:
        chart: Its numbers, a panel a machine.
        path: The SVG file.
        about: Goes into the file's description.
    """
    names = [point.label for point in chart[0].ours]
    height = 0.24 * len(names) + 0.9
    with sheet(path, about, 1, len(chart) + 1, height, sharey=True) as (figure, panels):
        for axes, panel in zip(panels[0], chart, strict=False):
            axes.set_xscale("log")
            axes.set_title(f"one question: here {panel.title}, reported A40")
            axes.set_xlabel("ms")
            axes.xaxis.set_major_formatter("{x:g}")
            _pairs(axes, [p.x for p in panel.ours], [p.x for p in panel.reported])
            if any(point.x is None for point in panel.ours):  # room to say so
                low, high = axes.get_xlim()
                axes.set_xlim(low * (low / high) ** 0.12, high)
        quality, panel = panels[0][-1], chart[0]
        quality.set_title("IndustryTab-1K, standard test")
        quality.set_xlabel("NDCG@5")
        quality.set_xlim(_floor(chart) - 0.02, 1.02)
        _pairs(quality, [p.y for p in panel.ours], [p.y for p in panel.reported])
        _name_rows(panels[0], names)
        _legend(figure, chart)


def _pairs(axes: Any, ours: Sequence[float | None], reported: Sequence[float | None]) -> None:
    """Draw two marks per row, the reported one below ours, or in the middle if alone."""
    for place, (mine, theirs) in enumerate(zip(ours, reported, strict=True)):
        apart = 0.0 if theirs is None else 0.17
        _bar(axes, theirs, None, place + apart, hollow=True)
        _bar(axes, mine, None, place - apart, hollow=False)
        if mine is None:
            _say_not_run(axes, place - apart)


def _say_not_run(axes: Any, place: float) -> None:
    axes.text(0.02, place, "not run", transform=axes.get_yaxis_transform(), color=GREY,
              fontsize=6.5, va="center")  # fmt: skip


def _name_rows(panels: Sequence[Any], names: Sequence[str]) -> None:
    """Write the names of the rows, from the top."""
    panels[0].set_yticks(range(len(names)), names)
    panels[0].set_ylim(len(names) - 0.4, -0.6)
    for axes in panels:
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
