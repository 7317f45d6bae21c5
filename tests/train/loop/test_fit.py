import contextlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from safetensors.torch import load_file

from sat_retriever.errors import TrainingError
from sat_retriever.train.loop import device
from sat_retriever.train.loop.best import load_best
from sat_retriever.train.loop.course import Fitted
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.fit import fit
from sat_retriever.train.loop.progress import Standing
from sat_retriever.train.loop.rate import learning_rate
from sat_retriever.train.loop.runfolder import RunFolder
from sat_retriever.train.loop.task import batches
from tests.places import ROOT
from tests.train.tiny_task import TinyTask, same_weights, schedule, without_times


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def train(folder: Path, task: TinyTask, **given) -> Fitted:
    plan = given.pop("plan", schedule())
    run = RunFolder.open(folder, {"plan": str(plan)}, data_hash="h")
    return fit(task, plan, run, make_accelerator(plan), **given)


def rows(folder: Path, kind: str = "step") -> list[dict]:
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if row["row"] == kind]


# Equations


def by_hand(task: TinyTask, plan, epochs: int) -> dict[str, torch.Tensor]:
    """The same training, written out: AdamW from its formulas, one query at a time."""
    module = task.module.train()
    learnt = {
        name: value
        for name, value in module.named_parameters()
        if value.requires_grad and not name.startswith("pooler")  # gets no gradient
    }
    first = {name: torch.zeros_like(value) for name, value in learnt.items()}
    second = {name: torch.zeros_like(value) for name, value in learnt.items()}
    step = 0
    for epoch in range(1, epochs + 1):
        order = batches(task.size, plan.batch_size, epoch, plan.seed)
        for batch in order:
            gradients = {name: torch.zeros_like(value) for name, value in learnt.items()}
            for item in batch.tolist():
                error = (module(task.x[item : item + 1])[0] - task.y[item]) ** 2 / len(batch)
                parts = torch.autograd.grad(error, list(learnt.values()))
                for name, part in zip(learnt, parts, strict=True):
                    gradients[name] += part
            norm = sum(float(value.square().sum()) for value in gradients.values()) ** 0.5
            scale = min(1.0, plan.max_grad_norm / (norm + 1e-6))
            rate = learning_rate(plan, step, len(order))
            step += 1
            with torch.no_grad():
                for name, value in learnt.items():
                    gradient = gradients[name] * scale
                    first[name] = 0.9 * first[name] + 0.1 * gradient
                    second[name] = 0.999 * second[name] + 0.001 * gradient**2
                    ahead = first[name] / (1 - 0.9**step)
                    spread = (second[name] / (1 - 0.999**step)).sqrt() + 1e-8
                    value.mul_(1 - rate * plan.weight_decay).sub_(rate * ahead / spread)
    return {name: value.detach().clone() for name, value in learnt.items()}


class StillTask(TinyTask):
    """Without noise in its targets, so that a slow loop is short."""

    def prepare(self, epoch, accelerator) -> None:
        self.epoch = epoch


@pytest.mark.parametrize("accumulation", [1, 2])
@pytest.mark.parametrize("max_grad_norm", [0.5, 100.0])
def test_training_is_adamw_clipped_and_scheduled_as_written(tmp_path, accumulation, max_grad_norm):
    plan = schedule(epochs=2, accumulation=accumulation, max_grad_norm=max_grad_norm)
    task = StillTask(dropout=0.0, measures=[0.1, 0.2])
    train(tmp_path, task, plan=plan)
    expected = by_hand(StillTask(dropout=0.0), plan, 2)
    for name, value in expected.items():
        torch.testing.assert_close(task.weights()[name], value, rtol=0, atol=2e-5)
    norms = [row["grad_norm"] for row in rows(tmp_path)]
    assert max(norms) > 0.5  # so that the smaller limit is one


def test_a_batch_in_two_parts_has_the_mean_of_their_losses_and_gradients(tmp_path):
    for parts in (1, 2, 6):
        plan = schedule(epochs=1, accumulation=parts)
        train(tmp_path / str(parts), StillTask(dropout=0.0), plan=plan)
    whole = rows(tmp_path / "1")
    for parts in ("2", "6"):
        for one, other in zip(whole, rows(tmp_path / parts), strict=True):
            assert other["loss"] == pytest.approx(one["loss"], rel=1e-5)
            assert other["grad_norm"] == pytest.approx(one["grad_norm"], rel=1e-5)


