"""The feature reranker from lists to a folder that ranks without torch."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")

from sat_retriever.errors import InputError, TrainingError
from sat_retriever.rank.features.features import FEATURES, RELATIONS
from sat_retriever.rank.features.model import FeatureModel
from sat_retriever.train.reranker.featurelists import FeatureLists
from sat_retriever.train.reranker.features import list_losses
from sat_retriever.train.reranker.train import train_reranker
from sat_retriever.train.settings import FeatureTraining

COLUMN = list(FEATURES).index("columns")  # in these lists it tells the relevant sheet
SETTINGS = FeatureTraining(epochs=3, batch_size=8, learning_rate=1e-2)


def lists_where_a_feature_tells(count: int, seed: int, k: int = 6, linked: int = 3) -> FeatureLists:
    """Lists whose relevant candidate is second by score, and has the highest of one feature."""
    draw = np.random.default_rng(seed)
    features = draw.normal(size=(count, k, len(FEATURES))).astype(np.float32)
    relevant = np.zeros((count, k), dtype=bool)
    relevant[:, 1] = True
    features[:, :, COLUMN] = relevant
    scores = np.tile(np.linspace(0.6, 0.5, k, dtype=np.float32), (count, 1))
    mask = np.ones((count, k), dtype=bool)
    mask[::2, -1] = False  # padding
    relations = np.zeros((count, k, 10, len(RELATIONS)), dtype=np.float16)
    relations[:, linked, 0, 0] = 1  # to the first, which is not relevant
    return FeatureLists(
        "encoder", "texts", features * mask[..., None], relations, scores * mask, mask, relevant,
        np.ones(count, dtype=np.int64), np.array(["made"] * count),
    )  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Sums come in one order, so that weights can be compared bit for bit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def data():
    return lists_where_a_feature_tells(160, 0), lists_where_a_feature_tells(40, 1)


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    return train_reranker(*data, SETTINGS, tmp_path_factory.mktemp("run") / "run")


def values_of(lists, model, *, guarded):
    values = lists.scores.copy()
    for row, (inputs, mask) in enumerate(zip(lists.inputs(), lists.mask, strict=True)):
        values[row, mask] += model.moves(inputs, guarded=guarded)
    return values


def test_it_learns_what_tells_the_relevant_sheet(data, trained):
    assert trained.best_epoch > 0
    assert trained.metrics["NDCG@5"] == trained.metrics["NDCG@5 (made)"]
    _, judged = data
    model = FeatureModel.load(trained.reranker)
    ranked = values_of(judged, model, guarded=False)
    ahead = (ranked.argmax(axis=1) == 1).mean()
    assert judged.scores.argmax(axis=1).tolist() == [0] * len(judged)
    assert ahead > 0.9


def test_it_learns_that_a_link_tells_the_relevant_sheet(tmp_path):
    """No feature does: the third candidate is relevant wherever it is linked to the first."""
    data = []
    for seed, count in ((0, 160), (1, 40)):
        lists = lists_where_a_feature_tells(count, seed, linked=2)
        lists.features[:, :, COLUMN] = 0
        data.append(replace(lists, relevant=np.roll(lists.relevant, 1, axis=1)))
    learnt = train_reranker(*data, replace(SETTINGS, epochs=6), tmp_path / "run")
    ranked = values_of(data[1], FeatureModel.load(learnt.reranker), guarded=False)
    assert (ranked.argmax(axis=1) == 2).mean() > 0.9


def test_incomplete_answers_cost_more():
    """The one relevant sheet stands sixth of seven; then it is among five, with another."""
    mask = torch.ones(1, 12, dtype=torch.bool)
    relevant = torch.zeros(1, 12, dtype=torch.bool)
    relevant[0, [0, 11]] = True
    logits = -torch.arange(12.0)[None]
    plain, whole = (list_losses(logits, mask, relevant, complete) for complete in (0.0, 1.0))
    # Two are relevant: the last is 7 below the fourth irrelevant one, and 2 below the ninth.
    assert (whole - plain).item() == pytest.approx(np.log1p(np.exp(7)) + np.log1p(np.exp(2)))
    many = torch.ones(1, 12, dtype=torch.bool)
    assert list_losses(logits, mask, many, 1.0) == list_losses(logits, mask, many, 0.0)


def test_the_folder_ranks_as_the_training_judged(data, trained):
    """With the guard, in numpy: the metrics are those that the training wrote."""
    _, judged = data
    rows = judged.rows(values_of(judged, FeatureModel.load(trained.reranker), guarded=True))
    first = [row["hits"][0] for row in rows]
    ndcg = np.mean([1 / np.log2(1 + place) if place <= 5 else 0 for place in first])
    assert trained.metrics["NDCG@5"] == pytest.approx(ndcg, abs=1e-6)


def test_the_same_call_goes_on_and_other_data_or_settings_are_refused(data, trained, tmp_path):
    before = (trained.reranker / "model.npz").read_bytes()
    again = train_reranker(*data, SETTINGS, trained.folder)
    assert (again.best_epoch, again.metrics) == (trained.best_epoch, trained.metrics)
    assert (again.reranker / "model.npz").read_bytes() == before
    with pytest.raises(TrainingError, match="another training"):
        train_reranker(*data, replace(SETTINGS, seed=43), trained.folder)
    with pytest.raises(TrainingError, match="another training"):
        train_reranker(data[1], data[1], SETTINGS, trained.folder)


def test_a_training_that_was_stopped_has_the_same_weights_in_the_end(data, trained, tmp_path):
    class StoppedError(Exception):
        pass

    def stop(standing):
        if standing.epoch == 2 and standing.step:
            raise StoppedError

    with pytest.raises(StoppedError):
        train_reranker(*data, SETTINGS, tmp_path / "run", progress=stop)
    again = train_reranker(*data, SETTINGS, tmp_path / "run")
    one, two = (FeatureModel.load(each.reranker).network for each in (trained, again))
    for name, value in one.items():
        np.testing.assert_array_equal(two[name], value)


def test_where_nothing_is_learnt_the_order_of_links_is_kept(data, tmp_path):
    """Epoch 0 is the start, whose moves are all zero."""
    turned = replace(data[1], relevant=np.roll(data[1].relevant, -1, axis=1))  # the first is right
    kept = train_reranker(data[0], turned, SETTINGS, tmp_path / "run")
    assert kept.best_epoch == 0
    model = FeatureModel.load(kept.reranker)
    assert not any(model.moves(each, guarded=False).any() for each in turned.inputs())


def test_a_training_begins_with_another_and_keeps_it_if_nothing_is_better(data, trained, tmp_path):
    still = replace(SETTINGS, learning_rate=1e-12)
    again = train_reranker(*data, still, tmp_path / "run", start_from=trained.reranker)
    assert again.best_epoch == 0
    assert again.metrics == pytest.approx(trained.metrics, abs=1e-6)
    one, two = (FeatureModel.load(each.reranker) for each in (trained, again))
    for name, value in one.network.items():
        np.testing.assert_array_equal(two.network[name], value)
    for name, value in one.familiarity.arrays().items():  # its guard stays, too
        np.testing.assert_array_equal(two.familiarity.arrays()[name], value)
    with pytest.raises(TrainingError, match="start_from"):
        train_reranker(*data, still, tmp_path / "run")
    with pytest.raises(TrainingError, match=r"with bound 3\.0 cannot begin with"):
        other = replace(still, bound=3.0)
        train_reranker(*data, other, tmp_path / "other", start_from=trained.reranker)


def test_too_few_lists_are_refused(data, tmp_path):
    few = lists_where_a_feature_tells(9, 0)
    with pytest.raises(InputError, match="9 training questions, and this reranker needs 10"):
        train_reranker(few, data[1], SETTINGS, tmp_path / "run")
