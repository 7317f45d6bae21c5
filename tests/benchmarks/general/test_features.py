"""The benchmark of the feature reranker, on made lists."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")

from benchmarks.general import features as benchmark
from benchmarks.general.card import RERANKER_CARD
from benchmarks.general.gains import GROUPS
from benchmarks.general.lists import ListCorpus, lists_of
from benchmarks.general.ship import ship
from sat_retriever.datasets.dataset import Dataset, Split
from sat_retriever.rank.features.features import FEATURES
from sat_retriever.rank.features.model import FeatureModel
from sat_retriever.train.settings import FeatureTraining
from tests.fakes import CountingEncoder
from tests.train import sheet_world
from tests.train.reranker.test_features import lists_where_a_feature_tells

COUNT = 200
USES = {"learnt": "taught", "chosen": "judged", "apart": "watched"}


@pytest.fixture(scope="module")
def lists():
    return {name: lists_where_a_feature_tells(COUNT, seed) for seed, name in enumerate(USES)}


@pytest.fixture(scope="module")
def found(lists, tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            benchmark, "FeatureTraining",
            lambda seed: FeatureTraining(seed=seed, epochs=4, batch_size=8, learning_rate=1e-2),
        )  # fmt: skip
        made = list(benchmark.results(USES, lists, (42, 43), runs, ablations=True))
    return runs, made


def test_every_row_is_measured_on_every_corpus_that_nothing_was_learnt_from(found):
    rows = {(each.method, each.dataset, each.seed) for each in found[1]}
    wanted = {
        (name, corpus, seed)
        for name in ("features", "features_unguarded")
        for corpus in ("chosen", "apart")
        for seed in (42, 43)
    } | {
        (f"without_{name}", use, seed)
        for name in GROUPS
        for use in ("judged", "watched")
        for seed in (42, 43)
    }
    assert rows == wanted | {("start", "chosen", None), ("start", "apart", None)}


def test_the_feature_that_tells_is_missed_where_its_group_is_left_out(found):
    of = {
        (each.method, each.dataset, each.seed): each.metrics["NDCG@10"] for each in found[1]
    }  # the number of columns tells
    assert of["features_unguarded", "chosen", 42] > of["start", "chosen", None]
    assert of["features_unguarded", "chosen", 42] > of["without_sheet", "judged", 42] + 0.1


def test_groups_name_features_by_their_beginnings(lists):
    for group, beginnings in GROUPS.items():
        for beginning in beginnings:
            assert any(name.startswith(beginning) for name in FEATURES), (group, beginning)
    assert not benchmark.without(lists["learnt"], "links").relations.any()
    assert not benchmark.without(lists["learnt"], "pulls").relations.any()
    assert (benchmark.without(lists["learnt"], "pulls").features == lists["learnt"].features).all()
    assert benchmark.without(lists["learnt"], "cosine").relations.any()
    kept = benchmark.without(lists["learnt"], "cosine").features
    gone = [number for number, name in enumerate(FEATURES) if name.startswith("cosine")]
    assert not kept[:, :, gone].any()
    assert np.delete(kept, gone, axis=2).any()


def test_a_package_has_the_reranker_and_a_card_with_every_figure(found, lists, tmp_path):
    runs, results = found
    made = benchmark.package(runs / "features.42", USES, lists, results)
    target = tmp_path / "general"
    (target / "encoder").mkdir(parents=True)
    (target / "README.md").write_text("of the encoder")
    for _ in range(2):
        ship(made, target)
    assert FeatureModel.load(target / "reranker").spec.encoder == "encoder"
    assert {each.name for each in target.iterdir()} == {
        "encoder", "reranker", "README.md", RERANKER_CARD
    }  # fmt: skip
    text = (target / RERANKER_CARD).read_text(encoding="utf-8")
    for name, use in USES.items():
        assert f"| {name} | {use} | {COUNT} |" in text
    first = next(each for each in results if each.dataset == "apart")
    assert f"| apart | {first.metrics['NDCG@10']:.3f} | " in text


def test_an_index_of_a_corpus_is_made_once(tmp_path):
    world = Dataset(
        "world", tuple(sheet_world.records()), tuple(sheet_world.queries()),
        links=tuple(sheet_world.links()), split=Split((0,), (1,)),
    )  # fmt: skip
    corpus = ListCorpus("world", world, world.queries, "taught")
    encoder = CountingEncoder(16)
    made = lists_of(corpus, encoder, tmp_path / "indexes")
    assert len(made) == 12
    assert len(list((tmp_path / "indexes").glob("*.sat"))) == 1
    assert lists_of(corpus, encoder, tmp_path / "indexes").fingerprint == made.fingerprint