def test_parts_of_unequal_size_count_by_their_queries(tmp_path):
    plan = schedule(epochs=1, accumulation=4, learning_rate=1e-12)  # 6 queries: 2, 2, 1, 1
    task = StillTask(dropout=0.0)
    train(tmp_path, task, plan=plan)
    errors = (StillTask(dropout=0.0).module(task.x) - task.y).square().detach().numpy()
    for row, batch in zip(rows(tmp_path), batches(20, 6, 1, plan.seed), strict=True):
        assert row["loss"] == pytest.approx(errors[batch].mean(), rel=1e-5)


def test_the_logged_rate_is_that_of_each_step(tmp_path):
    train(tmp_path, TinyTask())
    steps = rows(tmp_path)
    assert [row["step"] for row in steps] == list(range(1, 13))
    assert [row["lr"] for row in steps] == [learning_rate(schedule(), n, 4) for n in range(12)]


# Order of calls, choice of the epoch


def test_an_epoch_is_prepared_trained_and_validated_in_that_order(tmp_path):
    task = TinyTask()
    train(tmp_path, task, plan=schedule(epochs=2))
    epoch = ["loss"] * 4 + ["validate"]
    assert task.calls == ["prepare 1", *epoch, "prepare 2", *epoch]


def test_frozen_weights_stay_and_others_move(tmp_path):
    task = TinyTask()
    before = task.weights()
    train(tmp_path, task)
    after = task.weights()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert moved == {"hidden.weight", "hidden.bias", "out.weight", "out.bias", "calls"}


def test_loss_falls(tmp_path):
    train(tmp_path, TinyTask(dropout=0.0), plan=schedule(epochs=8))
    losses = [row["loss"] for row in rows(tmp_path)]
    assert np.mean(losses[-4:]) < 0.3 * np.mean(losses[:4])


def test_the_best_epoch_is_kept_and_not_the_last(tmp_path):
    kept: dict[int, dict[str, torch.Tensor]] = {}
    task = TinyTask(measures=[0.1, 0.7, 0.7, 0.3])
    task.before_validate = lambda epoch: kept.update({epoch: task.weights()})
    fitted = train(tmp_path, task, plan=schedule(epochs=4))
    assert fitted.best_epoch == 2  # the earlier one of equals
    assert fitted.metrics == {"NDCG@5": 0.7}
    assert [found["NDCG@5"] for found in fitted.by_epoch.values()] == [0.1, 0.7, 0.7, 0.3]
    assert not same_weights(kept[2], kept[4])
    assert same_weights(task.weights(), kept[2])
    assert task.epoch == 2  # its state, too
    assert same_weights(load_file(fitted.folder / "tiny" / "weights.safetensors"), kept[2])
    assert [row["best"] for row in rows(tmp_path, "epoch")] == [True, True, False, False]
    assert sorted(path.name for path in fitted.folder.parents[1].iterdir()) == [
        "best-2", "done.json"
    ]  # fmt: skip


def test_the_untrained_model_is_the_incumbent(tmp_path):
    task = TinyTask(measures=[0.5, 0.5, 0.4])
    before = task.weights()
    fitted = train(tmp_path, task, plan=schedule(epochs=2), untrained="keep")
    assert fitted.best_epoch == 0
    assert same_weights(task.weights(), before)
    assert task.calls[:2] == ["validate", "prepare 1"]
    task = TinyTask(measures=[0.5, 0.6, 0.4])
    fitted = train(tmp_path / "b", task, plan=schedule(epochs=2), untrained="keep")
    assert fitted.best_epoch == 1


def test_the_untrained_model_can_be_shown_without_competing(tmp_path):
    task, seen = TinyTask(measures=[0.9, 0.5, 0.6]), []
    plan = schedule(epochs=2)
    fitted = train(tmp_path, task, plan=plan, untrained="show", progress=seen.append)
    assert fitted.best_epoch == 2
    assert fitted.by_epoch == {0: {"NDCG@5": 0.9}, 1: {"NDCG@5": 0.5}, 2: {"NDCG@5": 0.6}}
    assert [row["best"] for row in rows(tmp_path, "epoch")] == [False, True, True]
    assert [one.best for one in seen if one.doing == "preparing"] == [None, 0.5]
    plain = TinyTask(measures=[0.5, 0.6])
    train(tmp_path / "plain", plain, plan=plan)
    assert same_weights(task.weights(), plain.weights())  # showing it changes no weight


