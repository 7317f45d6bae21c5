import math
import random

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import EmptyInputError, InputError
from sat_retriever.datasets import metrics

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
