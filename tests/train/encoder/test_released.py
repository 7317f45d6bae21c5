"""The released recipe as an option set: what it does otherwise than the paper, and alike."""

from __future__ import annotations

import dataclasses
import math
import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")

from sat_retriever.train.encoder.backbone import Backbone
from sat_retriever.train.encoder.encodertask import EncoderTask
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.task import Share
from sat_retriever.train.settings import ENCODER_PRESETS, EncoderTraining
from tests.tiny_transformer import save_tiny, tiny_corpus

PAPER, RELEASED = ENCODER_PRESETS["paper"], ENCODER_PRESETS["released"]


def _task(tmp_path, data=None, **fields):
    source = save_tiny(tmp_path / "m", dropout=0.0)
    settings = dataclasses.replace(RELEASED, backbone=str(source), trained_layers=2, **fields)
    task = EncoderTask(data or tiny_corpus(), settings, Backbone.load(source, trained_layers=2))
    accelerator = make_accelerator(settings.schedule())
    with torch.no_grad():
        task.prepare(1, accelerator)
    return task, accelerator


def _token(task, pieces):
    ids = torch.tensor([pieces.tolist()], dtype=torch.int64)
    with torch.no_grad():
        return task.module([(ids, torch.ones_like(ids))])[0].double().numpy()


def test_the_papers_options_are_the_defaults_with_its_backbone():
    assert EncoderTraining(backbone="BAAI/bge-base-en-v1.5") == PAPER


def test_the_released_recipe_differs_in_loss_and_mining_only():
    assert dataclasses.replace(PAPER, loss="single_positive", mining="fixed") == RELEASED


def test_a_step_is_the_drawn_sheet_against_everything_in_the_batch(tmp_path):
    task, accelerator = _task(tmp_path, temperature=0.2)
    items = np.array([2, 7, 12, 20])
    positives, negatives = task.state()["positives"], task.state()["negatives"]
    sheets = sorted({*positives[items].ravel(), *negatives[items].ravel()} - {-1})
    gold = tiny_corpus().train.positives
    others = [
        row for item in items for row in sheets if row in gold[item] and row != positives[item, 0]
    ]
    assert others  # relevant sheets that the released loss takes for negatives
    tokens = {row: _token(task, task._sheets[row]) for row in sheets}
    losses = []
    for item in items:
        question = _token(task, task._train[item])
        values = {row: math.exp(question @ token / 0.2) for row, token in tokens.items()}
        losses.append(-math.log(values[positives[item, 0]] / sum(values.values())))
    share = Share(items)
    loss = task.loss(task.module, task.inputs(share, accelerator.device), share, accelerator)
    assert loss.item() == pytest.approx(sum(losses) / len(losses), abs=1e-5)


def test_the_hard_negative_is_the_first_non_relevant_of_the_untrained_ranking(tmp_path):
    task, accelerator = _task(tmp_path)
    data = tiny_corpus()
    sheets = np.stack([_token(task, pieces) for pieces in task._sheets])
    first = task.state()["negatives"]
    for item, gold in enumerate(data.train.positives):
        cosines = sheets @ _token(task, task._train[item])
        ranking = sorted(range(len(sheets)), key=lambda row: -cosines[row])
        expected = next(row for row in ranking if row not in gold)
        found = int(first[item, 0])
        assert found not in gold
        assert cosines[found] == pytest.approx(cosines[expected], abs=1e-6)
    with torch.no_grad():
        for parameter in task.module.parameters():
            parameter.mul_(-1)
        task.prepare(2, accelerator)
    assert np.array_equal(first, task.state()["negatives"])


def test_a_question_without_a_hard_negative_does_not_end_the_epoch(tmp_path):
    data = tiny_corpus()
    everywhere = tuple(range(len(data.sheets)))
    train = dataclasses.replace(data.train, positives=(everywhere, *data.train.positives[1:]))
    task, accelerator = _task(tmp_path, dataclasses.replace(data, train=train))
    assert (task.state()["negatives"] < 0).sum() == 1
    share = Share(np.arange(4))
    loss = task.loss(task.module, task.inputs(share, accelerator.device), share, accelerator)
    assert math.isfinite(loss.item())
    assert loss.item() > 0