@pytest.mark.parametrize("kill", [1, 3])
def test_a_shown_start_is_measured_once_whenever_the_training_is_killed(tmp_path, kill):
    def start(before_loss=lambda _: None):
        task = TinyTask(measures=None, before_loss=before_loss)
        return task, train(tmp_path, task, plan=schedule(epochs=2), untrained="show")

    with pytest.raises(Killed):
        start(kill_at(kill))
    task, fitted = start()
    assert task.calls.count("validate") == 2
    assert [row["epoch"] for row in rows(tmp_path, "epoch")] == [0, 1, 2]
    whole = TinyTask()
    train(tmp_path / "whole", whole, plan=schedule(epochs=2))
    assert same_weights(task.weights(), whole.weights())
    assert fitted.best_epoch > 0


def test_metrics_tell_time_and_memory(tmp_path):
    fitted = train(tmp_path, TinyTask(), plan=schedule(epochs=2))
    epochs = rows(tmp_path, "epoch")
    for row in epochs:
        assert 0 <= row["validation_seconds"] <= row["seconds"]
        assert 0 <= row["preparation_seconds"] <= row["seconds"]
        assert 30 < row["memory_mib"] < 100_000
        assert row["validation"].keys() == {"NDCG@5", "error"}
    assert fitted.seconds == pytest.approx(sum(row["seconds"] for row in epochs))
    assert fitted.memory_mib == epochs[-1]["memory_mib"]
    assert (fitted.gpu_memory_mib is None) == (not torch.cuda.is_available())
    assert json.loads(json.dumps(fitted.result()))["by_epoch"]["1"] == fitted.by_epoch[1]


def test_whoever_watches_is_told_of_every_step(tmp_path):
    seen: list[Standing] = []
    train(tmp_path, TinyTask(), plan=schedule(epochs=2), phase="graph", progress=seen.append)
    assert {(one.phase, one.epochs, one.steps) for one in seen} == {("graph", 2, 8)}
    trained = [one for one in seen if one.doing == "training" and one.loss is not None]
    assert sorted({one.step for one in trained}) == list(range(1, 9))
    assert [one.epoch for one in seen if one.doing == "validating"] == [1, 2]
    assert [one.epoch for one in seen if one.doing == "preparing"] == [1, 2]
    assert seen[0].best is None
    assert seen[-1].best == rows(tmp_path, "epoch")[0]["validation"]["NDCG@5"]


# Seeds and going on


def test_same_seed_same_weights_and_another_seed_others(tmp_path):
    done = {}
    for name, seed in (("a", 42), ("b", 42), ("c", 43)):
        torch.manual_seed(hash(name) % 100)  # whatever was drawn before does not matter
        task = TinyTask()
        train(tmp_path / name, task, plan=schedule(epochs=2, seed=seed))
        done[name] = task.weights()
    assert same_weights(done["a"], done["b"])
    assert not same_weights(done["a"], done["c"])


class Killed(Exception):  # noqa: N818
    """Stands for a kill: nothing of ours catches it."""


def kill_at(call: int):
    def kill(now: int) -> None:
        if now == call:
            raise Killed

    return kill


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> tuple[Path, dict[str, torch.Tensor], Fitted]:
    folder = tmp_path_factory.mktemp("uninterrupted")
    task = TinyTask(measures=[0.2, 0.5, 0.4])
    fitted = train(folder, task, untrained="keep", plan=schedule(epochs=2, accumulation=2))
    return folder, task.weights(), fitted


@pytest.mark.parametrize("checkpoint_s", [0.0, 1e9])
@pytest.mark.parametrize("kills", [[3], [9], [16], [3, 4, 2], [10, 1]])
def test_a_resumed_training_equals_an_uninterrupted_one(
    tmp_path, uninterrupted, kills, checkpoint_s
):
    folder, weights, fitted = uninterrupted
    plan = schedule(epochs=2, accumulation=2)  # 16 losses in 8 steps

    def start(before_loss=lambda _: None) -> tuple[TinyTask, Fitted]:
        task = TinyTask(before_loss=before_loss)
        # a measure of the epoch, not of the call: validations are not repeated
        task.validate = lambda _: {"NDCG@5": [0.2, 0.5, 0.4][task.epoch]}
        given = {"untrained": "keep", "plan": plan, "checkpoint_s": checkpoint_s}
        return task, train(tmp_path, task, **given)

    for call in kills:
        with contextlib.suppress(Killed):
            start(kill_at(call))
            raise AssertionError("was not killed")
    task, resumed = start()
    assert same_weights(task.weights(), weights)
    assert without_times(rows(tmp_path)) == without_times(rows(folder))
    assert without_times(rows(tmp_path, "epoch")) == without_times(rows(folder, "epoch"))
    assert (resumed.best_epoch, resumed.by_epoch) == (fitted.best_epoch, fitted.by_epoch)


