"""The gated graph over features of lists: it starts from its base scorer, and what it hears."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")

from benchmarks.related import attempt
from benchmarks.related.gated import GatedNetwork, Learning, base_of, fit, logits_of, over
from benchmarks.related.graphs import GRAPHS
from benchmarks.related.lists import Listed
from benchmarks.tables.graph import attempts_table, graphs_table
from sat_retriever.rank.features.features import FEATURES, RELATIONS
from sat_retriever.train.reranker.featurelists import FeatureLists

K, RELEVANT, LINKED = 12, 8, 2
COLUMN = list(FEATURES).index("rows")
TOLD = Learning(rate=0.02, epochs=15, batch_size=16)


def lists(count, seed):
    """Lists whose relevant sheet is the one that a formula joins to the sheet with many rows.

    Every list has two linked pairs, so neither the link nor the feature tells it alone.
    """
    draw = np.random.default_rng(seed)
    features = draw.normal(0, 0.1, (count, K, len(FEATURES))).astype(np.float32)
    relations = np.zeros((count, K, 10, len(RELATIONS)), dtype=np.float16)
    relevant = np.zeros((count, K), dtype=bool)
    for row in range(count):
        speaking = draw.permutation(5)[:2]
        heard = 6 + draw.permutation(6)[:2]
        relations[row, heard, speaking, RELATIONS.index("formula_reference source")] = 1
        features[row, speaking[0], COLUMN] = 2
        relevant[row, heard[0]] = True
    scores = np.tile(np.linspace(0.6, 0.5, K, dtype=np.float32), (count, 1))
    return FeatureLists(
        "encoder", "texts", features, relations, scores, np.ones((count, K), dtype=bool), relevant,
        np.ones(count, dtype=np.int64), np.array(["made"] * count),
    )  # fmt: skip


@pytest.fixture(scope="module")
def taught():
    return lists(160, 0)


@pytest.fixture(scope="module")
def asked():
    return lists(40, 1)


@pytest.fixture
def base(taught):
    """A base scorer with weights of its own, as after a training."""
    made = base_of(taught, 3)
    for layers in (made.own, made.pull):
        torch.nn.init.normal_(layers[-1].weight, std=0.1)
    return made.eval()


def opened(base, graph):
    torch.manual_seed(5)
    made = GatedNetwork(base, graph).eval()
    made.opened.data.fill_(8.0 / graph.speed)  # the gate after the sigmoid is .98
    return made


@pytest.mark.parametrize("name", GRAPHS)
def test_a_closed_gate_leaves_the_order_of_the_base_scorer(taught, base, name):
    made = GatedNetwork(base, GRAPHS[name])
    made.opened.data.fill_(-50.0 / GRAPHS[name].speed)
    known = over(base, taught)
    np.testing.assert_allclose(logits_of(made, known), known.scores, atol=1e-5)
    assert GatedNetwork(base, GRAPHS[name]).gates().tolist() == pytest.approx(
        [1 / (1 + np.exp(4))] * len(made.opened)
    )


def test_with_a_gate_for_each_relation_a_sheet_without_links_keeps_its_score(taught, base):
    known = over(base, taught)
    moved = logits_of(opened(base, GRAPHS["graph_of_pulls"]), known) - known.scores
    linked = taught.relations.any(axis=(2, 3))
    assert np.abs(moved[~linked]).max() < 1e-5
    assert np.abs(moved[linked]).min() > 0


def test_a_message_depends_on_the_sheet_that_speaks_and_only_over_a_link(taught, base):
    other = replace(taught, features=taught.features.copy())
    other.features[:, 1:5] += 1  # sheets that speak; the first also says what is asked
    for name, hears in (("graph", True), ("unlinked", False)):
        made = opened(base, GRAPHS[name])
        one, two = (logits_of(made, over(base, each)) for each in (taught, other))
        one, two = one - logits_of(base, taught), two - logits_of(base, other)
        heard = taught.relations[:, 6:].any(axis=(2, 3))
        assert (np.abs(one - two)[:, 6:][heard].max() > 1e-4) == hears
        assert np.abs(one - two)[:, 6:][~heard].max() < 1e-4


def test_a_graph_learns_what_a_sheet_alone_cannot_know_and_leaves_its_base_as_it_is(taught, asked):
    judged = {"made": asked}
    base = base_of(taught, 3)
    fit(base, taught_without(taught), judged, replace(TOLD, epochs=2), 3)
    before = {name: each.clone() for name, each in base.state_dict().items()}
    found = {}
    for name in ("graph_alone", "unlinked"):
        torch.manual_seed(3)
        made = GatedNetwork(base, GRAPHS[name])
        best = fit(made, over(base, taught), {"made": over(base, asked)}, TOLD, 3)
        values = logits_of(made, over(base, asked))
        found[name] = (values.argmax(axis=1) == asked.relevant.argmax(axis=1)).mean()
    assert found["graph_alone"] > 0.8 > found["unlinked"], best
    assert all(torch.equal(before[name], each) for name, each in base.state_dict().items())


def taught_without(lists):
    return replace(lists, relations=lists.relations * 0)


def test_each_row_is_trained_once_and_measured_on_every_set(taught, asked, tmp_path, monkeypatch):
    monkeypatch.setattr(attempt, "OF_BASES", Learning(epochs=1))
    monkeypatch.setattr(attempt, "Learning", lambda: Learning(epochs=1))
    sets = {"made_joins": Listed(asked, [n // 2 for n in range(40)])}

    def run():
        rows = ("own", "pulls", "graph")
        return list(attempt.asked(rows, {"a": Listed(taught, ())}, sets, sets, "test", 7, tmp_path))

    found = run()
    assert [each.method for each in found] == ["own", "pulls", "graph"]
    assert found[0].metrics["answers"] == 20
    assert [row["answer"] for row in found[0].per_query[:4]] == [0, 0, 1, 1]
    monkeypatch.setattr(attempt, "fit", None)
    assert [each.per_query for each in run()] == [each.per_query for each in found]
    shipped = attempt.measured("shipped", "made_joins", sets["made_joins"], asked.scores, "test")
    files = [
        {"method": each.method, "dataset": each.dataset, "split": each.split, "seed": each.seed}
        | {"metrics": each.metrics, "per_query": each.per_query}
        for each in (shipped, *found)
    ]
    assert graphs_table(files).count("made workbooks, joins") == 4
    assert "made workbooks, joins, test | 40 | 1 |" in attempts_table(files, [], [], [])
