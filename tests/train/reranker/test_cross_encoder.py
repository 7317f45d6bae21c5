"""The Cross-Encoder end to end on a tiny corpus."""

from __future__ import annotations

import math
import os
import signal
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")


from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics import mean, ndcg
from sat_retriever.encoder.onnx import session
from sat_retriever.errors import EncoderError, InputError, TrainingError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.cross_encoder import CrossEncoder, CrossEncoderReranker
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.task import Share
from sat_retriever.train.reranker.cross_encoder import PairTask, pair_losses
from sat_retriever.train.reranker.pairlists import pair_lists
from sat_retriever.train.reranker.pairmodel import PairModel
from sat_retriever.train.reranker.train import train_reranker
from sat_retriever.train.settings import CrossEncoderTraining
from tests.fakes import HashedEncoder
from tests.tiny_transformer import COMPANIES, SUBJECTS, YEARS, save_tiny, tiny_corpus


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """So small a model is slower with more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("source") / "m", max_length=48)


@pytest.fixture
def settings(source) -> CrossEncoderTraining:
    return CrossEncoderTraining(
        backbone=str(source), trained_layers=None, epochs=2, batch_size=16, learning_rate=1e-3,
        candidates=12,
    )  # fmt: skip


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Lists of training and validation questions, the questions, and the index they are from.

    Each question wants sheets on sales, which no cosine tells from others.
    """
    data = tiny_corpus()
    names = [f"{c}_{y}_{s}" for c in COMPANIES for y in YEARS for s in SUBJECTS]
    records = [
        SheetRecord(sheet_id, name, columns=(Column("region"), Column("price")))
        for sheet_id, name in zip(data.sheet_ids, names, strict=True)
    ]
    queries = [
        [
            Query(text, tuple(data.sheet_ids[row] for row in gold if "sales" in names[row]))
            for text, gold in zip(part.texts, part.positives, strict=True)
            if not any(subject in text for subject in SUBJECTS)
        ]
        for part in (data.train, data.validation)
    ]
    path = tmp_path_factory.mktemp("index") / "tiny.sat"
    with SheetIndex.create(path, HashedEncoder()) as index:
        index.add_records(records, find_links=False)
        given = CrossEncoderTraining(candidates=12)
        yield *(pair_lists(index, part, given) for part in queries), queries[1], index


@pytest.fixture
def no_export(monkeypatch):
    """The export to ONNX is tested once: it takes most of the time here."""
    monkeypatch.setattr(PairTask, "export", lambda self, target: None)


@pytest.fixture
def kept(monkeypatch):
    """Weights of each model that a training ended with."""
    found = []

    def export(self, target) -> None:
        learned = self.module.named_parameters()
        found.append({name: value.detach().clone() for name, value in learned})

    monkeypatch.setattr(PairTask, "export", export)
    return found


def _same(first, second) -> bool:
    return all(torch.equal(first[name], second[name]) for name in first)


def _rows(folder, kind):
    import json

    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if row["row"] == kind]


def _task(corpus, settings):
    return PairTask(*corpus[:2], settings, PairModel.load(settings))


# ---- the loss


def test_the_loss_is_the_formula_pair_by_pair():
    logits = torch.tensor([-30.0, -1.5, 0.0, 0.7, 30.0])
    for relevant in (True, False):
        found = pair_losses(logits, torch.full((5,), relevant), 4.0)
        for value, logit in zip(found.tolist(), logits.tolist(), strict=True):
            likely = 1 / (1 + math.exp(-logit)) if relevant else 1 / (1 + math.exp(logit))
            assert value == pytest.approx(-(4.0 if relevant else 1.0) * math.log(likely), rel=1e-4)


