"""Train the methods of the main table on a small made corpus, and list its rows.

The Cross-Encoder is left out: one epoch of it takes longer than all other sections together.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.results import ROOT, read_results
from benchmarks.safety.golden_corpora import environment

METHODS = ("bm25", "dense", "fused", "links", "stage1", "base", "graph", "ours")


def training_sections(work: Path, data: Path) -> dict[str, Callable[[], Sequence[str]]]:
    """Return metrics and single answers of `run main --quick`, and the table that it prints."""

    @cache
    def run() -> tuple[str, list[dict[str, Any]]]:
        return _quick(work / "runs", data)

    return {
        "training/metrics": lambda: [
            json.dumps([file["method"], _lasting(file["metrics"])]) for file in run()[1]
        ],
        "training/answers": lambda: [
            json.dumps([file["method"], _lasting(row)]) for file in run()[1]
            for row in file["per_query"]
        ],
        "training/table": lambda: [run()[0]],
    }  # fmt: skip


def _quick(runs: Path, data: Path) -> tuple[str, list[dict[str, Any]]]:
    """Return the table that the command prints, and its results in the order of names.

    Raises:
        SystemExit: If it fails.
    """
    command = [sys.executable, "-m", "benchmarks", "run", "main", "--quick", "--methods", *METHODS]
    done = subprocess.run(
        [*command, "--runs", str(runs), "--data", str(data)],
        cwd=ROOT, env=environment(), capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"run main --quick ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout.partition("standard test")[2], read_results("trained", runs / "results")


def _lasting(value: Any) -> Any:
    """Return a value without the parts that no two runs share."""
    if isinstance(value, dict):
        return {key: _lasting(item) for key, item in value.items() if not _is_of_run(key)}
    return [_lasting(item) for item in value] if isinstance(value, list) else value


def _is_of_run(key: str) -> bool:
    """True if a number depends on the run: time, memory, or a key that hashes the work folder."""
    return key == "key" or key.endswith(("_ms", "_s", "seconds", "_mib"))
