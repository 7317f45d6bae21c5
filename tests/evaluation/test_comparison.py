import pytest

from sat_retriever.errors import EmptyInputError
from sat_retriever.evaluation.comparison import difference


def rows(*ranks):
    """Questions 0, 1, …, each with one relevant sheet at a rank."""
    return [{"query": n, "relevant": 1, "hits": [rank]} for n, rank in enumerate(ranks)]


def test_the_seeds_of_a_question_are_one_cluster_of_the_bootstrap():
    first = {seed: rows(1, 1, 1, 20) for seed in (42, 43, 44)}
    second = {seed: rows(1, 1, 1, 1) for seed in (42, 43, 44)}
    once = difference({42: first[42]}, {42: second[42]})
    thrice = difference(first, second)
    assert once.mean == thrice.mean == -0.25
    assert (thrice.low, thrice.high) == (once.low, once.high)


def test_a_method_without_seed_stands_beside_each_seed_of_another():
    untrained = {None: rows(2, 1)}
    better = {42: rows(1, 1), 43: rows(2, 1)}
    gap = 1 - 1 / 1.584962500721156  # of rank 1 to rank 2, in half of the rows once
    assert difference(better, untrained).mean == pytest.approx(gap / 4)
    assert difference(untrained, better).mean == pytest.approx(-gap / 4)


def test_seeds_that_only_one_side_has_are_left_out():
    assert difference({42: rows(1), 43: rows(20)}, {42: rows(1)}).mean == 0.0
    with pytest.raises(EmptyInputError, match="no training seed in common"):
        difference({43: rows(1)}, {42: rows(1)})


def test_another_metric_is_compared_by_its_name():
    assert difference({None: rows(2)}, {None: rows(4)}, "MRR@5").mean == 0.25
