"""The same model with other last bits, and another model."""

import numpy as np
import pytest

from sat_retriever.encoder.embedder import ALIKE, likeness, packed


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def probe():
    return unit(np.random.default_rng(1).normal(size=(2, 1024)))


def test_the_noise_of_another_machine_is_no_other_model(probe):
    noise = np.random.default_rng(2).normal(size=probe.shape, scale=3e-4)
    assert likeness(packed(probe), unit(probe + noise)) >= ALIKE


def test_one_changed_vector_of_two_is_another_model(probe):
    other = np.stack([probe[0], unit(np.random.default_rng(3).normal(size=(1, 1024)))[0]])
    assert likeness(packed(probe), other) < 0.5
    assert likeness(packed(probe), probe[:, :512]) == 0.0


def test_what_was_stored_damaged_is_refused(probe):
    with pytest.raises(ValueError):
        likeness(packed(probe)[:-3], probe)
