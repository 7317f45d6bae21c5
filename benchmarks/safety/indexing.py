"""Run `sat index` in its own process, and measure its time and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.results import ROOT


@dataclass(frozen=True, slots=True)
class Indexing:
    """A finished run.

    Attributes:
        report: Its output with `--json`.
        seconds: Wall time.
        cpu_seconds: Processor time, including its reading processes.
        peak_mib: Peak memory of the largest of its processes, MiB.
    """

    report: dict[str, Any]
    seconds: float
    cpu_seconds: float
    peak_mib: int


def run_index(folder: Path, index: Path, options: Sequence[str] = ()) -> Indexing:
    """Index a folder.

    Raises:
        SystemExit: If the command fails.
    """
    command = [sys.executable, "-m", "sat_retriever", "index", str(folder), "--index", str(index)]
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen([*command, *options, "--json"], stdout=out, cwd=ROOT)
        _pid, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"sat index of {folder} ended with exit code {process.returncode}")
        out.seek(0)
        report = json.load(out)
    cpu = usage.ru_utime + usage.ru_stime
    return Indexing(report, round(seconds, 1), round(cpu, 1), usage.ru_maxrss // 1024)
