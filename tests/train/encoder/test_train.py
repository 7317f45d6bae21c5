"""Stage 1 end to end on a tiny corpus."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")

from safetensors.numpy import load_file

from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import EmptyInputError, InputError, TrainingError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.text.lexical import LexicalScorer
from sat_retriever.train.data.trainingdata import SHARES, QueryRows, ranked_metrics
from sat_retriever.train.encoder import train as stage1
from sat_retriever.train.encoder.backbone import Backbone
from sat_retriever.train.encoder.encodertask import STAGE_1_METRICS, EncoderTask
from sat_retriever.train.encoder.fusion import name_of
from sat_retriever.train.encoder.train import train_encoder
from sat_retriever.train.loop import parallel
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.task import Share
from sat_retriever.train.settings import EncoderTraining
from tests.tiny_transformer import save_tiny, tiny_corpus


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("source") / "m")


@pytest.fixture
def settings(source):
    return EncoderTraining(
        backbone=str(source), trained_layers=None, epochs=2, batch_size=8, learning_rate=3e-3,
        negatives=2, negative_depth=10,
    )  # fmt: skip


@pytest.fixture
def no_export(monkeypatch):
    """The export to ONNX is tested once: it takes most of the time here."""
    monkeypatch.setattr(stage1, "export_encoder", lambda source, target, **said: None)


def _weights(trained):
    return load_file(trained.sentence_transformers / "model.safetensors")


def _same(first, second):
    return all(np.array_equal(first[name], second[name]) for name in first)


def _rows(folder, kind):
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if row["row"] == kind]


def _task(settings, data, **fields):
    settings = dataclasses.replace(settings, **fields)
    backbone = Backbone.load(settings.backbone, trained_layers=settings.trained_layers)
    task = EncoderTask(data, settings, backbone)
    accelerator = make_accelerator(settings.schedule())
    with torch.no_grad():
        task.prepare(1, accelerator)
    return task, accelerator


def _loss(task, accelerator, items):
    share = Share(np.asarray(items))
    return task.loss(task.module, task.inputs(share, accelerator.device), share, accelerator)


# ---- end to end


@pytest.mark.usefixtures("no_export")
@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_kept_states_of_frozen_layers_change_no_training(tmp_path, monkeypatch, kind):
    source = save_tiny(tmp_path / "m", kind=kind, layers=3)
    settings = EncoderTraining(
        backbone=str(source), trained_layers=2, epochs=2, batch_size=8, learning_rate=3e-3,
        precision="fp32", negatives=2, negative_depth=10,
    )  # fmt: skip
    kept = train_encoder(tiny_corpus(), settings, tmp_path / "kept")
    monkeypatch.setattr("sat_retriever.train.encoder.backbone.MOST_BYTES", 0)
    plain = train_encoder(tiny_corpus(), settings, tmp_path / "plain")
    losses, known = (
        [row["loss"] for row in _rows(tmp_path / name, "step")] for name in ("kept", "plain")
    )
    assert losses == pytest.approx(known, abs=1e-5)
    before, found, expected = (
        load_file(source / "model.safetensors"),
        _weights(kept),
        _weights(plain),
    )
    assert max(np.abs(found[name] - expected[name]).max() for name in expected) < 1e-5
    assert max(np.abs(found[name] - before[name]).max() for name in expected) > 1e-3


@pytest.mark.slow
def test_training_learns_and_leaves_both_folders(tmp_path):
    source = save_tiny(tmp_path / "m", dropout=0.0)
    settings = EncoderTraining(
        backbone=str(source), trained_layers=None, epochs=10, batch_size=9, learning_rate=3e-3,
        temperature=0.05, negatives=2, negative_depth=10, mining="fixed",
    )  # fmt: skip
    task, accelerator = _task(settings, tiny_corpus())
    untrained = task.validate(accelerator)["NDCG@5"]
    trained = train_encoder(tiny_corpus(), settings, tmp_path / "run")
    losses = [row["loss"] for row in _rows(tmp_path / "run", "step")]
    assert np.mean(losses[-6:]) < 0.6 * np.mean(losses[:6])
    assert trained.metrics["NDCG@5"] > untrained + 0.1
    best = max(row["validation"]["NDCG@5"] for row in _rows(tmp_path / "run", "epoch"))
    assert best == trained.metrics["NDCG@5"]
    # What was kept is what was measured, without torch as well.
    encoder = SheetEncoder.load(trained.encoder, threads=1)
    data = tiny_corpus()
    cosines = encoder.encode_queries(data.validation.texts) @ encoder.encode_sheets(data.sheets).T
    ranked = np.argsort(-cosines, axis=1, kind="stable")[:, :50]
    found = ranked_metrics(ranked, data.validation, STAGE_1_METRICS)
    assert found == pytest.approx(trained.metrics, abs=1e-9)
    # A finished training is not trained again.
    assert train_encoder(tiny_corpus(), settings, tmp_path / "run") == trained


@pytest.mark.slow
def test_the_share_of_the_cosine_that_validation_chose_is_in_the_encoders_folder(
    tmp_path, settings, monkeypatch
):
    data = tiny_corpus()
    records = [
        SheetRecord(sheet_id, text.split()[1], columns=(Column("region"),))
        for sheet_id, text in zip(data.sheet_ids, data.sheets, strict=True)
    ]
    data = dataclasses.replace(data, lexical=LexicalScorer.of(records))
    trained = train_encoder(data, settings, tmp_path / "run")
    epochs = _rows(tmp_path / "run", "epoch")
    assert [row["epoch"] for row in epochs] == [0, 1, 2]
    assert not epochs[0]["best"]  # shown, but no contender
    for row in epochs:  # the whole curve of every epoch; the cosine alone is the paper's figure
        curve = [row["validation"][name_of(share)] for share in SHARES]
        assert curve[-1] == pytest.approx(row["validation"]["NDCG@5"], abs=0.02)
        assert row["validation"][name_of(row["validation"]["dense_weight"])] == max(curve)
    chosen = trained.metrics["dense_weight"]
    assert chosen == epochs[trained.best_epoch]["validation"]["dense_weight"]
    assert json.loads((tmp_path / "run" / "result.json").read_text())["metrics"] == trained.metrics
    encoder = SheetEncoder.load(trained.encoder, threads=1)
    assert encoder.dense_weight == chosen
    with SheetIndex.create(tmp_path / "new.sat", encoder) as index:
        assert index.dense_weight == chosen
    # The words decide nothing else.
    written = []
    monkeypatch.setattr(
        stage1, "export_encoder", lambda source, target, **said: written.append(said)
    )
    plain = train_encoder(tiny_corpus(), settings, tmp_path / "plain")
    assert _same(_weights(trained), _weights(plain))
    assert "dense_weight" not in plain.metrics
    assert written == [{"dense_weight": None}]


@pytest.mark.usefixtures("no_export")
def test_same_seed_same_weights_and_another_seed_others(tmp_path, settings):
    first, again, other = (
        _weights(
            train_encoder(tiny_corpus(), dataclasses.replace(settings, seed=seed), tmp_path / name)
        )
        for seed, name in ((1, "first"), (1, "again"), (2, "other"))
    )
    assert _same(first, again)
    assert not _same(first, other)


@pytest.mark.usefixtures("no_export")
@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize("options", [{}, {"mining": "fixed"}])
@pytest.mark.parametrize("stop_after", [2, 5])
def test_a_training_stopped_between_steps_ends_with_the_same_weights(
    tmp_path, settings, monkeypatch, stop_after, options, depth
):
    settings = dataclasses.replace(settings, negative_choice="random", **options)
    whole = _weights(train_encoder(tiny_corpus(), settings, tmp_path / "whole"))
    # Inputs made ahead, as with a GPU, are made again after the stop.
    monkeypatch.setitem(parallel._DEPTHS, "cpu", depth)

    real, calls = EncoderTask.loss, []

    def interrupted(self, module, inputs, share, accelerator):
        calls.append(share)
        if len(calls) == stop_after:
            os.kill(os.getpid(), signal.SIGINT)  # heard after the step
        return real(self, module, inputs, share, accelerator)

    monkeypatch.setattr(EncoderTask, "loss", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_encoder(tiny_corpus(), settings, tmp_path / "run")
    assert len(calls) == stop_after
    monkeypatch.setattr(EncoderTask, "loss", real)
    assert _same(whole, _weights(train_encoder(tiny_corpus(), settings, tmp_path / "run")))


@pytest.mark.gpu("torch")
def test_a_training_on_a_gpu_learns_what_one_on_the_processor_does(tmp_path, settings):
    """Within rounding: sums on a GPU have no fixed order, and mining is in TF32."""
    settings = dataclasses.replace(settings, precision="fp32", mining="fixed")
    here = train_encoder(tiny_corpus(), settings, tmp_path / "cpu", device="cpu")
    there = train_encoder(tiny_corpus(), settings, tmp_path / "cuda", device="cuda")
    losses = [[row["loss"] for row in _rows(run.folder, "step")] for run in (here, there)]
    assert losses[1][0] == pytest.approx(losses[0][0], rel=0.2)  # dropout is drawn elsewhere
    assert there.encoder.is_dir()


def test_a_device_that_torch_lacks_is_refused_before_the_folder_is_made(tmp_path, settings):
    if torch.cuda.is_available():
        pytest.skip("torch has a CUDA device here")
    with pytest.raises(TrainingError, match=r"has no CUDA device.*choose device 'cpu'"):
        train_encoder(tiny_corpus(), settings, tmp_path / "run", device="cuda")
    assert not (tmp_path / "run").exists()


def test_a_training_stopped_before_its_export_is_finished_by_the_same_call(
    tmp_path, settings, monkeypatch
):
    def stopped(source, target, **said):
        raise KeyboardInterrupt

    monkeypatch.setattr(stage1, "export_encoder", stopped)
    with pytest.raises(KeyboardInterrupt):
        train_encoder(tiny_corpus(), settings, tmp_path / "run")
    steps = _rows(tmp_path / "run", "step")
    exported = []
    monkeypatch.setattr(
        stage1, "export_encoder", lambda source, target, **said: exported.append(source)
    )
    trained = train_encoder(tiny_corpus(), settings, tmp_path / "run")
    assert len(exported) == 1
    assert _rows(tmp_path / "run", "step") == steps  # nothing was trained again
    assert (trained.sentence_transformers / "model.safetensors").is_file()


@pytest.mark.usefixtures("no_export")
def test_a_run_folder_of_other_settings_is_refused(tmp_path, settings):
    train_encoder(tiny_corpus(), settings, tmp_path / "run")
    with pytest.raises(TrainingError, match="temperature is"):
        train_encoder(
            tiny_corpus(), dataclasses.replace(settings, temperature=0.05), tmp_path / "run"
        )
    with pytest.raises(TrainingError, match="data hash"):
        train_encoder(tiny_corpus(held_out=(0, 1)), settings, tmp_path / "run")


@pytest.mark.parametrize(
    ("part", "gold", "error", "message"),
    [("train", (), EmptyInputError, "the training question .* has no relevant sheet"),
     ("validation", (), EmptyInputError, "the validation question .* has no relevant sheet"),
     ("validation", (3, 36), InputError, "rows count from 0"),
     ("train", (-1,), InputError, "rows count from 0")],
)  # fmt: skip
def test_questions_that_nothing_can_be_learnt_from_are_refused(part, gold, error, message):
    data = tiny_corpus()
    questions = getattr(data, part)
    wrong = dataclasses.replace(questions, positives=(gold, *questions.positives[1:]))
    with pytest.raises(error, match=message):
        dataclasses.replace(data, **{part: wrong})


# ---- one step


def _slow_step(task, items):
    """The loss of a step, sheet by sheet and question by question."""
    data, settings = task._data, task._settings
    drawn = {int(row) for item in items for row in task._positives[item] if row >= 0}
    drawn |= {int(row) for item in items for row in task._negatives[item] if row >= 0}

    def token(pieces):
        ids = torch.tensor([pieces.tolist()], dtype=torch.int64)
        return task.module([(ids, torch.ones_like(ids))])[0]

    sheets = {row: token(task._sheets[row]) for row in sorted(drawn)}
    losses = []
    for item in items:
        question, gold = token(task._train[item]), set(data.train.positives[item])
        values = {
            row: torch.exp(question @ sheet / settings.temperature) for row, sheet in sheets.items()
        }
        near = sum(value for row, value in values.items() if row in gold)
        losses.append(-torch.log(near / sum(values.values())))
    return sum(losses) / len(losses)


@pytest.mark.parametrize(
    "options", [{}, {"positives": 3, "negatives": 0}, {"negative_choice": "random"}]
)
def test_a_step_is_the_equation_with_every_sheet_encoded_once(settings, options):
    task, accelerator = _task(settings, tiny_corpus(), temperature=0.2, **options)
    items = [0, 3, 5, 11]
    loss, slow = _loss(task, accelerator, items), _slow_step(task, items)
    assert loss.item() == pytest.approx(slow.item(), abs=1e-5)
    loss.backward()
    found = [value.grad.clone() for value in task.module.parameters() if value.requires_grad]
    task.module.zero_grad()
    slow.backward()
    expected = [value.grad for value in task.module.parameters() if value.requires_grad]
    for ours, theirs in zip(found, expected, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5)


def test_a_sheet_that_two_questions_bring_along_counts_once(settings):
    task, accelerator = _task(settings, tiny_corpus(), negatives=0)
    texts = []
    real = task.module.forward

    def count(batches):
        texts.extend(row for ids, _ in batches for row in ids.tolist())
        return real(batches)

    task.module.forward = count
    loss = _loss(task, accelerator, [4, 4, 4])
    assert len(texts) == 1 + 3  # one sheet, three questions
    assert loss.item() == 0.0  # the only sheet is relevant: there is nothing to tell it from


def test_questions_without_a_negative_are_trained_with_the_others(settings):
    data = tiny_corpus()
    everywhere = tuple(range(len(data.sheets)))
    train = dataclasses.replace(data.train, positives=(everywhere, *data.train.positives[1:]))
    task, accelerator = _task(settings, dataclasses.replace(data, train=train))
    assert (task._negatives[0] == -1).all()
    assert (task._negatives[1:] >= 0).all()
    assert _loss(task, accelerator, [0]).item() == 0.0
    assert _loss(task, accelerator, [0, 1, 2]).item() > 0.0


def test_a_held_out_sheet_is_never_in_a_step(settings):
    held_out = (*range(9), 20, 33)
    data = tiny_corpus(held_out=held_out)
    for options in ({}, {"negative_choice": "random"}, {"mining": "fixed"}):
        task, accelerator = _task(settings, data, positives=2, negatives=5, **options)
        for epoch in (1, 2):
            task.prepare(epoch, accelerator)
            used = set(task._positives.ravel()) | set(task._negatives.ravel())
            assert used - {-1} <= set(data.seen)
            assert len(used) > 10


def test_validation_searches_all_sheets_and_breaks_ties_by_row():
    questions = QueryRows(("a", "b"), ((1,), (0, 2)), ((), ()))
    found = ranked_metrics(np.array([[2, 1, 0], [0, 1, 2]]), questions, STAGE_1_METRICS)
    second = (1 + 0.5) / (1 + 1 / np.log2(3))
    assert found["NDCG@5"] == pytest.approx((1 / np.log2(3) + second) / 2)
    assert found["MRR@5"] == pytest.approx((0.5 + 1) / 2)
    assert found["Recall@5"] == found["Recall@50"] == 1.0


def test_fixed_mining_keeps_the_ranking_of_the_untrained_backbone(settings):
    changed = {}
    for mining in ("fixed", "epoch"):
        task, accelerator = _task(settings, tiny_corpus(), mining=mining)
        first = task._negatives
        with torch.no_grad():
            for parameter in task.module.parameters():
                parameter.add_(0.3 * torch.ones_like(parameter).cumsum(-1).sin())
        task._tokens.clear()  # a step forgets them
        with torch.no_grad():
            task.prepare(2, accelerator)
        changed[mining] = not np.array_equal(first, task._negatives)
    assert changed == {"fixed": False, "epoch": True}


def test_each_epoch_draws_other_relevant_sheets(settings):
    task, accelerator = _task(settings, tiny_corpus())
    first = task._positives
    task.prepare(2, accelerator)
    assert not np.array_equal(first, task._positives)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"loss": "triplet"}, "unknown loss 'triplet'"),
        ({"mining": "never"}, "choose one of: epoch, fixed"),
        ({"temperature": 0.0}, "temperature is 0.0"),
        ({"positives": 0}, "positives is 0; give 1 or more"),
        ({"trained_layers": 0}, "trained_layers is 0"),
        ({"negative_depth": 0}, "negative_depth is 0"),
        ({"epochs": 0}, "epochs is 0"),
        ({"loss": "single_positive", "positives": 2}, "draws one relevant sheet"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        EncoderTraining(**wrong)
