"""The README's tables of what the corpora hold, from `benchmarks.paper.statistics`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.corpora import PUBLISHED, title_of, used
from benchmarks.paper import paper
from benchmarks.tables.markdown import markdown, number

File = Mapping[str, Any]
Files = Sequence[File]

_COLUMNS = {
    "sheets": "sheets",
    "queries": "queries",
    "positives_mean": "positives a query",
    "negatives_mean": "negatives",
    "hard_negatives_mean": "hard negatives",
    "hard_negative_queries": "queries with hard negatives",
    "dependency_heavy": "dependency-heavy",
    "edges": "linked pairs",
    "connected_sheets": "linked sheets",
}
_KINDS = {
    "query_types": "queries",
    "dependency_types": "dependencies",
    "categories": "sheets",
    "links": "links",
    "primary_links": "links, one type a pair",
}
NOTE = (
    "The paper counts the categories of the 614 in pairs and puts Synthetic Data under what "
    "it is of, so those stand beside none of ours. Links are counted once a pair and type; "
    "the paper gives each pair one type. Its full query file of the 614 is not at hand."
)


def statistics_tables(files: Files) -> str:
    """Return the tables of each corpus, its kinds and its splits, with the paper's figures."""
    return "\n\n".join([corpora_table(files), NOTE, kinds_table(files), splits_table(files)])


def corpora_table(files: Files) -> str:
    """Return one row a corpus, below it that of the paper where it has one."""
    found = {file["dataset"]: file["metrics"] for file in files}
    rows = []
    for name in dict.fromkeys((*used("counted"), *found)):
        title = title_of(name)
        if name not in found:
            rows.append([title, "not counted"])
            continue
        cells = [_cell(found[name], column) for column in _COLUMNS]
        legacy = " (legacy file)" if found[name].get("legacy_queries") else ""
        rows.append([title, cells[0], cells[1] + legacy, *cells[2:]])
        if paper.corpus(name):
            reported = [_cell(paper.corpus(name), column) for column in _COLUMNS]
            rows.append([f"*paper: {title}*", *reported])
    return markdown(["corpus", *_COLUMNS.values()], rows)


def _cell(figures: Mapping[str, Any], column: str) -> str:
    value = figures.get(column)
    return f"{value:.2f}" if isinstance(value, float) else number(value)


def kinds_table(files: Files) -> str:
    """Return queries, dependencies, sheets and links of IndustryTab by kind."""
    found = {file["dataset"]: file["metrics"] for file in files}
    shown = [name for name in PUBLISHED if name in found]
    headings = ["", "kind"]
    for name in shown:
        headings += [title_of(name), "paper"]
    rows = []
    for group, title in _KINDS.items():
        columns = [
            side for name in shown for side in (found[name].get(group, {}), _reported(name, group))
        ]
        for kind in dict.fromkeys(kind for column in columns for kind in column):
            rows.append([title, kind.replace("_", " "), *(number(c.get(kind)) for c in columns)])
    return markdown(headings, rows)


def _reported(dataset: str, group: str) -> dict[str, int]:
    """Return the paper's counts, with categories named as the sheets are."""
    counts: dict[str, int] = paper.corpus(dataset).get(group, {})
    return {kind.replace("/", " "): count for kind, count in counts.items()}


def splits_table(files: Files) -> str:
    """Return the queries of each part of the reported splits."""
    columns = ["train", "validation", "test", "excluded", "test_with_hard_negatives"]
    headings = ["split", *columns[:4], "test queries with hard negatives"]
    found = {file["dataset"]: file["metrics"].get("splits", {}) for file in files}
    rows = []
    for name in PUBLISHED:
        for split, sizes in found.get(name, {}).items():
            title = f"{title_of(name)}, {split}"
            rows.append([title, *(number(sizes[column]) for column in columns)])
        if not found.get(name):
            rows.append([title_of(name), "not counted: its queries are not at hand"])
        sizes = paper.corpus(name)["splits"]["standard"]
        hard = dict.fromkeys(paper.corpus(name)["hard_negative_test_queries"])
        row = [number(sizes.get(column)) for column in columns[:4]]
        rows.append([f"*paper: {title_of(name)}*", *row, " to ".join(map(number, hard))])
    return markdown(headings, rows)
