"""What it costs to find a value in cells, beside an earlier version of the code.

    python -m benchmarks run cell_search [--before e1e82f9e]

One word, a phrase and 4,000 characters are looked for in what an index keeps of 200 made sheets
that all have the phrase, and in all cells of the largest sheet of a workbook of EPS. Both versions
run in this one call, each in a process of its own; the earlier one is taken from git.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.results import ROOT, Result, write_result

BENCHMARK = "cell_search"
BEFORE = "e1e82f9e"
WORKBOOK = "plcy-schd/FoPITY/FoPITY.xlsx"
_PART = Path(__file__).with_name("cell_search_part.py")


def main(arguments: Sequence[str] = ()) -> None:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--before", default=BEFORE, help="an earlier commit")
    parser.add_argument("--eps", type=Path, default=ROOT.parent / "shared/data/eps")
    parser.add_argument("--results", type=Path, help="folder of the results")
    options = parser.parse_args(arguments)
    workbook = options.eps / WORKBOOK
    with tempfile.TemporaryDirectory() as folder:
        earlier = checkout(options.before, Path(folder) / "earlier")
        found = {
            f"before_{options.before}": _measured(earlier, workbook),
            "now": _measured(ROOT, workbook),
        }
    for method, metrics in found.items():
        result = Result(method, "made_200_and_eps", metrics)
        write_result(BENCHMARK, result, data=[workbook], folder=options.results)
    _print(found)


def checkout(commit: str, folder: Path) -> Path:
    """The files of a commit in a folder."""
    packed = subprocess.run(
        ["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def _measured(code: Path, workbook: Path) -> dict[str, float]:
    """The figures of one version of the code."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", str(_PART), str(workbook), folder]
        surroundings = {**os.environ, "PYTHONPATH": str(code)}
        run = subprocess.run(
            command, env=surroundings, cwd=code, stdout=subprocess.PIPE, text=True, check=True
        )
    figures: dict[str, float] = json.loads(run.stdout)
    return figures


def _print(found: dict[str, dict[str, float]]) -> None:
    table = Table("figure", *found)
    for name in next(iter(found.values())):
        table.add_row(name, *(f"{metrics[name]:,}" for metrics in found.values()))
    Console().print(table)


if __name__ == "__main__":
    main(sys.argv[1:])
