"""The learnt walk: it starts from the order of the list, and learns whom to follow."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from benchmarks.related.learnt import (
    Learning,
    learnt,
    likelihoods,
    logits_of,
    measured,
    rows_of,
    set_share,
)
from benchmarks.related.lists import EVERY, Listed, own_weight
from benchmarks.related.pulls import PullScorer, PullShape, inputs, loss
from benchmarks.related.scoring import Searched
from sat_retriever.datasets.labels import Query
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.train.reranker.candidatesets import candidate_sets
from tests.fakes import HashedEncoder

TOPICS = 12
SETTINGS = replace(EVERY, candidates=30, dense_weight=0.5)


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    """Topics, each with a sheet that names it and one without its name that a key joins to it.

    Every question asks for both, and shares a word with a sheet of another topic.
    """
    records, links, queries = [], [], []
    for n in range(TOPICS):
        main, key, other = f"m{n}", f"k{n}", f"o{n}"
        records += [
            SheetRecord(main, f"topic{n}", f"book{n}", columns=(Column(f"word{n}"),)),
            SheetRecord(key, f"ledger{n * 7}", f"shelf{n}", columns=(Column(f"code{n * 13}"),)),
            SheetRecord(other, f"word{n} list", f"paper{n}", columns=(Column(f"misc{n}"),)),
        ]
        links.append(Link(main, key, "formula_reference"))
        queries.append(Query(f"topic{n} word{n}", (main, key)))
    folder = tmp_path_factory.mktemp("pulls")
    with SheetIndex.create(folder / "a.sat", HashedEncoder(256)) as index:
        index.add_records(records, links, find_links=False)
        sets = candidate_sets(index, queries, SETTINGS)
    return Listed(sets, tuple(range(TOPICS)))


def scorer(listed, shape):
    return PullScorer(shape, listed.sets.queries.shape[1]).eval()


@pytest.mark.parametrize("shape", [PullShape(), PullShape(asked=0), PullShape(linked=False)])
def test_it_starts_from_the_order_of_the_list(listed, shape):
    sets = listed.sets
    logits = logits_of(scorer(listed, shape), sets)
    held = sets.rows >= 0
    np.testing.assert_allclose(logits[held], 10 * sets.scores[held], rtol=1e-5)


def test_sheets_without_a_relation_are_not_pulled(listed):
    sets = listed.sets
    made = scorer(listed, PullShape())
    torch.nn.init.ones_(made.pull[-1].bias)
    pulled = logits_of(made, sets) - 10 * sets.scores
    given = inputs(sets, np.arange(len(sets)))
    other = ~np.eye(pulled.shape[1], dtype=bool)[:, :8]
    related = (given["relations"].numpy()[:, :5] > 0).any(axis=1) & other
    expected = related.sum(axis=-1)
    held = sets.rows >= 0
    np.testing.assert_allclose(pulled[held], expected[held], atol=1e-4)
    assert 0 < expected[held].sum() < held.sum()


def test_pulls_learn_what_a_sheet_alone_cannot_know(listed):
    teaching = {"toy": listed}
    found = {}
    for linked in (True, False):
        learning = Learning(PullShape(linked=linked, asked=0), epochs=60, batch_size=12, rate=0.01)
        made = learnt(teaching, learning, 7)
        share = set_share(made, teaching)
        found[linked] = measured("toy", "pulls", 7, made, share, listed).metrics
    assert found[True]["AllRelevant@5"] == 1
    assert found[True]["NDCG@10"] > found[False]["NDCG@10"]
    assert found[True]["F1_of_set"] > found[False]["F1_of_set"]
    assert found[True]["walk"] == found[False]["walk"]


def test_the_same_seed_learns_the_same(listed):
    learning = Learning(PullShape(), epochs=2, batch_size=5)
    one, again, other = (
        logits_of(learnt({"toy": listed}, learning, seed), listed.sets) for seed in (1, 1, 2)
    )
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_an_incomplete_answer_costs_more_the_further_its_worst_sheet_is_behind():
    mask = torch.ones(1, 8, dtype=torch.bool)
    relevant = torch.tensor([[True, True, *[False] * 6]])
    near = torch.tensor([[5.0, 1.0, 2.0, 2.0, 2.0, 2.0, 0.0, 0.0]])
    far = torch.tensor([[5.0, 0.0, 2.0, 2.0, 2.0, 2.0, 0.0, 0.0]])
    ahead = [
        float(loss(logits, mask, relevant, 1.0) - loss(logits, mask, relevant, 0.0))
        for logits in (near, far)
    ]
    # the fourth irrelevant one has to be passed; all eight stand among the first ten anyway
    by_hand = [np.log1p(np.exp(2.0 - worst)) for worst in (1.0, 0.0)]
    assert ahead == pytest.approx(by_hand, rel=1e-5)


def test_a_complete_answer_holds_the_sheets_that_are_nearly_as_likely(listed):
    sets = listed.sets
    scores = likelihoods(logits_of(scorer(listed, PullShape()), sets), sets)
    assert scores.max(axis=1).tolist() == [1.0] * TOPICS
    one, most = rows_of(scores, sets, 1.0), rows_of(scores, sets, 1e-9)
    assert all(1 <= row["set"] < 3 for row in one)
    assert all(row["set"] == 20 for row in most)
    assert [row["hits"] for row in one] == [row["hits"] for row in most]


def test_lists_are_read_as_they_were_written(listed, tmp_path):
    kept = Listed(listed.sets, tuple((n, "a") for n in range(TOPICS)))
    kept.write(tmp_path / "lists" / "a.npz")
    again = Listed.read(tmp_path / "lists" / "a.npz")
    assert again.sets.fingerprint == listed.sets.fingerprint
    assert again.answers == kept.answers


def test_lists_have_the_share_of_the_cosine_that_a_search_has(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder(), dense_weight=0.63) as index:
        index.add_records([SheetRecord("a", "topic")], find_links=False)
        assert own_weight([Searched(index, [Query("topic", ("a",))] * 3)]) == 0.65
