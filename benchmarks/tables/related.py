"""The tables of questions that need several linked sheets, from their result files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.related.sets import SETS
from benchmarks.related.systems import CANDIDATES, WALK
from benchmarks.tables.markdown import markdown, number, signed
from sat_retriever.datasets.metrics import Difference

Files = Sequence[Mapping[str, Any]]

_COLUMNS = {
    "AllRelevant@5": "all@5",
    "AllRelevant@10": "all@10",
    "NDCG@10": "NDCG@10",
    "F1_of_set": "set F1",
}
_PARTS = {"test": "Test", "validation": "Validation, for choices"}
_REACH = {
    "reached": "reached",
    "complete": "complete",
    "false": "false neighbours",
    "first": "found by score",
    "lost": "lost",
    "lost_reached": "of these reached",
}


def related_tables(files: Files) -> str:
    """Return a table for each part: every row on every set, with its gap to the row it follows."""
    return "\n\n".join(
        f"**{title}**\n\n{_table([file for file in files if file['split'] == part])}"
        for part, title in _PARTS.items()
        if any(file["split"] == part for file in files)
    )


def _table(files: Files) -> str:
    headings = ["set", "questions", "answers", "ranking", *_COLUMNS.values()]
    headings += ["Δ to", *(f"Δ {title}" for title in _COLUMNS.values())]
    rows = []
    for name, chosen in SETS.items():
        here = {file["method"]: file for file in files if file["dataset"] == name}
        for method in _order(here.values()):
            metrics = here[method]["metrics"]
            row = [chosen.title, number(metrics["queries"]), number(metrics["answers"])]
            row += [metrics["title"], *(number(metrics[column]) for column in _COLUMNS)]
            for rival, gaps in list(metrics["against"].items())[:1]:
                row.append(rival.replace("_", " "))
                row += [signed(Difference(**gaps[column])) for column in _COLUMNS]
            rows.append(row)
    return markdown(headings, rows)


def _order(files: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the rows' names: candidates, walk, trained ones; rows without a part come last.

    >>> names = ("walk_without_links", "ours", "walk", "candidates", "ours_base")
    >>> _order([{"method": name} for name in names])
    ['candidates', 'walk', 'ours_base', 'ours', 'walk_without_links']
    """
    first = (CANDIDATES, WALK)

    def key(name: str) -> tuple[bool, int, str, bool]:
        place = first.index(name) if name in first else len(first)
        return "_without_" in name, place, name.removesuffix("_base"), not name.endswith("_base")

    return sorted((file["method"] for file in files), key=key)


def neighbours_tables(files: Files) -> str:
    """Return what links lead to, and what orders would make of it."""
    kinds, orders = [], []
    by_name = {file["dataset"]: file["metrics"] for file in files}
    for name, chosen in SETS.items():
        if name not in by_name:
            continue
        metrics = by_name[name]
        for kind, row in metrics["kinds"].items():
            cells = [number(row[column]) for column in _REACH]
            kinds.append([chosen.title, kind.replace("_", " "), *cells])
        told = [number(metrics[each]) for each in ("anchor_first", "anchor_in_4", "connected")]
        for order, row in metrics["bounds"].items():
            cells = [number(row[column]) for column in _COLUMNS if column in row]
            orders.append([chosen.title, *told, order, *cells])
    columns = [title for name, title in _COLUMNS.items() if name != "F1_of_set"]
    return "\n\n".join(
        (
            markdown(["set", "links", *_REACH.values()], kinds),
            markdown(
                ["set", "anchor first", "among four", "connected", "order", *columns],
                orders,
            ),
        )
    )
