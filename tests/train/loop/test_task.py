import numpy as np
import pytest

from sat_retriever.train.loop.task import batches


def test_every_epoch_has_each_query_once():
    for epoch in (1, 2, 3):
        order = np.concatenate(batches(23, 5, epoch, seed=42))
        assert sorted(order.tolist()) == list(range(23))


def test_the_last_batch_is_the_shorter_one():
    assert [len(batch) for batch in batches(23, 5, 1, seed=42)] == [5, 5, 5, 5, 3]


def test_the_order_follows_from_seed_and_epoch_alone():
    def order(epoch: int, seed: int) -> list[int]:
        return np.concatenate(batches(50, 8, epoch, seed)).tolist()

    assert order(1, 42) == order(1, 42)
    assert order(1, 42) != order(2, 42)
    assert order(1, 42) != order(1, 43)


@pytest.mark.parametrize("size", [1, 8])
def test_few_queries_are_one_batch(size):
    assert len(batches(size, 8, 1, 0)) == 1
