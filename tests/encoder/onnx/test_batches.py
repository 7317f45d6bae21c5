"""Texts of similar length share a padded batch: each once, within limits, little padding."""

import numpy as np
import pytest

from sat_retriever.encoder.onnx.session import BatchLimits, limits_on, similar_lengths


def lengths_and_sizes(limits: BatchLimits, seed: int = 0, most: int = 60):
    lengths = np.random.default_rng(seed).integers(1, most, 200).tolist()
    groups = similar_lengths(lengths, limits)
    assert sorted(place for group in groups for place in group) == list(range(200))
    return lengths, [[lengths[place] for place in group] for group in groups]


def test_batches_hold_texts_of_like_length_within_the_limit_each_once():
    lengths, sizes = lengths_and_sizes(BatchLimits(256))
    assert all(len(batch) * max(batch) <= 256 for batch in sizes)
    assert [n for batch in sizes for n in batch] == sorted(lengths)
    assert similar_lengths([9], BatchLimits(1)) == [[0]]  # too long for a batch: one of its own
    assert similar_lengths([], BatchLimits(256)) == []


def test_texts_of_equal_length_stay_in_their_order():
    assert similar_lengths([3, 3, 2, 3], BatchLimits(99)) == [[2, 0, 1, 3]]


def test_a_batch_that_is_large_enough_does_not_grow_into_padding():
    limits = BatchLimits(100_000, enough_pieces=500, least_filled=0.9)
    _, sizes = lengths_and_sizes(limits, most=256)
    assert len(sizes) > 1
    for batch in sizes:
        small = sum(batch[:-1]) < 500
        assert small or sum(batch) >= 0.9 * len(batch) * max(batch)


def test_a_batch_that_is_too_small_for_a_gpu_grows_whatever_the_padding():
    limits = BatchLimits(100_000, enough_pieces=100_000, least_filled=1.0)
    assert len(lengths_and_sizes(limits)[1]) == 1


@pytest.mark.parametrize(("kind", "like"), [("cpu", "cpu"), ("mps", "cpu"), ("cuda", "cuda")])
def test_any_device_but_cuda_has_the_batches_of_a_processor(kind, like):
    assert limits_on(kind) == limits_on(like)
    assert (limits_on(kind) == BatchLimits(1024)) == (like == "cpu")
