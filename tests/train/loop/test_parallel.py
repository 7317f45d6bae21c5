"""Inputs made ahead of their step: in order, no further ahead than is allowed, ended at once."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest

from sat_retriever.train.loop.parallel import depth_on, made_ahead


@pytest.mark.parametrize("depth", [0, 1, 2, 50])
def test_results_come_in_the_order_of_the_items(depth):
    assert list(made_ahead(lambda n: n * n, range(20), depth)) == [n * n for n in range(20)]
    assert list(made_ahead(str, [], depth)) == []


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_no_more_is_made_ahead_than_is_allowed(depth):
    made = []
    with closing(made_ahead(made.append, range(20), depth)) as results:
        for number, _ in enumerate(results):
            assert len(made) <= number + 1 + depth


def test_another_thread_makes_them_on_a_gpu_and_none_does_on_a_processor():
    assert depth_on("cpu") == 0
    assert depth_on("cuda") > 0
    here = threading.get_ident()
    assert set(made_ahead(lambda _: threading.get_ident(), range(3), 0)) == {here}
    assert here not in set(made_ahead(lambda _: threading.get_ident(), range(3), 2))


@pytest.mark.parametrize("depth", [0, 2])
def test_an_error_is_raised_at_its_item(depth):
    results = made_ahead(lambda n: 1 // (3 - n), range(9), depth)
    assert [next(results) for _ in range(3)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_a_loop_that_ends_early_leaves_no_thread_behind():
    before = threading.active_count()
    with closing(made_ahead(str, range(1000), 2)) as results:
        assert next(results) == "0"
    assert threading.active_count() == before
