import dataclasses

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import sat_retriever.train.encoder.train as stage1
from sat_retriever.errors import InputError
from sat_retriever.train.encoder.encodertask import EncoderTask
from sat_retriever.train.encoder.train import train_encoder
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


def test_a_training_saves_and_reports_the_mixture(tmp_path, settings, no_export, monkeypatch):
    train_encoder(tiny_corpus(), settings, tmp_path / "plain")
    start = load_file(tmp_path / "plain" / "sentence-transformers" / "model.safetensors")
    begun = load_file(f"{settings.backbone}/model.safetensors")
    mixed = dataclasses.replace(settings, trained_share=0.5)
    real = EncoderTask.validate
    asked = []

    def liking_half(task, accelerator):  # the one at the end
        asked.append(1)
        found = dict(real(task, accelerator))
        return {**found, "NDCG@5": 2.0 if len(asked) == 4 else found["NDCG@5"]}

    monkeypatch.setattr(EncoderTask, "validate", liking_half)
    told = []
    trained = train_encoder(tiny_corpus(), mixed, tmp_path / "mixed", progress=told.append)
    assert len(asked) == 4  # before training, two epochs, the mixture
    assert (told[-1].doing, told[-1].step, told[-1].steps) == ("mixing", 0, 1)
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
    mixed = dataclasses.replace(settings, trained_share=0.5)
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


def test_a_share_outside_0_to_1_is_refused():
    with pytest.raises(InputError, match=r"trained_share is 1.5"):
        EncoderTraining(trained_share=1.5)
