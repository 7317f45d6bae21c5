"""Seconds of training steps, of a tiny transformer on a tiny corpus."""

from __future__ import annotations

import warnings
from dataclasses import replace

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")


from benchmarks.speed import train_speed
from sat_retriever.datasets.splits import standard_dataset
from tests.tiny_transformer import save_tiny
from tests.training_corpus import write_corpus


def test_every_variant_is_timed_step_by_step_beside_the_first(tmp_path, monkeypatch):
    tiny = replace(
        train_speed.PLAIN, backbone=str(save_tiny(tmp_path / "tiny")), trained_layers=1,
        max_length=16, batch_size=4, negative_depth=5,
    )  # fmt: skip
    fast = replace(tiny, precision="bf16")
    monkeypatch.setattr(train_speed, "VARIANTS", {"fp32": tiny, "bf16": fast})
    dataset = standard_dataset(write_corpus(tmp_path / "corpus"))
    first, second = train_speed.measure(dataset, rounds=2, steps=2)
    assert (first.method, second.method) == ("fp32", "bf16")
    for each in (first, second):
        assert (each.metrics["steps"], each.metrics["questions"]) == (4, 4)
        seconds = [each.metrics[name] for name in ("fastest_s", "step_s", "slowest_s")]
        assert seconds == sorted(seconds)
    assert first.metrics["times_fp32"] == 1
