"""Score detected tables against the right readings of a sheet."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from sat_retriever.datasets.metrics import paired_bootstrap
from sat_retriever.records.sheets import Table

LABELS = Path(__file__).with_name("header_labels.json")
TUNING = frozenset({"tuning", "more_tuning"})
"""Parts whose misses may be examined; of all others only figures are shown."""

_FACTS = ("case", "layout", "workbook", "formulas")  # of a row, beside its scores


@dataclass(frozen=True, slots=True)
class Reading:
    """One right reading of a sheet's main table; a None range is not scored."""

    header_row: int | None
    header_height: int
    transposed: bool
    range: str | None
    num_rows: int | None = None
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth about a sheet.

    Attributes:
        name: Made layout and number, or place among the labels.
        layout: Layout of its table.
        readings: Right readings of its main table, equally good.
        ranges: Ranges of all of its tables; None if only the main one is known.
        workbook: Number of its workbook; None if each sheet has its own.
        formulas: State of the values of its formulas: "saved" in the file (or there are no
            formulas), missing "as_found", or missing because they were "emptied"; None if no
            file is read.
    """

    name: str
    layout: str
    readings: tuple[Reading, ...]
    ranges: frozenset[str] | None = None
    workbook: int | None = None
    formulas: str | None = None


Answer = tuple[Truth, Sequence[Table]]
Row = Mapping[str, Any]


def labelled(split: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return names and labels of one part's real sheets."""
    labels = json.loads(LABELS.read_text(encoding="utf-8"))["sheets"]
    return [(str(i), label) for i, label in enumerate(labels) if label["split"] == split]


def readings_of(label: Mapping[str, Any]) -> tuple[Reading, ...]:
    """Return the right readings of a labelled sheet."""
    return tuple(
        Reading(item["header_row"], item["header_height"], item["transposed"], item["range"])
        for item in [label, *label.get("also", [])]
    )


def scored(answers: Iterable[Answer]) -> list[dict[str, Any]]:
    """Return one row a sheet: its facts and its scores."""
    return [{**_facts(truth), **score(truth, tables)} for truth, tables in answers]


def _facts(truth: Truth) -> dict[str, Any]:
    values = (truth.name, truth.layout, truth.workbook, truth.formulas)
    facts = zip(_FACTS, values, strict=True)
    return {name: value for name, value in facts if value is not None}


def score(truth: Truth, tables: Sequence[Table]) -> dict[str, bool | None]:
    """Score the main table found, by the reading that fits it best."""
    if not tables:
        return {"header": False, "orientation": False, "range": False, "exact": False}
    return max((_score_one(truth, reading, tables) for reading in truth.readings), key=_sum)


def _sum(scores: Mapping[str, bool | None]) -> int:
    return sum(bool(value) for value in scores.values())


def _score_one(truth: Truth, reading: Reading, tables: Sequence[Table]) -> dict[str, bool | None]:
    main = tables[0]
    orientation = main.transposed == reading.transposed
    header = (
        orientation
        and main.header_row == reading.header_row
        and main.header_height == reading.header_height
    )
    ranged = None if reading.range is None else main.range == reading.range
    scores: dict[str, bool | None] = {
        "header": header,
        "orientation": orientation,
        "range": ranged,
        "exact": header and ranged is not False,
    }
    if reading.names is not None:
        scores["names"] = tuple(column.name for column in main.columns) == reading.names
        scores["num_rows"] = reading.num_rows is None or main.num_rows == reading.num_rows
        scores["all_ranges"] = frozenset(table.range for table in tables) == truth.ranges
    return scores


def accuracies(rows: Sequence[Row]) -> dict[str, float]:
    """Return the share of right sheets by feature, over those with the feature."""
    names = dict.fromkeys(key for row in rows for key in row if key not in _FACTS)
    return {
        name: round(mean(row[name] for row in rows if row.get(name) is not None), 4)
        for name in names
    }


def grouped(rows: Sequence[Row], fact: str) -> dict[str, dict[str, float]]:
    """Return accuracies of each layout, or of another fact's values, with sheet counts."""
    groups = defaultdict(list)
    for row in rows:
        groups[row[fact]].append(row)
    return {name: {"sheets": len(group), **accuracies(group)} for name, group in groups.items()}


def intervals(rows: Sequence[Row]) -> dict[str, list[float]]:
    """Return 95 % bootstrap intervals of the shares of right headers, ranges, and both.

    Whole workbooks are resampled, since sheets of one workbook have similar layouts.
    """
    found = {}
    for name in ("header", "range", "exact"):
        known = [row for row in rows if row[name] is not None]
        right = [float(row[name]) for row in known]
        share = paired_bootstrap(right, [0.0] * len(right), [row["workbook"] for row in known])
        found[f"{name}_interval"] = [round(share.low, 4), round(share.high, 4)]
    return found
