"""How much a list looks like the learnt ones."""

import numpy as np
import pytest

from sat_retriever.rank.features.model import Familiarity, described

WIDTH = 20


def lists(count, *, seed, shift=0.0):
    draw = np.random.default_rng(seed)
    return [
        (draw.normal(size=(30, WIDTH)) + draw.normal(size=WIDTH) + shift).astype(np.float32)
        for _ in range(count)
    ]


@pytest.fixture(scope="module")
def learnt():
    return Familiarity.of(lists(400, seed=1))


def test_most_lists_of_the_same_kind_are_familiar_and_others_are_strange(learnt):
    same = [learnt.share(each) for each in lists(100, seed=2)]
    assert np.mean(same) > 0.8
    assert [learnt.share(each) for each in lists(20, seed=3, shift=8.0)] == [0.0] * 20


def test_a_list_grows_stranger_as_it_moves_away(learnt):
    base = np.zeros((30, WIDTH), dtype=np.float32)  # in their middle
    moved = [learnt.share(base + np.float32(step)) for step in np.linspace(0, 8, 30)]
    assert moved == sorted(moved, reverse=True)
    assert (moved[0], moved[-1]) == (1.0, 0.0)


def test_what_no_learnt_list_varies_in_counts_too():
    """A feature that was always the same, as that of indexes with contents, may tell all."""
    fixed = [np.concatenate([each, np.zeros((30, 1), "f4")], axis=1) for each in lists(400, seed=1)]
    learnt = Familiarity.of(fixed)
    changed = [each.copy() for each in fixed[:20]]
    for each in changed:
        each[:, -1] = 1.0
    assert [learnt.share(each) for each in changed] == [0.0] * 20


def test_arrays_hold_all_of_it(learnt):
    again = Familiarity.from_arrays(learnt.arrays())
    for each in lists(20, seed=5, shift=0.5):
        assert again.distances(described(each)) == learnt.distances(described(each))
        assert again.share(each) == pytest.approx(learnt.share(each), abs=1e-5)
