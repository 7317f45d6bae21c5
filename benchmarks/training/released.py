"""Stage 1 trained with the error of the released recipe: its epochs end at an odd question.

The released code takes as a question's hard negative the first non-relevant one of its fifty
nearest sheets. At a question whose fifty nearest are all relevant it finds none, and the epoch
ends there without a word: what is left of it is not trained on. Our library goes on; this
module stops where the release does, with everything else as in the library.
"""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sat_retriever.train.data.trainingdata import TrainingData
from sat_retriever.train.encoder.backbone import Backbone
from sat_retriever.train.encoder.encodertask import EncoderTask
from sat_retriever.train.encoder.train import export_encoder
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.optimise import Optimiser, learning_rate
from sat_retriever.train.loop.task import MEASURE, batches
from sat_retriever.train.settings import EncoderTraining


def train_stopping(
    data: TrainingData, settings: EncoderTraining, folder: Path, *, stops: bool = True
) -> dict[str, Any]:
    """Train an encoder whose epochs end at the first batch with such a question.

    The learning rate follows the steps that were done, as in the release.

    Args:
        data: Corpus and questions.
        settings: All hyper-parameters.
        folder: Gets `encoder/` and `sentence-transformers/`; must not be there yet.
        stops: False goes on, as the library does.

    Returns:
        By epoch `steps` done, `validation` and seconds, `best_epoch` and its measure `best`.
    """
    schedule = settings.schedule()
    accelerator = make_accelerator(schedule)
    backbone = Backbone.load(
        settings.backbone, trained_layers=settings.trained_layers, max_length=settings.max_length
    ).to(accelerator.device)
    task = EncoderTask(data, settings, backbone)
    optimiser = Optimiser(task, schedule, accelerator)
    _seed(schedule.seed)
    planned = math.ceil(task.size / schedule.batch_size)
    found: dict[str, Any] = {"steps": [], "validation": [], "epoch_s": []}
    best = -math.inf
    for epoch in range(1, schedule.epochs + 1):
        start = time.perf_counter()
        task.module.eval()
        with torch.no_grad():
            task.prepare(epoch, accelerator)
        every = batches(task.size, schedule.batch_size, epoch, schedule.seed)
        done = 0
        task.module.train()
        for batch in until_odd(every, task.state()["negatives"]) if stops else iter(every):
            rate = learning_rate(schedule, sum(found["steps"]) + done, planned)
            parts = optimiser.parts(batch)
            optimiser.step(parts, rate, f"epoch {epoch}", due=False, stop=False)
            done += 1
        task.module.eval()
        with torch.no_grad():
            measure = task.validate(accelerator)[MEASURE]
        found["steps"].append(done)
        found["validation"].append([epoch, measure])
        if measure > best:
            best, found["best_epoch"], found["best"] = measure, epoch, measure
            shutil.rmtree(folder, ignore_errors=True)
            task.save(folder)
        found["epoch_s"].append(time.perf_counter() - start)
    export_encoder(folder / "sentence-transformers", folder / "encoder")
    return found


def until_odd(
    every: Iterable[NDArray[np.int64]], negatives: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    """Yield batches up to the first that holds a question without a hard negative.

    >>> twos = [np.array([0, 1]), np.array([2, 3]), np.array([4])]
    >>> [batch.tolist() for batch in until_odd(twos, np.array([[7], [8], [9], [-1], [5]]))]
    [[0, 1]]
    """
    for batch in every:
        if (negatives[batch] < 0).all(axis=1).any():
            return
        yield batch


def _seed(seed: int) -> None:
    """Seed torch as the library's loop does in a single process."""
    torch.manual_seed(int(np.random.SeedSequence((seed, 0)).generate_state(1)[0]))
