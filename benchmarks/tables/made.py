"""The README's table of made corpora beside the published ones, from `benchmarks.made.stats`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.tables.markdown import markdown, number

File = Mapping[str, Any]

_COLUMNS = {
    ("made", "industrytab_1k"): "`paper-1k`",
    ("published", "industrytab_1k"): "IndustryTab-1K",
    ("made", "industrytab_614"): "`paper-614`",
    ("published", "industrytab_614"): "IndustryTab-614",
}
NOTE = (
    "Left made here, right published, counted by the same code; a dash where there is none "
    "(the published 614 has no queries). Published links come from names of sheets, and no rule "
    "explains `join_key`; ours are those of real formulas, lookups, key columns and periods, so "
    "there are fewer. Published sheets of indices, ratings and sentiment are open data with up "
    "to 150,000 rows. A surface pattern is a question without the words of sheets and times."
)


def stats_table(files: Sequence[File]) -> str:
    """Return every figure of each corpus, those of one kind below each other.

    Args:
        files: Result files.
    """
    found = {(file["method"], file["dataset"]): file["metrics"] for file in files}
    shown = [key for key in _COLUMNS if key in found]
    # In the order of the made corpus, which has every figure; what only others have comes last.
    figures = dict.fromkeys(figure for key in shown for figure in found[key])
    ordered = sorted(figures, key=lambda figure: _place(figure, list(figures)))
    rows = [
        [figure.replace("category: ", ""), *(_cell(found[key], figure) for key in shown)]
        for figure in ordered
    ]
    return f"{NOTE}\n\n" + markdown(["", *(_COLUMNS[key] for key in shown)], rows)


def _place(figure: str, figures: Sequence[str]) -> tuple[int, int]:
    """Return the place of the first figure of its kind, then its own.

    >>> sorted(["a: x", "b", "a: y"], key=lambda f: _place(f, ["a: x", "b", "a: y"]))
    ['a: x', 'a: y', 'b']
    """
    kind = figure.partition(": ")[0]
    first = next(place for place, each in enumerate(figures) if each.partition(": ")[0] == kind)
    return first, figures.index(figure)


def _cell(metrics: Mapping[str, Any], figure: str) -> str:
    value = metrics.get(figure)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return number(value)
