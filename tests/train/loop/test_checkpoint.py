import json

import numpy as np
import pytest
import torch

from sat_retriever.errors import OutputError, TrainingError
from sat_retriever.train.loop.checkpoint import (
    Trained,
    load_checkpoint,
    remove_checkpoints,
    save_checkpoint,
)
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.weights import load_state, load_weights, save_state, save_weights
from tests.train.tiny_task import TinyModule, schedule

STATE = {
    "negatives": np.arange(6).reshape(2, 3),
    "none": np.zeros((0, 4), np.float32),
    "weight": np.float64(0.5),
    "used": np.array([True, False]),
}


def trained(seed: int, *, steps: int = 0) -> Trained:
    """A module after some steps of AdamW."""
    torch.manual_seed(seed)
    module = TinyModule(0.1)
    learnt = [value for value in module.parameters() if value.requires_grad]
    optimizer = torch.optim.AdamW(learnt, lr=0.1)
    for _ in range(steps):
        module(torch.randn(5, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return Trained(module, optimizer, make_accelerator(schedule()))


def moments(state: Trained) -> dict[str, torch.Tensor]:
    return {
        f"{name} {kind}": value
        for name, parameter in state.module.named_parameters()
        for kind, value in state.optimizer.state.get(parameter, {}).items()
    }


def test_everything_comes_back_bit_for_bit(tmp_path):
    one = trained(1, steps=3)
    save_checkpoint(tmp_path, (2, 7), one, STATE, {"epoch": 2, "loss": 0.1})
    drawn = torch.rand(5)
    other = trained(2, steps=1)
    for name, value in one.module.frozen.named_parameters():  # not trained: not in there
        other.module.frozen.get_parameter(name).data.copy_(value)
    note, state = load_checkpoint(tmp_path, other)
    assert note == {"epoch": 2, "loss": 0.1}
    assert torch.equal(torch.rand(5), drawn)
    for name, value in one.module.state_dict().items():
        assert torch.equal(other.module.state_dict()[name], value)
    assert other.module.calls == 3
    assert moments(other).keys() == moments(one).keys()
    assert all(torch.equal(moments(other)[key], value) for key, value in moments(one).items())
    for name, value in STATE.items():
        np.testing.assert_array_equal(state[name], value)
        assert (state[name].dtype, state[name].shape) == (value.dtype, value.shape)


def test_there_is_no_pickle_and_no_frozen_weight_in_it(tmp_path):
    save_checkpoint(tmp_path, (1, 1), trained(1, steps=1), STATE, {})
    (folder,) = tmp_path.iterdir()
    assert sorted(path.name for path in folder.iterdir()) == [
        "note.json", "optimizer.safetensors", "random-0.safetensors", "task.safetensors",
        "weights.safetensors",
    ]  # fmt: skip
    assert b"frozen" not in (folder / "weights.safetensors").read_bytes()


def test_without_a_checkpoint_there_is_none(tmp_path):
    assert load_checkpoint(tmp_path / "nowhere", trained(1)) is None


def test_the_latest_checkpoint_counts_and_older_ones_go(tmp_path):
    for place in ((1, 0), (1, 9), (1, 10), (2, 0)):
        save_checkpoint(tmp_path, place, trained(1), {}, {"place": list(place)})
        assert len(list(tmp_path.iterdir())) == 1
    assert load_checkpoint(tmp_path, trained(1))[0] == {"place": [2, 0]}
    remove_checkpoints(tmp_path)
    assert load_checkpoint(tmp_path, trained(1)) is None


def test_of_two_left_by_a_kill_the_later_one_counts(tmp_path):
    save_checkpoint(tmp_path, (1, 10), trained(1), {}, {"at": "later"})
    save_checkpoint(tmp_path / "other", (1, 9), trained(1), {}, {"at": "earlier"})
    (tmp_path / "other" / "resume-1-9").rename(tmp_path / "resume-1-9")
    assert load_checkpoint(tmp_path, trained(1))[0] == {"at": "later"}


def test_a_checkpoint_that_was_not_completed_does_not_count(tmp_path):
    save_checkpoint(tmp_path, (1, 1), trained(1), {}, {"at": 1})
    (tmp_path / ".resume.partial").mkdir()
    (tmp_path / ".resume.partial" / "note.json").write_text("{")
    assert load_checkpoint(tmp_path, trained(1))[0] == {"at": 1}
    save_checkpoint(tmp_path, (1, 2), trained(1), {}, {"at": 2})
    assert [path.name for path in tmp_path.iterdir()] == ["resume-1-2"]


def test_a_state_that_cannot_be_written_leaves_the_checkpoint_before(tmp_path):
    save_checkpoint(tmp_path, (1, 1), trained(1), {}, {"at": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        save_checkpoint(tmp_path, (1, 2), trained(1), {}, {"loss": float("nan")})
    assert [path.name for path in tmp_path.iterdir()] == ["resume-1-1"]
    assert load_checkpoint(tmp_path, trained(1))[0] == {"at": 1}


def test_a_folder_that_cannot_be_written_is_our_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        save_checkpoint(tmp_path / "file" / "x", (1, 1), trained(1), {}, {})
    with pytest.raises(OutputError, match="cannot be written"):
        save_weights(tmp_path / "file" / "weights.safetensors", TinyModule(0.0))


@pytest.mark.parametrize(
    "name",
    ["note.json", "optimizer.safetensors", "random-0.safetensors", "task.safetensors",
     "weights.safetensors"],
)  # fmt: skip
@pytest.mark.parametrize("damage", ["missing", "short"])
def test_a_damaged_checkpoint_is_refused_by_file(tmp_path, name, damage):
    save_checkpoint(tmp_path, (1, 1), trained(1, steps=1), STATE, {})
    file = tmp_path / "resume-1-1" / name
    content = file.read_bytes()
    file.unlink()
    if damage == "short":
        file.write_bytes(content[: len(content) // 2])
    with pytest.raises(TrainingError, match=f"{name} is damaged or missing"):
        load_checkpoint(tmp_path, trained(1))


def edited(tmp_path, change) -> None:
    save_checkpoint(tmp_path, (1, 1), trained(1), {}, {})
    file = tmp_path / "resume-1-1" / "note.json"
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


def test_a_newer_format_is_refused(tmp_path):
    edited(tmp_path, lambda content: content.update(format_number=2))
    with pytest.raises(TrainingError, match="format 2, this version reads 1"):
        load_checkpoint(tmp_path, trained(1))


@pytest.mark.parametrize(
    ("name", "value"), [("number of processes", 2), ("device", "cuda"), ("precision", "bf16")]
)
def test_another_setting_is_refused_as_the_result_would_differ(tmp_path, name, value):
    edited(tmp_path, lambda content: content["setting"].update({name: value}))
    with pytest.raises(TrainingError, match=f"was written with {name} {value}, this process has"):
        load_checkpoint(tmp_path, trained(1))


def wider(module: TinyModule) -> None:
    module.out = torch.nn.Linear(9, 1)


def longer(module: TinyModule) -> None:
    module.new = torch.nn.Linear(2, 2)


def shorter(module: TinyModule) -> None:
    del module.pooler


def frozen(module: TinyModule) -> None:
    module.out.requires_grad_(False)


@pytest.mark.parametrize(
    ("change", "message"),
    [(wider, r"\(1, 8\) there and \(1, 9\)"), (longer, r"new\.bias is in the model only"),
     (shorter, r"pooler\.bias is in the file only"), (frozen, r"out\.bias is in the file only")],
)  # fmt: skip
def test_weights_of_another_model_are_refused(tmp_path, change, message):
    save_weights(tmp_path / "weights.safetensors", TinyModule(0.0))
    other = TinyModule(0.0)
    change(other)
    with pytest.raises(TrainingError, match=message):
        load_weights(tmp_path / "weights.safetensors", other)


def test_moments_of_another_model_are_refused(tmp_path):
    save_checkpoint(tmp_path / "a", (1, 1), trained(1, steps=1), {}, {})
    save_checkpoint(tmp_path / "b", (1, 1), trained(1, steps=1), {}, {})
    other = trained(1)
    other.module.hidden.weight = torch.nn.Parameter(torch.zeros(8, 5))
    save_weights(tmp_path / "b" / "resume-1-1" / "weights.safetensors", other.module)
    with pytest.raises(TrainingError, match=r"exp_avg\.hidden\.weight of shape \(8, 4\)"):
        load_checkpoint(tmp_path / "b", other)


def test_tied_weights_are_written_once_and_stay_tied(tmp_path):
    module = torch.nn.ModuleDict({"a": torch.nn.Linear(3, 3), "b": torch.nn.Linear(3, 3)})
    module["b"].weight = module["a"].weight
    save_weights(tmp_path / "w.safetensors", module)
    before = module["a"].weight.detach().clone()
    torch.nn.init.zeros_(module["a"].weight)
    load_weights(tmp_path / "w.safetensors", module)
    assert torch.equal(module["b"].weight, before)
    assert module["b"].weight is module["a"].weight


def test_arrays_that_safetensors_cannot_hold_are_our_error(tmp_path):
    with pytest.raises(TrainingError, match="texts"):
        save_state(tmp_path / "task.safetensors", {"texts": np.array(["a", "b"])})
    strided = np.arange(12).reshape(3, 4)[:, ::2]
    save_state(tmp_path / "task.safetensors", {"strided": strided})
    np.testing.assert_array_equal(load_state(tmp_path / "task.safetensors")["strided"], strided)
