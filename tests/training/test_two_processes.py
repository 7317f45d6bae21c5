"""Two CPU processes, started for real by `accelerate launch`, train what one process does."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.training.launched import train
from tests.training.tiny_task import same_weights, without_times

ROOT = Path(__file__).parents[2]


def launch(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # --multi_gpu without a GPU is several CPU processes; --cpu would start one, whatever is asked
    command = [
        sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_machines", "1",
        "--num_processes", "2", "--mixed_precision", "no", "--dynamo_backend", "no",
        "--main_process_ip", "127.0.0.1", "--main_process_port", str(port),
        "--module", "tests.training.launched", str(folder), name,
    ]  # fmt: skip
    kept = {key: value for key, value in os.environ.items() if key not in ("RANK", "WORLD_SIZE")}
    settings = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=ROOT, env={**kept, **settings}, capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> Path:
    if sys.platform != "linux":
        pytest.skip("the loopback interface is named otherwise here")
    folder = tmp_path_factory.mktemp("two")
    done = launch(folder, "all")
    assert done.returncode != 0  # the last of its trainings is killed
    shares = sorted(path.name for path in folder.glob("shares-*.json"))
    assert shares == ["shares-0.json", "shares-1.json"], done.stderr[-4000:]
    return folder


def model(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "tiny" / "weights.safetensors")


def rows(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("name", ["plain", "parts"])
def test_weights_and_losses_are_those_of_one_process(two, tmp_path, name):
    train(tmp_path, name, plan={"accumulation": 2} if name == "parts" else {})
    one, other = model(tmp_path / name), model(two / name)
    for key in one.keys() - {"calls"}:
        torch.testing.assert_close(other[key], one[key], rtol=0, atol=1e-5)
    for alone, shared in zip(rows(tmp_path / name), rows(two / name), strict=True):
        assert shared["row"] == alone["row"]
        for key in ("loss", "grad_norm", "lr"):
            assert shared.get(key) == pytest.approx(alone.get(key), abs=1e-5)


def test_each_process_takes_every_other_query_and_none_goes_without(two):
    first, second = (json.loads((two / f"shares-{rank}.json").read_text()) for rank in (0, 1))
    for mine, yours in zip(first["plain"], second["plain"], strict=True):
        if len(mine) == 3:
            assert len({*mine, *yours}) == 6
        else:
            assert mine == yours  # the last batch has one query: the second's does not count
    assert [len(share) for share in first["plain"]] == [3, 3, 1] * 2
    assert [len(share) for share in first["parts"]] == [2, 2, 2, 2, 1] * 2


def test_only_one_process_writes(two):
    config = json.loads((two / "plain" / "config.json").read_text())
    assert len(config["starts"]) == 1
    assert config["starts"][0]["hardware"]["processes"] == 2
    steps = [row["step"] for row in rows(two / "plain") if row["row"] == "step"]
    assert steps == list(range(1, 7))
    assert sorted(path.name for path in (two / "plain").iterdir()) == [
        "config.json", "metrics.jsonl", "result.json", "tiny"
    ]  # fmt: skip


def test_precisions_follow_each_other_in_two_processes_as_well(two):
    plain, other = (
        [row["loss"] for row in rows(two / name) if row["row"] == "step"]
        for name in ("plain", "bf16")
    )
    assert other != plain
    assert other == pytest.approx(plain, rel=0.05)


def test_both_processes_are_resumed_with_their_own_random_numbers(two):
    checkpoint = max(two.glob("killed/training/only/resume-*"))  # at most 2-1: no two digits
    assert sorted(path.name for path in checkpoint.glob("random-*")) == [
        "random-0.safetensors", "random-1.safetensors"
    ]  # fmt: skip
    assert (checkpoint / "random-0.safetensors").read_bytes() != (
        checkpoint / "random-1.safetensors"
    ).read_bytes()
    resumed = launch(two, "resumed")
    assert resumed.returncode == 0, resumed.stderr[-4000:]
    assert same_weights(model(two / "killed"), model(two / "dropout"))
    assert without_times(rows(two / "killed")) == without_times(rows(two / "dropout"))
