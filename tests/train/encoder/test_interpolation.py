import dataclasses

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import sat_retriever.train.encoder.train as stage1
from sat_retriever.errors import InputError
from sat_retriever.train.encoder.backbone import Backbone
from sat_retriever.train.encoder.encodertask import EncoderTask
from sat_retriever.train.encoder.interpolation import SHARE, interpolate, trained_weights
from sat_retriever.train.encoder.train import train_encoder
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.settings import EncoderTraining
from tests.tiny_transformer import save_tiny, tiny_corpus


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("source") / "m")


@pytest.fixture
def settings(source):
    return EncoderTraining(
        backbone=str(source), trained_layers=1, epochs=2, batch_size=8, learning_rate=3e-3,
        negatives=2, negative_depth=10,
    )  # fmt: skip


@pytest.fixture
def no_export(monkeypatch):
    monkeypatch.setattr(stage1, "export_encoder", lambda source, target, **said: None)


class Liking:
    """A task whose validation likes one value of its only weight."""

    def __init__(self, liked):
        self.module = torch.nn.Linear(1, 1, bias=False)
        self.liked = liked

    def validate(self, accelerator):
        return {"NDCG@5": 1 - abs(self.module.weight.item() - self.liked)}


def _task(settings):
    backbone = Backbone.load(settings.backbone, trained_layers=settings.trained_layers)
    return EncoderTask(tiny_corpus(), settings, backbone)


@pytest.mark.parametrize(
    ("liked", "share"), [(0.0, 0.25), (3.0, 0.5), (4.2, 0.75), (9.0, 1.0), (3.5, 0.75)]
)
def test_the_share_that_validation_likes_best_is_taken_and_of_equals_the_larger(liked, share):
    task = Liking(liked)
    with torch.no_grad():
        task.module.weight.fill_(1.0)
        before = trained_weights(task.module)
        task.module.weight.fill_(5.0)
    told = []
    found = interpolate(
        task, before, task.validate(None), (0.25, 0.5, 0.75, 1.0),
        make_accelerator(EncoderTraining().schedule()), lambda *at: told.append(at),
    )  # fmt: skip
    assert told == [(0, 4), (1, 4), (2, 4), (3, 4)]
    assert found.share == share
    assert task.module.weight.item() == 1 + 4 * share
    assert found.metrics["NDCG@5"] == pytest.approx(1 - abs(1 + 4 * share - liked))
    assert found.metrics[SHARE] == share
    assert found.metrics["NDCG@5, trained_share = 0.5"] == pytest.approx(1 - abs(3 - liked))


def test_at_one_the_weights_are_the_trained_ones_bit_for_bit(settings):
    task = _task(settings)
    before = trained_weights(task.module)
    chance = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for each in task.module.parameters():
            if each.requires_grad:
                each.add_(torch.rand(each.shape, generator=chance))
    after = {name: each.clone() for name, each in task.module.state_dict().items()}
    task.validate = lambda accelerator: {"NDCG@5": 0.5}
    interpolate(task, before, {"NDCG@5": 0.5}, (0.3, 1.0), make_accelerator(settings.schedule()))
    assert all(torch.equal(each, after[name]) for name, each in task.module.state_dict().items())


def test_a_training_saves_and_reports_the_mixture(tmp_path, settings, no_export, monkeypatch):
    train_encoder(tiny_corpus(), settings, tmp_path / "plain")
    start = load_file(tmp_path / "plain" / "sentence-transformers" / "model.safetensors")
    begun = load_file(f"{settings.backbone}/model.safetensors")
    mixed = dataclasses.replace(settings, interpolation=(0.5,))
    real = EncoderTask.validate
    asked = []

    def liking_half(task, accelerator):  # the one at the end
        asked.append(1)
        found = dict(real(task, accelerator))
        return {**found, "NDCG@5": 2.0 if len(asked) == 4 else found["NDCG@5"]}

    monkeypatch.setattr(EncoderTask, "validate", liking_half)
    told = []
    trained = train_encoder(tiny_corpus(), mixed, tmp_path / "mixed", progress=told.append)
    assert len(asked) == 4  # before training, two epochs, the share .5
    assert (told[-1].doing, told[-1].step, told[-1].steps) == ("mixing", 0, 1)
    assert trained.metrics[SHARE] == 0.5
    assert trained.metrics["NDCG@5"] == 2.0
    saved = load_file(trained.sentence_transformers / "model.safetensors")
    moved = [name for name in saved if not torch.equal(saved[name], begun[name])]
    assert moved
    for name in moved:
        half = 0.5 * start[name] + 0.5 * begun[name]
        assert np.allclose(saved[name], half, atol=1e-7)


def test_a_training_killed_while_it_saves_the_mixture_goes_on_to_the_same(
    tmp_path, settings, no_export, monkeypatch
):
    mixed = dataclasses.replace(settings, interpolation=(0.0, 0.5))
    whole = train_encoder(tiny_corpus(), mixed, tmp_path / "whole")

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(stage1, "export_encoder", killed)
        with pytest.raises(KeyboardInterrupt):
            train_encoder(tiny_corpus(), mixed, tmp_path / "killed")
    again = train_encoder(tiny_corpus(), mixed, tmp_path / "killed")
    assert again.metrics == whole.metrics
    first, second = (
        load_file(each.sentence_transformers / "model.safetensors") for each in (whole, again)
    )
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_shares_outside_0_to_1_are_refused():
    with pytest.raises(InputError, match=r"interpolation is \(0.5, 1.5\)"):
        EncoderTraining(interpolation=(0.5, 1.5))
