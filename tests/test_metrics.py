import math
import random

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import metrics
from sat_retriever.errors import EmptyInputError, InputError

SHEETS = [f"s{number}" for number in range(30)]


def slow_ndcg(ranking, positives, k):
    gain = 0.0
    for rank in range(k):
        if rank < len(ranking) and ranking[rank] in positives:
            gain += 1 / math.log2(rank + 2)
    ideal = 0.0
    for rank in range(min(k, len(positives))):
        ideal += 1 / math.log2(rank + 2)
    return gain / ideal


def random_runs(seed, queries=40):
    rng = random.Random(seed)
    for _ in range(queries):
        yield rng.sample(SHEETS, rng.randint(1, 30)), set(rng.sample(SHEETS, rng.randint(1, 12)))


@pytest.mark.parametrize("k", [1, 5, 10, 50])
def test_metrics_agree_with_ir_measures(k):
    runs = list(random_runs(seed=k))
    qrels = [
        ir_measures.Qrel(str(query), sheet, 1)
        for query, (_, gold) in enumerate(runs)
        for sheet in sorted(gold)
    ]
    scored = [
        ir_measures.ScoredDoc(str(query), sheet, -float(rank))
        for query, (ranking, _) in enumerate(runs)
        for rank, sheet in enumerate(ranking)
    ]
    theirs = {
        ir_measures.nDCG @ k: metrics.ndcg,
        ir_measures.R @ k: metrics.recall,
        ir_measures.Success @ k: metrics.hit,
        ir_measures.RR @ k: metrics.reciprocal_rank,
    }
    got = ir_measures.calc_aggregate(list(theirs), qrels, scored)
    for measure, ours in theirs.items():
        expected = metrics.mean([ours(ranking, gold, k) for ranking, gold in runs])
        assert got[measure] == pytest.approx(expected, abs=1e-9), measure


def test_plain_mrr_agrees_with_ir_measures():
    runs = list(random_runs(seed=7))
    qrels = [
        ir_measures.Qrel(str(query), sheet, 1)
        for query, (_, gold) in enumerate(runs)
        for sheet in sorted(gold)
    ]
    scored = [
        ir_measures.ScoredDoc(str(query), sheet, -float(rank))
        for query, (ranking, _) in enumerate(runs)
        for rank, sheet in enumerate(ranking)
    ]
    got = ir_measures.calc_aggregate([ir_measures.RR], qrels, scored)[ir_measures.RR]
    expected = metrics.mean([metrics.reciprocal_rank(ranking, gold) for ranking, gold in runs])
    assert got == pytest.approx(expected, abs=1e-9)


@given(
    ranking=st.lists(st.sampled_from(SHEETS), unique=True, max_size=30),
    positives=st.sets(st.sampled_from(SHEETS), min_size=1),
    k=st.integers(1, 40),
)
def test_ndcg_equals_a_loop_written_from_the_equation(ranking, positives, k):
    assert metrics.ndcg(ranking, positives, k) == pytest.approx(slow_ndcg(ranking, positives, k))


@given(
    ranking=st.lists(st.sampled_from(SHEETS), unique=True, max_size=30),
    positives=st.sets(st.sampled_from(SHEETS), min_size=1),
    k=st.integers(1, 40),
)
def test_every_metric_lies_between_zero_and_one_and_grows_with_k(ranking, positives, k):
    for metric in (metrics.recall, metrics.all_relevant, metrics.hit, metrics.reciprocal_rank):
        at_k, deeper = metric(ranking, positives, k), metric(ranking, positives, k + 1)
        assert 0 <= at_k <= deeper <= 1


def test_recall_is_not_capped_at_k():
    gold = {"a", "b", "c", "d", "e", "f"}
    assert metrics.recall(["a", "b", "c", "d", "e", "f"], gold, 5) == pytest.approx(5 / 6)


def test_ndcg_is_one_when_more_positives_than_ranks_fill_the_top():
    gold = {"a", "b", "c", "d", "e", "f"}
    assert metrics.ndcg(["f", "e", "d", "c", "b"], gold, 5) == pytest.approx(1.0)


def test_an_empty_ranking_scores_zero():
    for metric in (metrics.ndcg, metrics.recall, metrics.all_relevant, metrics.hit):
        assert metric([], {"a"}, 5) == 0.0
    assert metrics.reciprocal_rank([], {"a"}) == 0.0


