"""Tables of benchmarks that are plain lists of numbers, a result file a row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from benchmarks.results import read_results
from benchmarks.tables.markdown import markdown, not_run, number
from benchmarks.tables.sections import Section

File = Mapping[str, Any]


def plain_table(section: Section) -> str:
    """Return a section's result files as rows; files and columns without a number are left out."""
    files = shown_files(section)
    if not files:
        return not_run(section.benchmark)
    headings = ["data", "method"]
    rows = [[_data(file), _method(file)] for file in files]
    for key, heading in section.columns.items():
        values = [file["metrics"].get(key) for file in files]
        if all(value is None for value in values):
            continue
        headings.append(heading)
        fractions = any(isinstance(value, float) for value in values)
        for row, value in zip(rows, values, strict=True):
            row.append(number(float(value) if fractions and type(value) is int else value))
    return markdown(headings, rows)


def shown_files(section: Section) -> list[File]:
    """Return the result files of a section's benchmark that hold any of its numbers."""
    found = read_results(section.benchmark)
    held = [file for file in found if set(section.columns) & set(file["metrics"])]
    return sorted(held, key=lambda file: _natural(f"{file['dataset']} {file['split']}"))


def _natural(text: str) -> list[str]:
    """Sort key by which 30,000 comes before 100,000.

    >>> sorted(["a_100", "a_30"], key=_natural)
    ['a_30', 'a_100']
    """
    return [part.zfill(12) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def _data(file: File) -> str:
    """Return the data set and, if it is but a part, the split."""
    split = "" if file["split"] == "all" else f", {file['split']}"
    return f"{file['dataset']}{split}".replace("_", " ")


def _method(file: File) -> str:
    """Return the method without the name of its model, which has a column of its own."""
    name: str = file["method"]
    model = file["metrics"].get("model")
    return name.partition("_" + re.sub(r"\W+", "_", model))[0] if model else name
