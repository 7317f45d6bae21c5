"""Two optimiser steps of Stage 1, run by a test in one process and again in two."""

from __future__ import annotations

import os

import torch
from safetensors.torch import save_file

from sat_retriever.train.encoder.backbone import Backbone
from sat_retriever.train.encoder.encodertask import EncoderTask
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.optimise import Optimiser
from sat_retriever.train.loop.task import batches
from sat_retriever.train.settings import EncoderTraining
from tests.tiny_transformer import tiny_corpus

_OPTIONS = {
    "plain": {"positives": 2, "negatives": 3, "accumulation": 2},
    "single": {"loss": "single_positive", "mining": "fixed"},
}


def run(source: str, target: str) -> None:
    """Save losses, learned weights and validation metrics of this process, for all options.

    Args:
        source: The backbone's folder.
        target: File to write, without suffix; each of several processes adds its number.
    """
    found = {}
    for name, options in _OPTIONS.items():
        settings = EncoderTraining(
            backbone=source, trained_layers=2, batch_size=12, learning_rate=0.3, temperature=0.1,
            precision="fp32", negative_depth=10, **options,
        )  # fmt: skip
        found |= {f"{name}.{key}": value for key, value in _trained(settings).items()}
    rank = os.environ.get("RANK")
    save_file(found, f"{target}.safetensors" if rank is None else f"{target}-{rank}.safetensors")


def _trained(settings: EncoderTraining) -> dict[str, torch.Tensor]:
    """What some steps made of the backbone."""
    accelerator = make_accelerator(settings.schedule())
    backbone = Backbone.load(settings.backbone, trained_layers=settings.trained_layers)
    task = EncoderTask(tiny_corpus(), settings, backbone)
    optimiser = Optimiser(task, settings.schedule(), accelerator)
    for group in optimiser.trained.optimizer.param_groups:
        # Steps in proportion to the gradient: AdamW's own would be as long for a gradient that
        # is only rounding, such as that of a key's bias, which attention does not depend on.
        group["eps"] = 1.0
    with torch.no_grad():
        task.prepare(1, accelerator)
    task.module.train()
    order = batches(task.size, settings.batch_size, 1, 0)
    losses = [
        optimiser.step(
            optimiser.parts(batch), settings.learning_rate, "a step", due=False, stop=False
        ).loss
        for batch in (*order, order[0][:1])  # the last one has fewer questions than processes
    ]
    task.module.eval()
    with torch.no_grad():
        metrics = task.validate(accelerator)
    learned = {
        name: value.detach().clone()
        for name, value in backbone.named_parameters()
        if value.requires_grad
    }
    return {
        **learned,
        "losses": torch.tensor(losses, dtype=torch.float64),
        "metrics": torch.tensor(list(metrics.values()), dtype=torch.float64),
        "negatives": torch.from_numpy(task.state()["negatives"]).float(),
    }
