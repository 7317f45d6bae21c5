"""Losses of Stage 2, computed by a test in one process and again in two."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator
from torch import nn

from sat_retriever.index.index import SheetIndex
from sat_retriever.train.loop.task import Share
from sat_retriever.train.reranker.candidatesets import candidate_sets
from sat_retriever.train.reranker.graphtask import LossWeights, RerankTask
from sat_retriever.train.reranker.scorer import BaseScorer, ScorerShape
from sat_retriever.train.settings import RerankerTraining
from tests.fakes import HashedEncoder
from tests.train import sheet_world

_BATCHES = ([0, 3, 5, 6, 9], [2])  # the second leaves one of two processes without a question


def losses(path: Path) -> list[float]:
    """Loss of each batch over all processes, made of the shares of each.

    Args:
        path: An index of `sheet_world`.
    """
    accelerator = Accelerator(cpu=True)
    torch.manual_seed(0)
    rank, world = accelerator.process_index, accelerator.num_processes
    settings = RerankerTraining(candidates=8, channels=("schema",), features=("lexical",))
    with SheetIndex.open(path, HashedEncoder(16)) as index:
        sets = candidate_sets(index, sheet_world.queries(), settings)
    scorer = BaseScorer(ScorerShape(16, 1)).eval()
    nn.init.normal_(scorer.perceptron[3].weight)
    task = RerankTask(scorer, sets, sets, LossWeights(), "base.safetensors")
    found = []
    for batch in _BATCHES:
        share = Share(np.array(batch), rank, world)
        inputs = task.inputs(share, accelerator.device)
        loss = task.loss(scorer, inputs, share, accelerator).detach() * share.counts
        found.append(accelerator.reduce(loss, reduction="mean").item())
    return found
