"""Estimates from sketches against the sets they were made of."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.links.join.sketches import (
    BANDS,
    ROWS,
    bands,
    containment,
    pack,
    signature,
    small_numbers,
    unpack,
    value_hash,
)
from sat_retriever.records.structure import SKETCH_SIZE


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


def by_hand(hashes):
    """A signature from the formulas, number by number."""
    top = 2**32
    drawn = np.random.RandomState(1)
    halves = drawn.randint(0, top // 2, BANDS * ROWS, dtype=np.uint32).tolist()
    shifts = drawn.randint(0, top, BANDS * ROWS, dtype=np.uint32).tolist()
    mixed = []
    for number in hashes:
        half = (number ^ number >> 16) * 0x85EBCA6B % top
        whole = (half ^ half >> 13) * 0xC2B2AE35 % top
        mixed.append(whole ^ whole >> 16)
    return [
        min(((2 * half + 1) * number + shift) % top for number in mixed)
        for half, shift in zip(halves, shifts, strict=True)
    ]


@given(st.sets(st.integers(0, 2**32 - 1), min_size=1, max_size=40))
def test_a_signature_is_that_of_the_formulas_whatever_the_order(hashes):
    assert signature(tuple(hashes)).tolist() == by_hand(hashes)
    assert signature(sorted(hashes)).tolist() == signature(sorted(hashes)[::-1]).tolist()


def test_signatures_agree_as_often_as_the_sets_share_values():
    names = random.Random(3)
    agreed = []
    for _ in range(200):
        hashes = [names.getrandbits(32) for _ in range(300)]
        agreed.append(np.mean(signature(hashes[:200]) == signature(hashes[100:])))
    assert abs(np.mean(agreed) - 1 / 3) < 4 * (2 / 9 / (200 * 16)) ** 0.5


def test_bands_stay_those_of_indexes_made_before():
    """Made by datasketch 2.0.0: `MinHash(16)`, `MinHashLSH(threshold=0.3, num_perm=16)`."""
    assert bands(sketch(map(str, range(500)))) == (
        *("0a8uONUGH", "1F_dctbJJ", "2ydPfkAX4", "3ks5LsIao"),
        *("43yWDBi1R", "5OSWfMIh-", "6y-RxD2d5", "798tiAIng"),
    )


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
