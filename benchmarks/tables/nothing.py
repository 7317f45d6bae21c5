"""The table of how sure answers are that the index holds one, from its result files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.tables.markdown import markdown, not_run, number

Files = Sequence[Mapping[str, Any]]

_PARTS = ("validation", "test")
_COLUMNS = {
    "AUROC_foreign": "AUROC: foreign",
    "AUROC_removed": "removed",
    "AUROC_removed_found": "removed, of those answered right",
    "AUROC_book_removed": "with their workbooks",
    "AUROC_few_removed": "removed from 20 sheets",
    "warned_right": "warned: right answers",
    "warned_foreign": "foreign",
    "warned_removed": "removed",
    "calibration_error": "calibration error",
}


def nothing_table(files: Files) -> str:
    """Return a row for each part of each corpus; those for choices come first.

    >>> metrics = {"questions": 9, "AUROC_foreign": 0.95, "warned_right": 0.0}
    >>> print(nothing_table([{"dataset": "a", "split": "test", "metrics": metrics}])[-58:])
    | a | test | 9 | .950 | – | – | – | – | .000 | – | – | – |
    """
    if not files:
        return not_run("nothing")
    ordered = sorted(files, key=lambda file: (_PARTS.index(file["split"]), file["dataset"]))
    rows = []
    for file in ordered:
        metrics = file["metrics"]
        cells = [number(metrics.get(name)) for name in ("questions", *_COLUMNS)]
        rows.append([str(file["dataset"]).replace("_", " "), file["split"], *cells])
    return markdown(["corpus", "part", "questions", *_COLUMNS.values()], rows)
