"""Two CPU processes, started for real by `accelerate launch`, train what one process does.

They are started once: what came of each piece of work is looked at here, test by test.
"""

import json
import os
import socket
import subprocess
import sys
import warnings
from contextlib import ExitStack
from pathlib import Path

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")

from safetensors.torch import load_file

from tests.places import ROOT
from tests.tiny_transformer import save_tiny
from tests.train import sheet_world, two_encoder_steps, two_pair_steps, two_rerank_losses
from tests.train.launched import PIECES, train
from tests.train.tiny_task import same_weights, without_times

pytestmark = pytest.mark.slow


def free_ports(number: int) -> list[str]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [str(each.getsockname()[1]) for each in sockets]


def launch(folder: Path) -> subprocess.CompletedProcess[str]:
    port, *others = free_ports(1 + len(PIECES))
    # --multi_gpu without a GPU is several CPU processes; --cpu would start one, whatever is asked.
    # A GPU is hidden: two processes would share it, and NCCL refuses that.
    command = [
        sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_machines", "1",
        "--num_processes", "2", "--mixed_precision", "no", "--dynamo_backend", "no",
        "--main_process_ip", "127.0.0.1", "--main_process_port", port,
        "--module", "tests.train.launched", str(folder), *others,
    ]  # fmt: skip
    kept = {key: value for key, value in os.environ.items() if key not in ("RANK", "WORLD_SIZE")}
    settings = {"CUDA_VISIBLE_DEVICES": "", "ACCELERATE_USE_CPU": "true"}
    settings |= {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=ROOT, env={**kept, **settings}, capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> Path:
    if sys.platform != "linux":
        pytest.skip("the loopback interface is named otherwise here")
    folder = tmp_path_factory.mktemp("two")
    # Without dropout, since each process draws its own.
    save_tiny(folder / "transformer", dropout=0.0, max_length=48)
    sheet_world.index(folder / "i.sat").close()
    done = launch(folder)
    assert done.returncode == 0, done.stderr[-4000:]
    for rank in (0, 1):
        ended = json.loads((folder / f"ended-{rank}.json").read_text())
        assert ended.pop("killed") != 0
        assert set(ended.values()) == {0}, (ended, done.stderr[-4000:])
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
    first, second = ((two / f"killed-{rank}.random").read_bytes() for rank in (0, 1))
    assert first != second
    assert same_weights(model(two / "killed"), model(two / "dropout"))
    assert without_times(rows(two / "killed")) == without_times(rows(two / "dropout"))


def test_each_process_works_on_its_share_of_a_list_and_gets_all_results(two):
    first, second = (json.loads((two / f"shared-{rank}.json").read_text()) for rank in (0, 1))
    assert (first["done"], second["done"]) == ([0, 2, 4, 6, 0], [1, 3, 5])
    assert first["found"] == second["found"] == {"7": [n * n for n in range(7)], "1": [0]}


# The stages' own tasks


def test_the_sheet_encoders_steps_are_those_of_one_process(two, tmp_path):
    """Losses, weights, mined negatives and metrics, under each of the losses."""
    two_encoder_steps.run(str(two / "transformer"), str(tmp_path / "one"))
    one = load_file(tmp_path / "one.safetensors")
    assert len(one) > 2 * 20
    for rank in (0, 1):
        shared = load_file(two / f"encoder-{rank}.safetensors")
        assert one.keys() == shared.keys()
        for name, value in one.items():
            assert (value - shared[name]).abs().max() < 1e-5, name


def test_the_cross_encoders_steps_are_those_of_one_process(two, tmp_path):
    two_pair_steps.run(str(two / "transformer"), str(tmp_path / "one"))
    one = load_file(tmp_path / "one.safetensors")
    for rank in (0, 1):
        shared = load_file(two / f"pairs-{rank}.safetensors")
        assert one.keys() == shared.keys()
        for name, value in one.items():
            if name.endswith("key.bias"):  # its gradient is 0 but for rounding, which AdamW scales
                continue
            assert (value - shared[name]).abs().max() < 1e-5, name


def test_the_rerankers_loss_is_that_of_one_process(two):
    """Counts are of the whole batch: the weight of relevant ones and what is averaged over."""
    first, second = (json.loads((two / f"reranker-{rank}.json").read_text()) for rank in (0, 1))
    assert first == second == pytest.approx(two_rerank_losses.losses(two / "i.sat"), rel=1e-5)
