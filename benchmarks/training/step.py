"""One step of a training, in this process: the model and its cost.

    python -m benchmarks.training.step runs/…/step.json

Started by `benchmarks.training.runner`, so that the peak of memory is that of one step.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.training.corpus import dataset_of, index_of
from benchmarks.training.encoders import source_of
from benchmarks.training.plan import RELEASED_STOPS, Step, read_step
from benchmarks.training.released import train_stopping
from benchmarks.training.runner import REPORT, RUN, Places, base_folder, encoder_folder
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.train.data.corpusindex import seen_index
from sat_retriever.train.data.reading import from_dataset
from sat_retriever.train.encoder.train import train_encoder
from sat_retriever.train.loop.memory import largest_memory_mib
from sat_retriever.train.loop.runfolder import RunFolder
from sat_retriever.train.loop.task import MEASURE
from sat_retriever.train.reranker.train import gather, train_reranker
from sat_retriever.train.settings import EncoderTraining, RerankerTraining


def train(step: Step, places: Places) -> dict[str, Any]:
    """Train a step whose parents are there; what it took, and how validation went."""
    dataset, folder = dataset_of(step.corpus, places.data), places.folder(step)
    settings = step.settings
    if not isinstance(settings, RerankerTraining):
        settings = replace(settings, backbone=source_of(settings.backbone, places.data))
    if isinstance(settings, EncoderTraining):
        return _train_encoder(step, settings, dataset, folder / RUN)
    encoder, beside = encoder_folder(step, places)
    start = time.perf_counter()
    with ExitStack() as opened:
        whole = opened.enter_context(index_of(dataset, encoder, step.links, beside))
        seen = whole
        if dataset.split.seen is not None:
            part = beside / f"{whole.path.stem}-seen-{step.corpus.seed}.sat"
            seen = opened.enter_context(seen_index(whole, dataset.split.seen, part))
        learn = gather(seen, dataset.train, settings)
        choose = gather(whole, dataset.validation, settings)
        prepared = time.perf_counter()
        base = base_folder(step, places)
        train_reranker(learn, choose, settings, folder / RUN, base=base)
    return _took(folder / RUN, start, prepared)


def _train_encoder(
    step: Step, settings: EncoderTraining, dataset: Dataset, folder: Path
) -> dict[str, Any]:
    start = time.perf_counter()
    data = from_dataset(dataset)
    prepared = time.perf_counter()
    if step.variant != RELEASED_STOPS:
        train_encoder(data, settings, folder)
        return _took(folder, start, prepared)
    found = train_stopping(data, settings, folder)
    return found | {"prepare_s": prepared - start, "train_s": time.perf_counter() - prepared}


def _took(folder: Path, start: float, prepared: float) -> dict[str, Any]:
    """Return the epochs and times of a training that ends now, from the library's run folder."""
    end = time.perf_counter()
    rows = RunFolder(folder.absolute(), main=False).metrics()
    return epochs_of(rows) | {"prepare_s": prepared - start, "train_s": end - prepared}


def epochs_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return statistics of a training's epochs, from its last phase if it has several.

    Args:
        rows: Lines of the library's metrics.jsonl.
    """
    phase = rows[-1]["phase"]
    own = [row for row in rows if row["phase"] == phase]
    epochs = [row for row in own if row["row"] == "epoch"]
    best = next(row for row in reversed(epochs) if row["best"])
    trained = [row["epoch"] for row in epochs if row["epoch"] > 0]
    return {
        "best_epoch": best["epoch"],
        "best": best["validation"][MEASURE],
        "validation": [[row["epoch"], round(row["validation"][MEASURE], 6)] for row in epochs],
        "epoch_s": [row["seconds"] for row in epochs if row["epoch"] > 0],
        "steps": [
            sum(row["row"] == "step" and row["epoch"] == epoch for row in own) for epoch in trained
        ],
    }


def machine() -> dict[str, Any]:
    """Return the device, threads, CPU seconds and the peaks of memory of this process so far."""
    cuda = torch.cuda.is_available()
    return {
        "device": torch.cuda.get_device_name() if cuda else "CPU",
        "threads": torch.get_num_threads(),
        "cpu_s": round(time.process_time(), 1),
        "peak_mib": round(largest_memory_mib()),
        "accelerator_mib": round(torch.cuda.max_memory_allocated() / 2**20) if cuda else None,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Train the step and write its report; there is no report of a training that failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("step", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True)
    options = parser.parse_args(arguments)
    step = read_step(options.step)
    found = train(step, Places(options.data, options.runs))
    seconds = {name: round(found[name], 1) for name in ("train_s", "prepare_s")}
    mean = round(statistics.fmean(found["epoch_s"]), 2)
    corpus = f"{step.corpus.name}, {step.corpus.split}".replace("_", " ")
    content = {"key": step.key, "corpus": corpus, **found, **seconds, "epoch_s": mean, **machine()}
    partial = options.step.with_name(f"{REPORT}.partial")
    partial.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    partial.replace(options.step.with_name(REPORT))


if __name__ == "__main__":
    main()
