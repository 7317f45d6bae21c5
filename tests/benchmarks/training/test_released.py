"""The loop with the released error is the library's in all but where an epoch ends."""

import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")

from safetensors.numpy import load_file

from benchmarks.training import released as train_released
from benchmarks.training.step import epochs_of
from sat_retriever.train.encoder import train as stage1
from sat_retriever.train.encoder.train import train_encoder
from sat_retriever.train.loop.runfolder import RunFolder
from sat_retriever.train.settings import EncoderTraining
from tests.tiny_transformer import save_tiny, tiny_corpus

WEIGHTS = "sentence-transformers/model.safetensors"


@pytest.fixture
def settings(tmp_path, monkeypatch):
    for module in (stage1, train_released):
        monkeypatch.setattr(module, "export_encoder", lambda source, target, **said: None)
    return EncoderTraining(
        backbone=str(save_tiny(tmp_path / "source")), trained_layers=None, epochs=2, batch_size=8,
        learning_rate=3e-3, loss="single_positive", mining="fixed", negative_depth=1,
    )  # fmt: skip


def test_without_the_stop_it_is_the_library_bit_for_bit(settings, tmp_path):
    train_encoder(tiny_corpus(), settings, tmp_path / "library")
    theirs = epochs_of(RunFolder((tmp_path / "library").absolute(), main=False).metrics())
    ours = train_released.train_stopping(tiny_corpus(), settings, tmp_path / "own", stops=False)
    first, second = (load_file(tmp_path / name / WEIGHTS) for name in ("library", "own"))
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert ours["steps"] == theirs["steps"] == [4, 4]
    assert ours["best_epoch"] == theirs["best_epoch"]
    assert ours["best"] == theirs["best"]


def test_an_epoch_ends_at_a_question_whose_nearest_sheets_are_all_relevant(settings, tmp_path):
    whole = train_released.train_stopping(tiny_corpus(), settings, tmp_path / "own", stops=False)
    ended = train_released.train_stopping(tiny_corpus(), settings, tmp_path / "ended")
    assert sum(ended["steps"]) < sum(whole["steps"])


def test_the_batch_with_such_a_question_and_all_after_it_are_left_out():
    negatives = np.array([[7, 8], [8, -1], [-1, -1], [9, 9], [5, 6]])
    batches = [np.array([3, 1]), np.array([0]), np.array([4, 2]), np.array([0])]
    kept = [batch.tolist() for batch in train_released.until_odd(batches, negatives)]
    assert kept == [[3, 1], [0]]