def test_a_step_is_the_mean_over_its_pairs_each_read_alone(corpus, settings, monkeypatch):
    # Several batches in one call.
    monkeypatch.setitem(session._LIMITS, "cpu", session.BatchLimits(64))
    # Of unequal length, the longest first, so that pairs are not read in their order.
    asked = enumerate(corpus[0].questions.texts)
    texts = tuple("price " * (9 - place) + text for place, text in asked)
    train = replace(corpus[0], questions=replace(corpus[0].questions, texts=texts))
    task = _task((train, corpus[1]), settings)
    task.prepare(1, None)
    model = task.module.eval()
    with torch.no_grad():  # untrained logits are next to 0, whichever pair they are of
        model.head.weight.normal_(0.0, 1.0, generator=torch.Generator().manual_seed(3))
    items = np.array([3, 40, 7, 62, 55, 9, 70, 14])
    accelerator = make_accelerator(settings.schedule())
    share = Share(items)
    loss = task.loss(model, task.inputs(share, accelerator.device), share, accelerator)
    drawn, slow = task.state(), []
    for item in items:
        question = texts[drawn["questions"][item]]
        sheet = train.sheets[drawn["sheets"][item]]
        relevant = drawn["sheets"][item] in train.questions.positives[drawn["questions"][item]]
        (pair,) = model.pieces.pairs(question, [sheet])
        batch = model.batch(model.pieces.padded([pair]), torch.device("cpu"))
        chance = 1 / (1 + math.exp(-float(model.logits(*batch).detach())))
        slow.append(-4 * math.log(chance) if relevant else -math.log(1 - chance))
    assert float(loss.detach()) == pytest.approx(sum(slow) / len(slow), rel=1e-4)
    # Each of two processes counts its own pairs, so that their mean is the batch's loss.
    shares = [Share(items, rank, 2) for rank in (0, 1)]
    halves = [
        task.loss(model, task.inputs(half, accelerator.device), half, accelerator)
        for half in shares
    ]
    assert float(sum(halves).detach()) / 2 == pytest.approx(float(loss.detach()), rel=1e-5)


# ---- the model


def test_only_the_last_layers_and_the_head_learn(settings):
    model = PairModel.load(replace(settings, trained_layers=1))
    learned = {name for name, value in model.named_parameters() if value.requires_grad}
    assert {name.split(".")[0] for name in learned} == {"head", "transformer"}
    assert all("layer.1." in name for name in learned if name.startswith("transformer"))
    model.train()
    assert model.transformer.encoder.layer[1].training
    assert not model.transformer.encoder.layer[0].training
    assert not model.transformer.embeddings.training
    assert not model.eval().transformer.encoder.layer[1].training
    with pytest.raises(EncoderError, match="the last 3 layers should be trained"):
        PairModel.load(replace(settings, trained_layers=3))


def test_cls_pooling_reads_the_first_state_alone(tmp_path, settings):
    source = save_tiny(tmp_path / "cls", pooling="cls", max_length=48)
    model = PairModel.load(replace(settings, backbone=str(source)))
    batch = model.batch(
        model.pieces.padded(model.pieces.pairs("sales of alpha", ["name: beta", "price"])),
        torch.device("cpu"),
    )
    with torch.no_grad():
        states = model.transformer(
            input_ids=batch[0], attention_mask=batch[1], token_type_ids=batch[2]
        ).last_hidden_state
        expected = states[:, 0] @ model.head.weight[0] + model.head.bias
        assert torch.allclose(model([batch]), expected, atol=1e-6)


@pytest.mark.parametrize(("kind", "types"), [("roberta", True), ("distilbert", False)])
@pytest.mark.slow
def test_other_backbones_are_trained_and_exported(tmp_path, corpus, settings, kind, types):
    source = save_tiny(tmp_path / kind, kind=kind, layers=1, max_length=48)
    task = _task(corpus, replace(settings, backbone=str(source)))
    accelerator = make_accelerator(settings.schedule())
    share = Share(np.arange(5))
    inputs = task.inputs(share, accelerator.device)
    task.loss(task.module, inputs, share, accelerator).backward()
    task.export(tmp_path / "saved")
    model = CrossEncoder.load(tmp_path / "saved", threads=1)
    assert model.spec.token_types is types
    texts = [*corpus[0].sheets[:7], ""]
    pairs = task.module.pieces.pairs("sales of alpha", texts)
    batch = task.module.batch(task.module.pieces.padded(pairs), torch.device("cpu"))
    with torch.no_grad():
        expected = task.module([batch]).numpy()
    assert np.abs(model.logits("sales of alpha", texts) - expected).max() < 1e-4


# ---- end to end


@pytest.mark.slow
def test_training_learns_and_the_saved_model_ranks_as_measured(tmp_path, corpus, settings):
    train, validation, queries, index = corpus
    settings = replace(settings, epochs=6)
    trained = train_reranker(train, validation, settings, tmp_path / "run")
    losses = [row["loss"] for row in _rows(tmp_path / "run", "step")]
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:2])
    epochs = [row["validation"]["NDCG@5"] for row in _rows(tmp_path / "run", "epoch")]
    assert trained.metrics["NDCG@5"] == max(epochs)
    assert epochs.index(max(epochs)) + 1 == trained.best_epoch
    # What was kept is what was measured, through the retriever's own path without torch.
    reranker = CrossEncoderReranker.load(index, trained.reranker, threads=1)
    assert reranker.model.spec.blend == trained.metrics["blend"]
    measured = []
    for query in queries:
        question = index.question(query.text, dense_weight=1.0)
        found = reranker.rerank(question, index.candidates(question, 12))
        measured.append(ndcg([each.sheet_id for each in found], query.positives, 5))
    assert mean(measured) == pytest.approx(trained.metrics["NDCG@5"], abs=1e-9)
    # A finished training is not trained again.
    assert train_reranker(train, validation, settings, tmp_path / "run") == trained


