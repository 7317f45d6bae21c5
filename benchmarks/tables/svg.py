"""A figure as a small SVG file: equal drawings give equal bytes, whatever the hour or process."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sat_retriever._extras import require

GREY = "#6b6b6b"  # of what is not data
_PALE = "#e6e6e6"
_STYLE: dict[str, Any] = {
    "svg.hashsalt": "sat-retriever",  # else ids in the file are random
    "svg.fonttype": "none",  # half the size; every fallback is narrower than DejaVu
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _PALE,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "figure.facecolor": "white",  # readable on a dark page
    "savefig.facecolor": "white",
}
_WIDTH = 8.2  # inches
_FAMILY = re.compile(r"(font-family: [^;\"]+); ")
_NO_TURN = re.compile(r' transform="rotate\(-0 [^"]*\)"')
_LINE = re.compile(r' d="[^"]*"')
_FINE = re.compile(r"(\.\d\d)\d+")
_COMMENT = re.compile(r" *<!--.*?-->\n")


@contextmanager
def sheet(
    path: Path, about: str, rows: int, columns: int, height: float, **more: Any
) -> Iterator[Any]:
    """Yield a figure with its panels and save it without a date at the end."""
    matplotlib = require("matplotlib", "bench")
    figure_module = require("matplotlib.figure", "bench")
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **_STYLE, "backend": "svg"}):
        figure = figure_module.Figure(figsize=(_WIDTH, height), layout="constrained")
        yield figure, figure.subplots(rows, columns, squeeze=False, **more)
        metadata = {"Date": None, "Creator": None, "Description": about}
        figure.savefig(path, format="svg", metadata=metadata)
    path.write_text(slimmed(path.read_text(encoding="utf-8")), encoding="utf-8")


def slimmed(svg: str) -> str:
    """Return the same picture with what matplotlib repeats for each text said once, or not at all.

    >>> slimmed('<svg a><text style="font-family: A; x" transform="rotate(-0 1 2)">t</text>')
    '<svg style="font-family: A" a><text style="x">t</text>'
    """
    svg = _LINE.sub(lambda line: _FINE.sub(r"\1", line[0]), svg)
    found = _FAMILY.search(svg)
    if found is None:
        return svg
    svg = _COMMENT.sub("", _NO_TURN.sub("", svg.replace(found[0], "")))
    return svg.replace("<svg ", f'<svg style="{found[1]}" ', 1)