def test_reciprocal_rank_beyond_k_is_zero():
    assert metrics.reciprocal_rank(["x", "y", "a"], {"a"}, 2) == 0.0
    assert metrics.reciprocal_rank(["x", "y", "a"], {"a"}) == pytest.approx(1 / 3)


def test_a_query_without_positives_is_an_error_that_says_so():
    with pytest.raises(EmptyInputError, match="no relevant sheet"):
        metrics.ndcg(["a"], set(), 5)


def test_a_sheet_ranked_twice_is_an_error_that_names_it():
    with pytest.raises(InputError, match="'b' stands twice"):
        metrics.recall(["a", "b", "b"], {"a"}, 5)


@pytest.mark.parametrize("metric", [metrics.ndcg, metrics.recall, metrics.hit])
def test_k_below_one_is_an_error(metric):
    with pytest.raises(InputError, match="at least 1, not 0"):
        metric(["a"], {"a"}, 0)


def test_hard_negative_rate_counts_only_queries_that_have_hard_negatives():
    rate = metrics.hard_negative_rate([["a", "b"], ["b"], ["c"], []], [{"b"}, {"b"}, set(), {"a"}])
    assert rate == pytest.approx(1 / 3)


def test_hard_negative_rate_is_none_where_it_is_undefined():
    assert metrics.hard_negative_rate([["a"]], [()]) is None
    assert metrics.hard_negative_rate([], []) is None


def test_lists_of_unequal_length_are_errors():
    with pytest.raises(InputError, match="1 rankings, but 2"):
        metrics.hard_negative_rate([["a"]], [set(), set()])
    with pytest.raises(InputError, match="1 candidate lists, but 0"):
        metrics.candidate_ceilings([["a"]], [])
    with pytest.raises(InputError, match="1 scores against 2"):
        metrics.paired_bootstrap([1.0], [1.0, 0.0])


def test_ceilings_of_two_queries_worked_out_by_hand():
    got = metrics.candidate_ceilings(
        [["a", "x", "b", "c"], ["x", "y"]], [{"a", "b", "c"}, {"q"}], depth=3, k=1
    )
    # first query: a and b of three within depth 3, one of them fits k = 1
    assert got.recall == pytest.approx((2 / 3 + 0) / 2)
    assert got.hit == 0.5
    assert got.all_relevant == 0.0
    assert got.oracle_recall == pytest.approx((1 / 3 + 0) / 2)


def test_bootstrap_of_clusters_keeps_the_rows_of_a_query_together():
    # One query, three seeds: there is nothing to resample, so the interval is a point.
    got = metrics.paired_bootstrap([1.0, 0.5, 0.0], [0.0, 0.0, 0.0], ["q", "q", "q"])
    assert got == metrics.Difference(0.5, 0.5, 0.5)
    spread = metrics.paired_bootstrap([1.0, 0.5, 0.0], [0.0, 0.0, 0.0])
    assert spread.low < 0.5 < spread.high


def test_bootstrap_interval_matches_the_normal_approximation():
    rng = random.Random(0)
    gaps = [rng.gauss(0.1, 1.0) for _ in range(1_000)]
    got = metrics.paired_bootstrap(gaps, [0.0] * 1_000)
    middle = sum(gaps) / 1_000
    spread = math.sqrt(sum((gap - middle) ** 2 for gap in gaps)) / 1_000
    assert got.mean == pytest.approx(middle)
    assert got.low == pytest.approx(middle - 1.96 * spread, abs=0.006)
    assert got.high == pytest.approx(middle + 1.96 * spread, abs=0.006)


def test_bootstrap_is_repeatable_and_depends_on_its_seed():
    first, second = [0.1, 0.9, 0.4, 0.7], [0.2, 0.3, 0.5, 0.1]
    again = metrics.paired_bootstrap(first, second, seed=1)
    assert metrics.paired_bootstrap(first, second, seed=1) == again
    assert metrics.paired_bootstrap(first, second, seed=2, resamples=50) != (
        metrics.paired_bootstrap(first, second, seed=3, resamples=50)
    )


def test_bootstrap_without_rows_or_draws_is_an_error():
    with pytest.raises(EmptyInputError):
        metrics.paired_bootstrap([], [])
    with pytest.raises(InputError, match="resamples"):
        metrics.paired_bootstrap([1.0], [0.0], resamples=0)
