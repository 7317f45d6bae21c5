"""What it costs to find a value in cells, beside an earlier version of the code.

    python -m benchmarks run cell_search [--before e1e82f9e]

One word, a phrase and 4,000 characters are looked for in what an index keeps of 200 made sheets
that all have the phrase, and in all cells of the largest sheet of a workbook of EPS. Both versions
run in this one call, each in a process of its own; the earlier one is taken from git.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.results import ROOT, Result
from benchmarks.runner import Options, option, suite

BEFORE = "e1e82f9e"
WORKBOOK = "plcy-schd/FoPITY/FoPITY.xlsx"
_PART = Path(__file__).with_name("cell_search_part.py")


@suite("cell_search", "data", before=option(BEFORE, "an earlier commit"))
def main(options: Options) -> Iterator[Result]:
    """Measure both versions."""
    workbook = options.data.resolve() / "eps" / WORKBOOK
    with tempfile.TemporaryDirectory() as folder:
        earlier = checkout(options.before, Path(folder) / "earlier")
        for method, code in ((f"before_{options.before}", earlier), ("now", ROOT)):
            found = _measured(code, workbook)
            yield Result(method, "made_200_and_eps", found, data=[workbook])


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