def test_a_training_killed_in_validation_does_not_train_its_epoch_again(tmp_path):
    with pytest.raises(Killed):
        train(tmp_path, TinyTask(before_validate=kill_at(1)), checkpoint_s=0)
    task = TinyTask()
    train(tmp_path, task, checkpoint_s=0)
    assert task.calls[:2] == ["validate", "prepare 2"]


def test_a_finished_phase_gives_back_its_best_model_without_training(tmp_path):
    task = TinyTask(measures=[0.1, 0.7, 0.3])
    fitted = train(tmp_path, task)
    again = TinyTask()
    assert train(tmp_path, again) == fitted
    assert again.calls == []
    assert again.epoch == 2
    assert same_weights(again.weights(), task.weights())


def test_phases_of_one_run_are_resumed_each_for_itself(tmp_path):
    def both(folder: Path, before_loss=lambda _: None) -> TinyTask:
        plan = schedule(epochs=2)
        run = RunFolder.open(folder, {}, data_hash="h")
        base, graph = TinyTask(), TinyTask(before_loss=before_loss)
        fit(base, plan, run, make_accelerator(plan), phase="base", checkpoint_s=0)
        graph.module.load_state_dict(base.module.state_dict())
        fit(graph, plan, run, make_accelerator(plan), phase="graph", checkpoint_s=0)
        return graph

    whole = both(tmp_path / "whole")
    with pytest.raises(Killed):
        both(tmp_path / "killed", kill_at(1))
    with pytest.raises(Killed):
        both(tmp_path / "killed", kill_at(6))
    assert same_weights(both(tmp_path / "killed").weights(), whole.weights())
    for kind in ("step", "epoch"):
        one, other = rows(tmp_path / "whole", kind), rows(tmp_path / "killed", kind)
        assert without_times(one) == without_times(other)
        assert {row["phase"] for row in one} == {"base", "graph"}


def test_one_accelerator_can_serve_two_phases_as_two_would(tmp_path):
    plan = schedule(epochs=1)
    run = RunFolder.open(tmp_path, {}, data_hash="h")
    accelerator = make_accelerator(plan)
    one, other = TinyTask(), TinyTask()
    fit(one, plan, run, accelerator, phase="one")
    fit(other, plan, run, accelerator, phase="other")
    assert same_weights(one.weights(), other.weights())


# Kills of real processes


