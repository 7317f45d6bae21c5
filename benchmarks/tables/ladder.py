"""The tables of the ladder: what each rung gains, and what it costs in time and in code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.real.rungs import RUNGS
from benchmarks.real.systems import DEFAULT
from benchmarks.tables.markdown import markdown, number
from benchmarks.tables.part import Files
from benchmarks.tables.real import lead, real_tables

NOT_MEASURED = "not measured"


def ladder_tables(files: Files) -> str:
    """Return a table of all rungs over the sets for choices, and one for each source and part."""
    costs = {"ms": _ms, "ms saved without": _saved}
    return "\n\n".join(filter(None, [_summary(files), real_tables(files, costs)]))


def _summary(files: Files) -> str:
    """A row a rung: its gain on each set, the time that it takes, its lines."""
    sets: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for file in files:
        if file["metrics"]["role"] == "validation":
            sets.setdefault((file["dataset"], file["split"]), {})[file["method"]] = file
    if not sets:
        return ""
    rows = []
    for rung in RUNGS:
        own = [found[rung.name]["metrics"] for found in sets.values() if rung.name in found]
        if rung != DEFAULT and own:
            gains = [
                lead(found, rung.name) if rung.name in found else NOT_MEASURED
                for found in sets.values()
            ]
            rows.append([rung.title, *gains, _range(own), _lines(own)])
    headings = [f"gain on `{name}`, {part}" for name, part in sets]
    return markdown(["left out", *headings, "ms of a question saved", "lines of code"], rows)


def _range(metrics: list[Mapping[str, Any]]) -> str:
    """The least and the most that is saved on a set, in milliseconds."""
    saved = sorted(each["ms_saved"] for each in metrics if "ms_saved" in each)
    if not saved:
        return NOT_MEASURED
    ends = dict.fromkeys((f"{saved[0]:+.2f}", f"{saved[-1]:+.2f}"))
    return " to ".join(ends)


def _lines(metrics: list[Mapping[str, Any]]) -> str:
    """The lines, of different ones the most: the code may change between two measurements."""
    found = [each["lines"] for each in metrics if "lines" in each]
    return number(max(found)) if found else NOT_MEASURED


def _ms(metrics: Mapping[str, Any]) -> str:
    return f"{metrics['ms']:.2f}" if "ms" in metrics else NOT_MEASURED


def _saved(metrics: Mapping[str, Any]) -> str:
    return f"{metrics['ms_saved']:+.2f}" if "ms_saved" in metrics else NOT_MEASURED
