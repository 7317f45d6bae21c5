import math
import random

import pytest

from sat_retriever import EmptyInputError, InputError
from sat_retriever.datasets.metrics import Difference, paired_bootstrap
from sat_retriever.datasets.metrics.comparison import difference
from sat_retriever.datasets.metrics.rows import PER_QUERY


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


def test_clusters_of_questions_are_resampled_together_at_the_given_level():
    first, second = {None: rows(1, 1, 20, 20)}, {None: rows(2, 2, 2, 2)}
    values = [[PER_QUERY["MRR@5"](row) for row in side[None]] for side in (first, second)]
    clusters = ["a", "a", "b", "b"]
    wanted = paired_bootstrap(*values, clusters, level=0.8)
    assert difference(first, second, "MRR@5", clusters=clusters, level=0.8) == wanted
    assert wanted != paired_bootstrap(*values, level=0.8)


def test_the_ends_of_an_interval_are_the_quantiles_of_its_level():
    first, second = [0.1, 0.9, 0.4, 0.7], [0.2, 0.3, 0.5, 0.1]
    narrow, usual = (paired_bootstrap(first, second, level=level) for level in (0.5, 0.95))
    assert usual.low < narrow.low < narrow.mean < narrow.high < usual.high


def test_lists_of_unequal_length_are_errors():
    with pytest.raises(InputError, match="1 scores against 2"):
        paired_bootstrap([1.0], [1.0, 0.0])


def test_bootstrap_of_clusters_keeps_the_rows_of_a_query_together():
    # One query, three seeds: there is nothing to resample, so the interval is a point.
    got = paired_bootstrap([1.0, 0.5, 0.0], [0.0, 0.0, 0.0], ["q", "q", "q"])
    assert got == Difference(0.5, 0.5, 0.5)
    spread = paired_bootstrap([1.0, 0.5, 0.0], [0.0, 0.0, 0.0])
    assert spread.low < 0.5 < spread.high


def test_bootstrap_interval_matches_the_normal_approximation():
    rng = random.Random(0)
    gaps = [rng.gauss(0.1, 1.0) for _ in range(1_000)]
    got = paired_bootstrap(gaps, [0.0] * 1_000)
    middle = sum(gaps) / 1_000
    spread = math.sqrt(sum((gap - middle) ** 2 for gap in gaps)) / 1_000
    assert got.mean == pytest.approx(middle)
    assert got.low == pytest.approx(middle - 1.96 * spread, abs=0.006)
    assert got.high == pytest.approx(middle + 1.96 * spread, abs=0.006)


def test_bootstrap_is_repeatable_and_depends_on_its_seed():
    first, second = [0.1, 0.9, 0.4, 0.7], [0.2, 0.3, 0.5, 0.1]
    again = paired_bootstrap(first, second, seed=1)
    assert paired_bootstrap(first, second, seed=1) == again
    assert paired_bootstrap(first, second, seed=2, resamples=50) != (
        paired_bootstrap(first, second, seed=3, resamples=50)
    )


def test_bootstrap_without_rows_or_draws_is_an_error():
    with pytest.raises(EmptyInputError):
        paired_bootstrap([], [])
    with pytest.raises(InputError, match="resamples"):
        paired_bootstrap([1.0], [0.0], resamples=0)
