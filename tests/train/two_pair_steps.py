"""Optimiser steps of the Cross-Encoder, run by a test in one process and again in two."""

from __future__ import annotations

import numpy as np
import torch
from safetensors.torch import save_file

from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.optimise import Optimiser
from sat_retriever.train.loop.task import batches
from sat_retriever.train.reranker.cross_encoder import PairTask
from sat_retriever.train.reranker.pairlists import PairLists
from sat_retriever.train.reranker.pairmodel import PairModel
from sat_retriever.train.settings import CrossEncoderTraining
from tests.tiny_transformer import tiny_corpus


def run(source: str, target: str) -> None:
    """Save losses, learned weights and validation metrics of this process.

    Args:
        source: The backbone's folder; without dropout, since processes draw their own.
        target: File to write, without suffix.
    """
    data = tiny_corpus()
    draw = np.random.default_rng(5)
    lists = [
        PairLists(
            "encoder", "texts", 1.0, data.sheets, part,
            np.array([draw.permutation(36)[:12] for _ in part.texts]),
            draw.random((len(part), 12), dtype=np.float32),
        )
        for part in (data.train, data.validation)
    ]  # fmt: skip
    settings = CrossEncoderTraining(
        backbone=source, trained_layers=1, learning_rate=1e-3, precision="fp32", accumulation=2
    )
    accelerator = make_accelerator(settings.schedule())
    model = PairModel.load(settings)
    task = PairTask(*lists, settings, model)
    optimiser = Optimiser(task, settings.schedule(), accelerator)
    task.prepare(1, accelerator)
    task.module.train()
    order = batches(task.size, settings.batch_size, 1, 0)
    # The last batch, of one pair, is smaller than the number of processes.
    losses = [
        optimiser.step(optimiser.parts(batch), 1e-3, "a step", due=False, stop=False).loss
        for batch in (*order, order[0][:1])
    ]
    task.module.eval()
    metrics = task.validate(accelerator)
    learned = {
        name: value.detach().clone()
        for name, value in model.named_parameters()
        if value.requires_grad
    }
    learned["losses"] = torch.tensor(losses, dtype=torch.float64)
    learned["metrics"] = torch.tensor(list(metrics.values()), dtype=torch.float64)
    suffix = "" if accelerator.num_processes == 1 else f"-{accelerator.process_index}"
    save_file(learned, f"{target}{suffix}.safetensors")
