"""Relevant sheets marked among some sheets are those of a table of all sheets."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    torch = pytest.importorskip("torch", reason="torch is not installed")

from sat_retriever.train.encoder.contrastive import Relevance

CPU = torch.device("cpu")


def test_the_marks_are_those_of_a_slow_loop():
    rng = np.random.default_rng(0)
    positives = [rng.choice(60, rng.integers(1, 9), replace=False).tolist() for _ in range(30)]
    known = Relevance(positives)
    for size in (1, 7, 60):
        items = rng.choice(30, 12)  # a question may be there twice
        sheets = np.sort(rng.choice(60, size, replace=False))
        slow = [[sheet in positives[item] for sheet in sheets] for item in items]
        assert known.among(items, sheets, CPU).tolist() == slow


def test_among_no_sheets_nothing_is_relevant():
    found = Relevance([[1], [2]]).among(np.array([0, 1, 1]), np.array([], dtype=np.int64), CPU)
    assert found.shape == (3, 0)
