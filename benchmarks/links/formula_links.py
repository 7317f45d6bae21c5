"""Compare formula edges with an independent count, and time their extraction.

    python -m benchmarks run formula_links --data ../shared/data
    python -m benchmarks run formula_links --only speed --rows 5000 --dry

Edges are (sheet with formulas, sheet of the same workbook that they read). The edges of the reader
are compared with `benchmarks/raw_formulas.py`, which shares no code with the package. Sheets
without a record (empty ones, chart sheets) can have no link; edges to them are counted separately.
Each speed is of a fresh process, the median of three rounds, with processor time for busy machines.
"extract" makes references and links from formulas in memory; "worker" reads a file from disk like a
reading process, with and without the data that links need (column profiles included).
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.links.formula_speed import generate, largest, speed
from benchmarks.links.raw_formulas import RawCount, count_edges
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.links.formula.operands import Taken, Target
from sat_retriever.links.formula.relations import workbook_links
from sat_retriever.links.formula.scope import Scope
from sat_retriever.workbook.read import Workbook, read_workbook

Edge = tuple[str, str]


@dataclass(slots=True)
class Totals:
    """Counts over all workbooks; edges by which of the two sides found them."""

    counts: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def compare(self, kind: str, ours: set[Any], theirs: set[Any], file: str) -> None:
        """Count elements that both found, and that only one found."""
        self.counts[f"{kind}_both"] += len(ours & theirs)
        self.counts[f"{kind}_ours_only"] += len(ours - theirs)
        self.counts[f"{kind}_raw_only"] += len(theirs - ours)
        self.differences += [f"{file}: {kind}, ours only: {each}" for each in sorted(ours - theirs)]
        self.differences += [f"{file}: {kind}, raw only: {each}" for each in sorted(theirs - ours)]

    def ratio(self, kind: str, other: str) -> float | None:
        """Return the share that both found: precision or recall, depending on `other`."""
        both = self.counts[f"{kind}_both"]
        every = both + self.counts[f"{kind}_{other}"]
        return round(both / every, 6) if every else None


def compare_file(path: Path, totals: Totals) -> None:
    """Count one workbook both ways."""
    raw = count_edges(path)
    made = read_workbook(path, formulas=False)
    names = {record.sheet_id: record.sheet for record in made.records}
    found = workbook_links(made.records, made.references, made.structure)
    ours = {
        (names[link.source], names[link.target])
        for link in found.links
        if link.type == "formula_reference"
    }
    known = set(names.values())
    theirs = {edge for edge in raw.edges if known.issuperset(edge)}
    totals.compare("edges", ours, theirs, path.name)
    for kind, some in (("array_edges", raw.array_edges), ("shared_edges", raw.shared_edges)):
        of_kind = {edge for edge in some if edge in theirs}
        totals.compare(kind, ours & of_kind, of_kind, path.name)
    external = {
        (names[each.source], each.file, each.sheet) for each in found.external if not each.name
    }
    totals.compare("external", external, set(raw.external), path.name)
    totals.counts["edges_to_sheets_without_record"] += len(raw.edges) - len(theirs)
    _count(raw, made, totals)


def _count(raw: RawCount, made: Workbook, totals: Totals) -> None:
    """Count cells, and the edges on which both sides count equally many cells."""
    totals.counts["files"] += 1
    totals.counts["sheets"] += len(made.records)
    totals.counts["formula_cells"] += raw.cells
    totals.counts["array_formula_cells"] += raw.array_cells
    totals.counts["shared_formula_cells"] += raw.shared_cells
    by_edge = _cells_by_edge(made)
    for edge, cells in raw.edges.items():
        uses = by_edge.get(edge, [0])
        if sum(uses) == cells:
            totals.counts["edges_with_equal_cells"] += 1
        elif max(uses) <= cells <= sum(uses):  # a cell may total one part and look up another
            totals.counts["edges_with_cells_between_most_and_sum_of_uses"] += 1
        else:
            totals.counts["edges_with_other_cells"] += 1
            totals.differences.append(
                f"{Path(made.path).name}: {edge} cells, ours {uses}, raw {cells}"
            )


def _cells_by_edge(made: Workbook) -> dict[Edge, list[int]]:
    """Return the cells of each reference by the sheets that it resolves to."""
    tabs = made.structure.tabs or tuple(record.sheet for record in made.records)
    scope = Scope(tabs, made.structure)
    found: dict[Edge, list[int]] = {}
    for each in made.references:
        target = Target(each.workbook, each.first, each.last, each.name, each.area)
        for meant in scope.meant(each.sheet, Taken(each.use, target)):
            if meant.external is None:
                found.setdefault((each.sheet, tabs[meant.place]), []).append(each.cells)
    return found


def edges(folder: Path) -> dict[str, Any]:
    """Return metrics over all xlsx files below a folder."""
    totals = Totals()
    for path in sorted(folder.rglob("*.xlsx")):
        compare_file(path, totals)
    for line in totals.differences:
        console.print(line, highlight=False, markup=False)
    metrics: dict[str, Any] = {
        "precision": totals.ratio("edges", "ours_only"),
        "recall": totals.ratio("edges", "raw_only"),
        "array_recall": totals.ratio("array_edges", "raw_only"),
        "shared_recall": totals.ratio("shared_edges", "raw_only"),
        "external_precision": totals.ratio("external", "ours_only"),
        "external_recall": totals.ratio("external", "raw_only"),
    }
    metrics.update(sorted(totals.counts.items()))
    counted = totals.counts["edges_both"] + totals.counts["edges_raw_only"]
    metrics["share_of_edges_with_equal_cells"] = round(
        totals.counts["edges_with_equal_cells"] / counted, 4
    )
    return metrics


@suite(
    "formula_links",
    "data",
    only=option(None, choices=["edges", "speed"]),
    rows=100_000,
    rounds=3,
)
def main(options: Options) -> Iterator[Result]:
    """Compare on the energy model's workbooks, then time the largest and a generated one."""
    eps = options.data / "eps"
    if not eps.is_dir():
        console.print(f"eps: not run, there is no folder {eps}")
    elif options.only != "speed":
        yield Result("edges", "eps", edges(eps), data=[eps])
    if options.only == "edges":
        return
    if eps.is_dir():
        for rank, path in enumerate(largest(eps, 3), 1):
            timed = speed(path, options.rounds)
            yield Result("speed", f"eps_largest_{rank}", timed, data=[path])
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "generated.xlsx")
        generate(made, options.rows)
        timed = speed(made, options.rounds)
        yield Result("speed", f"generated_{options.rows}x20", timed)