@pytest.fixture(scope="module")
def killed(tmp_path_factory) -> tuple[Path, dict[str, list[int]], str]:
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    folder = tmp_path_factory.mktemp("killed")
    done = subprocess.run(
        [sys.executable, "-m", "tests.train.killed_runs", str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout), done.stderr


def same_run(one: Path, other: Path) -> bool:
    def model(folder: Path) -> dict[str, torch.Tensor]:
        return load_file(folder / "tiny" / "weights.safetensors")

    assert same_weights(model(one), model(other))
    assert rows(one) == rows(other)
    epochs = (without_times(rows(folder, "epoch")) for folder in (one, other))
    return next(epochs) == next(epochs)


@pytest.mark.slow
def test_a_run_killed_at_several_steps_ends_as_one_that_was_not(killed):
    folder, found, _ = killed
    assert found["steps"] == [-9, -9, -9, -9, 0]
    assert same_run(folder / "plain", folder / "steps")


@pytest.mark.slow
def test_a_run_killed_between_checkpoints_ends_as_one_that_was_not(killed):
    folder, found, _ = killed
    assert found["rare"] == [-9, 0]
    assert same_run(folder / "plain", folder / "rare")


@pytest.mark.slow
def test_a_run_killed_at_any_moment_ends_as_one_that_was_not(killed):
    folder, found, _ = killed
    assert found["clock"][-1] == 0
    assert -9 in found["clock"]
    assert same_run(folder / "plain", folder / "clock")


@pytest.mark.slow
def test_ctrl_c_ends_the_step_writes_a_checkpoint_and_says_how_to_go_on(killed):
    folder, found, said = killed
    assert found["interrupted"] == [130, 1, 0]
    assert "the same command goes on with it" in said
    assert same_run(folder / "plain", folder / "interrupted")


@pytest.mark.slow
def test_a_full_disk_leaves_the_checkpoint_and_the_run_goes_on_later(killed):
    folder, found, said = killed
    assert found["full"] == [-9, 7, 1, 0]
    assert "random-0.safetensors cannot be written" in said
    assert same_run(folder / "plain", folder / "full")


# What goes wrong


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_ends_the_training_by_step(tmp_path, value):
    task = TinyTask()
    good = task.loss
    task.loss = lambda *given: good(*given) * (value if task.calls.count("loss") == 6 else 1)
    with pytest.raises(TrainingError, match=rf"the loss is {value} at step 6 \(epoch 2\)"):
        train(tmp_path, task)


def test_gradients_that_are_no_number_end_the_training_by_step(tmp_path):
    task = TinyTask()
    good = task.loss

    def endless_slope(*given):
        loss = good(*given)
        return loss if task.calls.count("loss") < 3 else loss + (loss - loss.detach()).abs().sqrt()

    task.loss = endless_slope
    with pytest.raises(TrainingError, match=r"gradients' norm is (nan|inf) at step 3 \(epoch 1\)"):
        train(tmp_path, task)


@pytest.mark.parametrize("measure", [float("nan"), None])
def test_a_validation_measure_that_is_undefined_ends_the_training(tmp_path, measure):
    with pytest.raises(TrainingError, match="validation NDCG@5 of epoch 1"):
        train(tmp_path, TinyTask(measures=[measure]))


def test_a_model_without_anything_to_train_is_refused(tmp_path):
    task = TinyTask()
    task.module.requires_grad_(False)
    with pytest.raises(TrainingError, match="no parameter that requires gradients"):
        train(tmp_path, task)


def test_a_kept_model_that_is_gone_is_an_error_of_ours(tmp_path):
    with pytest.raises(TrainingError, match="best-3"):
        load_best(tmp_path, 3, TinyTask())


# Devices and precisions


def test_three_trainings_of_three_precisions_follow_each_other(tmp_path):
    losses = {}
    for precision in ("fp32", "bf16", "auto"):
        plan = schedule(epochs=1, precision=precision)
        train(tmp_path / precision, TinyTask(), plan=plan)
        losses[precision] = [row["loss"] for row in rows(tmp_path / precision)]
    assert losses["bf16"] != losses["fp32"]
    assert losses["bf16"] == pytest.approx(losses["fp32"], rel=0.05)
    if not torch.cuda.is_available():
        assert losses["auto"] == losses["fp32"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="fast is fp16 here")
@pytest.mark.parametrize(("able", "same"), [(True, "bf16"), (False, "fp32")])
def test_fast_is_bf16_where_the_cpu_multiplies_it(tmp_path, monkeypatch, able, same):
    monkeypatch.setattr(device, "multiplies_bf16", lambda: able)
    losses = {}
    for precision in ("fast", same):
        train(tmp_path / precision, TinyTask(), plan=schedule(epochs=1, precision=precision))
        losses[precision] = [row["loss"] for row in rows(tmp_path / precision)]
    assert losses["fast"] == losses[same]


@pytest.mark.gpu("torch")
def test_a_gpu_trains_in_fp16_and_its_inputs_come_from_pinned_memory(tmp_path):
    train(tmp_path, TinyTask(), plan=schedule(precision="auto"))
    assert all(np.isfinite(row["loss"]) for row in rows(tmp_path))
    cuda = torch.device("cuda")
    given = device.staged(np.arange(4), cuda)
    assert given.is_pinned()
    assert device.moved(given, cuda).tolist() == [0, 1, 2, 3]
    before = torch.get_float32_matmul_precision()
    with device.tensor_float_32(cuda):
        assert torch.get_float32_matmul_precision() == "high"
    assert torch.get_float32_matmul_precision() == before


def test_on_the_processor_nothing_is_copied_nor_rounded():
    cpu, array = torch.device("cpu"), np.arange(4)
    given = device.staged(array, cpu)
    assert device.moved(given, cpu).data_ptr() == array.ctypes.data
    before = torch.get_float32_matmul_precision()
    with device.tensor_float_32(cpu):
        assert torch.get_float32_matmul_precision() == before


@pytest.mark.parametrize("name", ["auto", "cpu"])
def test_the_processor_is_named_or_found(name, monkeypatch):
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true" if name == "auto" else "false")
    assert make_accelerator(schedule(), name).device.type == "cpu"


def test_the_processor_says_whether_it_multiplies_bf16(monkeypatch):
    assert isinstance(device.multiplies_bf16(), bool)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": True}, raising=False)
    assert device.multiplies_bf16()
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True})
    assert not device.multiplies_bf16()
    monkeypatch.delattr(torch.cpu, "get_capabilities")  # an older torch
    assert not device.multiplies_bf16()