def test_same_seed_same_weights_and_another_seed_others(tmp_path, corpus, settings, kept):
    for seed, name in ((1, "first"), (1, "again"), (2, "other")):
        train_reranker(*corpus[:2], replace(settings, seed=seed), tmp_path / name)
    first, again, other = kept
    assert _same(first, again)
    assert not _same(first, other)


@pytest.mark.parametrize("stop_after", [2, 6])
def test_a_training_stopped_between_steps_ends_with_the_same_weights(
    tmp_path, corpus, settings, kept, monkeypatch, stop_after
):
    whole = train_reranker(*corpus[:2], settings, tmp_path / "whole")
    real, calls = PairTask.loss, []

    def interrupted(self, module, inputs, share, accelerator):
        calls.append(share)
        if len(calls) == stop_after:
            os.kill(os.getpid(), signal.SIGINT)  # heard after the step
        return real(self, module, inputs, share, accelerator)

    monkeypatch.setattr(PairTask, "loss", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_reranker(*corpus[:2], settings, tmp_path / "run")
    assert len(calls) == stop_after
    monkeypatch.setattr(PairTask, "loss", real)
    resumed = train_reranker(*corpus[:2], settings, tmp_path / "run")
    assert _same(*kept)
    assert resumed.metrics == whole.metrics


@pytest.mark.usefixtures("no_export")
def test_a_run_of_other_settings_or_other_candidates_is_refused(tmp_path, corpus, settings):
    train, validation, *_ = corpus
    once = replace(settings, epochs=1)
    train_reranker(train, validation, once, tmp_path / "run")
    with pytest.raises(TrainingError, match="there epochs is 1, here it is 2"):
        train_reranker(train, validation, settings, tmp_path / "run")
    fewer = replace(train, rows=train.rows[:, :5], cosines=train.cosines[:, :5])
    with pytest.raises(TrainingError, match="data hash"):
        train_reranker(fewer, validation, once, tmp_path / "run")
    with pytest.raises(InputError, match="takes no start_from"):
        train_reranker(train, validation, once, tmp_path / "run", start_from=tmp_path)


def test_questions_whose_order_cannot_matter_are_not_scored(corpus, settings):
    train, validation, *_ = corpus
    gold = validation.questions.positives
    rows = validation.rows.copy()
    rows[0] = [*gold[0], *[-1] * (12 - len(gold[0]))]  # nothing but relevant sheets
    rows[1] = [row for row in range(len(validation.sheets)) if row not in gold[1]][:12]  # none
    moved = replace(validation, rows=rows)
    task = PairTask(train, moved, settings, PairModel.load(settings))
    logits = task.validation_logits(make_accelerator(settings.schedule()))
    assert not logits[:2].any()
    assert np.all(logits[2:] != 0)
    hard = (((), (int(rows[1, 3]),)) + ((),) * 99)[: len(gold)]
    judged = replace(moved, questions=replace(moved.questions, hard_negatives=hard))
    task = PairTask(train, judged, settings, PairModel.load(settings))
    accelerator = make_accelerator(settings.schedule())
    assert task.validation_logits(accelerator)[1].all()  # HN-FPR@1 depends on it
    assert 0 <= task.validate(accelerator)["HN-FPR@1"] <= 1


def test_a_task_takes_back_its_pairs_and_its_weight(corpus, settings):
    task, other = _task(corpus, settings), _task(corpus, settings)
    task.prepare(3, None)
    task.blend = 5.0
    kept = {name: value.copy() for name, value in task.state().items()}
    other.restore(kept)
    assert other.blend == 5.0
    for name, value in other.state().items():
        assert np.array_equal(value, kept[name]), name
    assert not np.array_equal(_task(corpus, settings).state()["sheets"], kept["sheets"])


def test_candidates_of_other_texts_are_other_candidates(corpus):
    other = replace(corpus[0], serialization="other")
    assert other.fingerprint != corpus[0].fingerprint
