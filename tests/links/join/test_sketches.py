"""Estimates from sketches against the sets they were made of."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.links.join.sketches import (
    bands,
    containment,
    pack,
    small_numbers,
    unpack,
    value_hash,
)
from sat_retriever.structure import SKETCH_SIZE


def sketch(values, size=SKETCH_SIZE):
    return tuple(sorted(map(value_hash, values)))[:size]


def share(own, other, size=SKETCH_SIZE):
    return containment(sketch(own, size), sketch(other, size), len(other))


@given(st.sets(st.integers(0, 60).map(str)), st.sets(st.integers(0, 60).map(str)))
def test_small_sets_are_compared_exactly(own, other):
    found, known = share(own, other)
    if own and other:
        assert known == len(own)
        assert found == len(own & other) / len(own)
    else:
        assert (found, known) == (0.0, 0)


@pytest.mark.parametrize("true_share", [0.0, 0.25, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(("own_size", "other_size"), [(1000, 1000), (3000, 1500), (500, 2000)])
def test_large_sets_are_estimated_within_the_error_of_the_sketch(own_size, other_size, true_share):
    names = random.Random(own_size)
    universe = [f"{names.random():.12f}" for _ in range(own_size + other_size)]
    both = min(int(true_share * own_size), other_size)
    own = universe[:own_size]
    other = universe[own_size - both : own_size - both + other_size]
    found, known = share(own, other)
    assert known >= 25
    error = 4 * (0.25 / known) ** 0.5
    assert abs(found - both / own_size) <= (0 if both in (0, own_size) else error)


def test_packed_sketches_come_back_and_damaged_ones_are_empty():
    hashes = sketch(map(str, range(300)))
    assert unpack(pack(hashes, 64)) == hashes[:64]
    assert unpack("not base64!") == unpack("") == ()


def test_like_columns_share_a_band_and_unlike_ones_do_not():
    words = [f"name {n}" for n in range(1000)]
    hits = dict.fromkeys((0.0, 0.5, 0.9), 0)
    for jaccard in hits:
        for seed in range(40):
            random.Random(seed).shuffle(words)
            common = int(400 * jaccard / (1 + jaccard))
            one, other = words[:200], words[200 - common : 400 - common]
            hits[jaccard] += bool(set(bands(sketch(one))) & set(bands(sketch(other))))
    assert hits[0.0] == 0
    assert hits[0.5] >= 28
    assert hits[0.9] == 40


def test_bands_are_few_short_and_always_the_same():
    found = bands(sketch(map(str, range(500))))
    assert len(found) <= 8
    assert all(len(band) <= 10 for band in found)
    assert found == bands(sketch(map(str, range(500))))
    assert bands(()) == ()


def test_counting_numbers_are_small_and_codes_are_not():
    assert small_numbers(sketch(map(str, range(1, 5000))))
    assert small_numbers(sketch(map(str, range(1990, 2025))))
    assert not small_numbers(sketch(str(n * 7919) for n in range(100, 2000)))
    assert not small_numbers(sketch(f"A{n}" for n in range(50)))
