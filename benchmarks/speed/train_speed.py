"""Time of a training step of Stage 1 here: in fp32 and in bf16.

    python -m benchmarks run train_speed [--data DIR] [--rounds 3] [--steps 3]

Each round trains every variant anew for a few steps on the first questions of IndustryTab-1K's
training part, turn by turn; medians over all steps of all rounds but each round's first.
"""

from __future__ import annotations

import statistics
import time
from contextlib import closing
from dataclasses import replace

import numpy as np
import torch

from benchmarks.gpu.device import synchronise
from benchmarks.results import Result
from benchmarks.runner import Options, suite
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.splits import standard_dataset
from sat_retriever.encoder.source import MINILM
from sat_retriever.train.data.reading import from_dataset
from sat_retriever.train.encoder.backbone import Backbone
from sat_retriever.train.encoder.encodertask import EncoderTask
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.optimise import Optimiser
from sat_retriever.train.loop.parallel import depth_on, made_ahead
from sat_retriever.train.settings import EncoderTraining

CORPUS = "industrytab_1k"
PLAIN = EncoderTraining(backbone=MINILM, precision="fp32")
VARIANTS = {"fp32": PLAIN, "bf16": replace(PLAIN, precision="bf16")}


def step_seconds(settings: EncoderTraining, dataset: Dataset, steps: int) -> list[float]:
    """Return the seconds of each step of a new training, the first left out."""
    accelerator = make_accelerator(settings.schedule())
    kind = accelerator.device.type
    backbone = Backbone.load(
        settings.backbone, trained_layers=settings.trained_layers, max_length=settings.max_length
    ).to(accelerator.device)
    task = EncoderTask(from_dataset(dataset), settings, backbone)
    optimiser = Optimiser(task, settings.schedule(), accelerator)
    task.prepare(1, accelerator)
    task.module.train()
    first = np.arange(settings.batch_size, dtype=np.int64)
    batches = [(first + number * settings.batch_size) % task.size for number in range(steps + 1)]
    found = []
    with closing(made_ahead(optimiser.parts, batches, depth_on(kind))) as ready:
        for number in range(steps + 1):
            start = time.perf_counter()
            optimiser.step(
                next(ready), settings.learning_rate, f"step {number}", due=False, stop=False
            )
            synchronise()
            found.append(time.perf_counter() - start)
    accelerator.free_memory()
    return found[1:]


def measure(dataset: Dataset, rounds: int, steps: int) -> list[Result]:
    """Return one result a variant."""
    taken: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for _ in range(rounds):
        for name, settings in VARIANTS.items():
            taken[name] += step_seconds(settings, dataset, steps)
    medians = {name: statistics.median(each) for name, each in taken.items()}
    first = next(iter(medians.values()))
    return [
        Result(
            name,
            CORPUS,
            {
                "steps": len(taken[name]),
                "questions": VARIANTS[name].batch_size,
                "threads": torch.get_num_threads(),
                "step_s": round(median, 3),
                "fastest_s": round(min(taken[name]), 3),
                "slowest_s": round(max(taken[name]), 3),
                "times_fp32": round(median / first, 3),
            },
            split="train",
            data=dataset.files,
        )
        for name, median in medians.items()
    ]


@suite("train_speed", "data", rounds=3, steps=3)
def main(options: Options) -> list[Result]:
    """Train a few steps of every variant."""
    return measure(standard_dataset(options.data / CORPUS), options.rounds, options.steps)
