"""Losses and gains of an encoder stored in bytes and half precision: MiniLM beside itself.

    python -m benchmarks run compact [--data DIR] [--sheets 300] [--rounds 5]

Both are computed in single precision. Opening, memory and latency are measured in fresh
processes, turn by turn, and are medians of the rounds; rankings are those of Spider's training
questions on the databases held out for validation, fused with words, never those of dev.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.results import Result, write_result
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.metrics import mean, ndcg, recall
from sat_retriever.datasets.splits import spider_training
from sat_retriever.encoder import SheetEncoder
from sat_retriever.encoder.export import compact_folder
from sat_retriever.encoder.folder import read_model_folder
from sat_retriever.index.index import SheetIndex
from sat_retriever.text.serialize import serialize

METHODS = ("fp32", "compact")
WARM_UP = 20
QUERIES = 200  # for the latency
DEPTH = 10


def opened(folder: Path, texts: Sequence[str]) -> dict[str, float]:
    """Return time and memory of opening an encoder and encoding queries in this process."""
    import onnxruntime  # noqa: F401 - its import is no part of opening a model
    import psutil
    import tokenizers  # noqa: F401

    before = psutil.Process().memory_info().rss
    start = time.perf_counter()
    encoder = SheetEncoder.load(folder)
    load_s = time.perf_counter() - start
    for text in texts[:WARM_UP]:
        encoder.encode_queries([text])
    times_ms = []
    for text in texts:
        start = time.perf_counter()
        encoder.encode_queries([text])
        times_ms.append((time.perf_counter() - start) * 1000)
    return {
        "load_s": load_s,
        "memory_mib": (psutil.Process().memory_info().rss - before) / 2**20,
        "query_p50_ms": float(np.percentile(times_ms, 50)),
        "query_p95_ms": float(np.percentile(times_ms, 95)),
    }


def quality(encoder: SheetEncoder, dataset: Dataset, file: Path) -> dict[str, float | int]:
    """Return means over the validation questions, searched as by a user, without Stage 2."""
    found = []
    with SheetIndex.create(file, encoder) as index:
        index.add_records(dataset.records, find_links=False)
        for query in dataset.validation:
            best = [hit.sheet_id for hit in index.candidates(query.text, DEPTH)]
            whole = recall(best, query.positives, DEPTH)
            found.append((ndcg(best, query.positives, DEPTH), float(whole == 1)))
    both = zip(("NDCG@10", "all@10"), zip(*found, strict=True), strict=True)
    return {"questions": len(found), **{name: mean(list(values)) for name, values in both}}


def folder_bytes(folder: Path) -> int:
    """Return the total size of a folder's files."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def measure(data: Path, sheets: int, rounds: int, source_name: str) -> list[Result]:
    """Return one result for each way of storing."""
    dataset = spider_training(data / "spider")
    queries = [query.text for query in dataset.validation][:QUERIES]
    results = []
    with tempfile.TemporaryDirectory() as draft:
        places = {name: Path(draft) / name for name in METHODS}
        SheetEncoder.load(source_name).save(places["fp32"])
        compact_folder(read_model_folder(places["fp32"]), places["compact"])
        (texts := Path(draft) / "texts.json").write_text(json.dumps(queries), encoding="utf-8")
        rows: dict[str, list[dict[str, float]]] = {name: [] for name in METHODS}
        for _ in range(rounds + 1):  # the first round warms the disk cache
            for name, place in places.items():
                command = [sys.executable, "-m", "benchmarks.speed.compact"]
                command += ["--one", str(place), "--texts", str(texts)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                rows[name].append(json.loads(done.stdout.splitlines()[-1]))
        encoders = {name: SheetEncoder.load(place) for name, place in places.items()}
        records = dataset.records
        some = [serialize(record) for record in records[:: max(1, len(records) // sheets)]]
        tokens = {name: encoder.encode_sheets(some) for name, encoder in encoders.items()}
        for name, encoder in encoders.items():
            cosines = (tokens[name] * tokens["fp32"]).sum(axis=1)
            metrics: dict[str, Any] = {"megabytes": folder_bytes(places[name]) / 1e6}
            metrics |= {"sheets": len(some), "least_cosine": float(cosines.min())}
            metrics |= {"mean_cosine": float(cosines.mean()), "rounds": rounds}
            metrics |= {
                key: statistics.median(row[key] for row in rows[name][1:]) for key in rows[name][0]
            }
            metrics |= quality(encoder, dataset, Path(draft) / f"{name}.sat")
            rounded = {key: float(f"{value:.6g}") for key, value in metrics.items()}
            results.append(Result(name, "spider_train", rounded, split="validation"))
    return results


def show(results: Sequence[Result]) -> Table:
    """Return a table of the results side by side."""
    table = Table("", *(result.method for result in results))
    for key in results[0].metrics:
        table.add_row(key, *(f"{result.metrics[key]:g}" for result in results))
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, write the results, print them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--encoder", default="minilm", help="what SheetEncoder.load takes, fp32")
    parser.add_argument("--sheets", type=int, default=300, help="of which tokens are compared")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dry", action="store_true", help="write no result files")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--texts", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        texts = json.loads(options.texts.read_text(encoding="utf-8"))
        print(json.dumps(opened(options.one, texts)))
        return
    results = measure(options.data, options.sheets, options.rounds, options.encoder)
    if not options.dry:
        for result in results:
            write_result("compact", result, data=source_files(options.data))
    Console().print(show(results))


def source_files(data: Path) -> tuple[Path, ...]:
    """Return the files that the questions and sheets were read from."""
    return spider_training(data / "spider").files


if __name__ == "__main__":
    main()
