"""The main table: every method with its quality and time, the paper's figures below ours."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks import paper
from benchmarks.breakdown import DATASET, Files, Spread, gap_of, neighbours, of_split
from benchmarks.figure_data import OF_PAPER
from benchmarks.markdown import markdown, number
from benchmarks.paper import Reported
from benchmarks.train_methods import RECIPES
from benchmarks.train_plan import INDUSTRYTAB_1K, INDUSTRYTAB_614
from sat_retriever.metrics import Difference

_COLUMNS = {
    "NDCG@5": "NDCG@5",
    "Recall@5": "R@5",
    "Hit@5": "Hit@5",
    "MRR@5": "MRR@5",
    "HN-FPR@1": "HN-FPR@1",
}
HEADINGS = ("method", "seeds", *_COLUMNS.values(), "ms", "Δ NDCG@5 to the row above")
PAPERS = (INDUSTRYTAB_1K, INDUSTRYTAB_614)
# Rows that a reader compares though they are not neighbours.
_FURTHER = (
    ("stage1", "bm25"),
    ("graph", "stage1"),
    ("ours", "graph"),
    ("ours", "ours_stage1"),
    ("ours", "bm25"),
    ("ours", "links"),
)


def main_table(trained: Files, timed: Files, split: str, dataset: str = DATASET) -> str:
    """Every method on one split of a corpus: mean ± sd over seeds, and milliseconds.

    Args:
        trained: Result files of `benchmarks.trained`.
        timed: Result files of `benchmarks.cascade`.
        split: "standard", "grouped" or "legacy".
        dataset: Name of the corpus; the paper's figures are beside its own.
    """
    return markdown(HEADINGS, main_rows(trained, timed, split, dataset))


def main_rows(trained: Files, timed: Files, split: str, dataset: str) -> list[list[str]]:
    """The cells of the main table."""
    times = {file["method"]: file["metrics"]["joint_mean_ms"] for file in timed}
    ahead = {gap.method: signed(gap.by) for gap in neighbours(trained, split, dataset)}
    rows = []
    for name, files in of_split(trained, split, dataset).items():
        cells = [_spread(files, column) for column in _COLUMNS] if files else ["not run"]
        row = [RECIPES[name].title, str(len(files)) if files else "", *cells]
        if files:
            row += [number(times[name]) if name in times else "", ahead.get(name, "")]
        rows.append(row)
        if name in OF_PAPER:
            rows += _reported(OF_PAPER[name], split, dataset)
    return rows


def latency_table(timed: Files) -> str:
    """Milliseconds of each method on IndustryTab-1K, with the paper's below.

    Args:
        timed: Result files of `benchmarks.cascade`.
    """
    found = {file["method"]: file["metrics"] for file in timed}
    parts, kinds = ("joint", "stage1", "stage2"), ("p50", "p95", "mean")
    columns = [f"{part}_{kind}" for part in parts for kind in kinds]
    rows = []
    for name, recipe in RECIPES.items():
        times = found.get(name)
        if times is None:
            rows.append([recipe.title, "not run"])
        else:
            cells = [times.get(f"{column}_ms") for column in columns]
            shown = ["" if cell is None else f"{cell:.2f}" for cell in cells]
            rows.append([recipe.title, str(times["calls"]), *shown])
        if name in OF_PAPER:
            rows.append(_reported_times(OF_PAPER[name]))
    headings = [column.replace("joint", "both").replace("stage", "Stage ") for column in columns]
    return markdown(["method", "calls", *(each.replace("_", ", ") for each in headings)], rows)


def _reported_times(method: str) -> list[str]:
    """The paper's mean times of a method: both stages, and each where it says so."""
    parts = {"joint_ms": paper.latency_ms(DATASET)[method]}
    parts |= paper.stage_latencies().get(method, {})
    times = (parts.get(f"{part}_ms") for part in ("joint", "stage1", "stage2"))
    shown = ["" if value is None else f"{value:,.2f}" for value in times]
    return ["*paper, reported*", "", "", "", shown[0], "", "", shown[1], "", "", shown[2]]


def further(trained: Files, split: str) -> str:
    """Differences of rows that are no neighbours, as a table."""
    runs = of_split(trained, split)
    rows = [
        [RECIPES[first].title, RECIPES[second].title, signed(found)]
        for first, second in _FURTHER
        if (found := gap_of(runs[first], runs[second]))
    ]
    return markdown(["method", "against", "Δ NDCG@5 [95 % interval]"], rows)


def signed(found: Difference) -> str:
    """A difference with its interval.

    >>> signed(Difference(0.031, -0.002, 0.05))
    '+0.031 [-0.002, +0.050]'
    """
    return f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def _spread(files: Files, column: str) -> str:
    values = [file["metrics"][column] for file in files]
    return number(None) if None in values else str(Spread.of(values))


def _reported(method: str, split: str, dataset: str) -> list[list[str]]:
    """The paper's row of a method; on the grouped split, that of the authors' later runs."""
    if dataset not in PAPERS or split == "legacy":
        return []
    if split == "grouped":
        value = paper.grouped().get(method)
        return [] if value is None else [["*authors, reported*", "3", number(value)]]
    found: Mapping[str, Reported] = paper.full_corpus(dataset).get(method, {})
    if not found:
        return []
    cells = [str(Spread(found[column].mean, found[column].sd)) for column in _COLUMNS]
    seeds = "1" if found["NDCG@5"].sd is None else "3"
    return [["*paper, reported*", seeds, *cells, number(float(paper.latency_ms(dataset)[method]))]]