def test_the_task_keeps_its_own_forward(tmp_path):
    task = TinyTask()
    train(tmp_path, task, plan=schedule(epochs=1, precision="bf16"))
    assert "forward" not in vars(task.module)
    assert task.module(task.x).dtype == torch.float32


@pytest.mark.skipif(torch.cuda.is_available(), reason="fp16 is possible here")
def test_fp16_on_a_cpu_is_refused_with_advice():
    with pytest.raises(TrainingError, match="choose precision bf16 or fp32"):
        make_accelerator(schedule(precision="fp16"))


def scaled() -> Accelerator:
    """An accelerator that scales losses as with fp16 on a GPU, without one."""
    accelerator = make_accelerator(schedule())
    accelerator.scaler = torch.amp.GradScaler("cpu")
    accelerator.native_amp = True
    accelerator.state._mixed_precision = "fp16"
    return accelerator


class OverflowingTask(TinyTask):
    """Small losses, whose gradients overflow in some steps; notes the weights before each."""

    def __init__(self, overflows: set[int], **given) -> None:
        super().__init__(dropout=0.0, **given)
        self.overflows = overflows
        self.seen: list[dict[str, torch.Tensor]] = []

    def loss(self, module, inputs, share, accelerator) -> torch.Tensor:
        self.seen.append(self.weights())
        loss = super().loss(module, inputs, share, accelerator) * 1e-4
        return loss * 1e37 if int(self.module.calls) in self.overflows else loss


def test_a_step_whose_scaled_gradients_overflow_is_left_out_and_said(tmp_path):
    task, accelerator = OverflowingTask({3}), scaled()
    run = RunFolder.open(tmp_path, {}, data_hash="h")
    fit(task, schedule(epochs=1), run, accelerator)
    assert [row["grad_norm"] is None for row in rows(tmp_path)] == [False, False, True, False]
    moved = [
        not torch.equal(before["hidden.weight"], after["hidden.weight"])
        for before, after in itertools.pairwise([*task.seen, task.weights()])
    ]
    assert moved == [False, True, False, True]  # the first step of a warm-up is idle
    assert accelerator.scaler.get_scale() == 2.0**15


def test_the_scale_is_resumed_and_starts_anew_in_another_phase(tmp_path):
    def start(folder: Path, before_loss=lambda _: None) -> tuple[list[float], TinyTask]:
        run = RunFolder.open(folder, {}, data_hash="h")
        accelerator, scales = scaled(), []
        for phase in ("one", "two"):
            task = OverflowingTask({2, 6}, before_loss=before_loss)
            fit(task, schedule(epochs=2), run, accelerator, phase=phase, checkpoint_s=0)
            scales.append(accelerator.scaler.get_scale())
        return scales, task

    scales, whole = start(tmp_path / "whole")
    assert scales == [2.0**14, 2.0**14]
    with pytest.raises(Killed):
        start(tmp_path / "killed", kill_at(5))
    scales, resumed = start(tmp_path / "killed")
    assert scales == [2.0**14, 2.0**14]
    assert same_weights(resumed.weights(), whole.weights())


def test_gradients_that_overflow_at_every_scale_end_the_training(tmp_path):
    task = OverflowingTask(set(range(1, 100)))
    run = RunFolder.open(tmp_path, {}, data_hash="h")
    with pytest.raises(TrainingError, match="gradients' norm"):
        fit(task, schedule(epochs=30), run, scaled())
    assert all(row["grad_norm"] is None for row in rows(tmp_path))
    assert len(rows(tmp_path)) > 10
