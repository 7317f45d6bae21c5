"""Trainings that `accelerate launch` starts in two processes; run by test_two_processes.py.

Each process imports torch once, and forks for each piece of work: the two children then join
in a group of their own, and one of them being killed ends no other piece.
"""

import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import torch
import transformers.models.bert.modeling_bert  # noqa: F401 - once, before the forks

from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.fit import fit
from sat_retriever.train.loop.parallel import in_shares
from sat_retriever.train.loop.runfolder import RunFolder
from tests.train import two_encoder_steps, two_pair_steps, two_rerank_losses
from tests.train.tiny_task import TinyTask, schedule


class QuietTask(TinyTask):
    """Notes the size of each share."""

    def __init__(self, **given) -> None:
        super().__init__(**given)
        self.shares: list[list[int]] = []

    def prepare(self, epoch, accelerator) -> None:
        self.epoch = epoch  # nothing random: processes draw different numbers

    def loss(self, module, inputs, share, accelerator) -> torch.Tensor:
        self.shares.append(share.items.tolist())
        return super().loss(module, inputs, share, accelerator)


def train(folder: Path, name: str, **given) -> QuietTask:
    """One training; 13 queries in batches of 6, 6 and 1: one process has none of the last."""
    plan = schedule(epochs=2, **given.pop("plan", {}))
    task = QuietTask(size=13, dropout=given.pop("dropout", 0.0), **given)
    run = RunFolder.open(folder / name, {"plan": str(plan)}, data_hash="h")
    accelerator = make_accelerator(plan)
    fitted = fit(task, plan, run, accelerator, checkpoint_s=0)
    run.finish(fitted.result(), fitted.folder)
    accelerator.wait_for_everyone()
    return task


# Pieces of work, in this order


def whole(folder: Path) -> None:
    plain = train(folder, "plain")
    parts = train(folder, "parts", plan={"accumulation": 2})
    train(folder, "bf16", plan={"precision": "bf16"})
    train(folder, "dropout", dropout=0.1)
    shares = {"plain": plain.shares, "parts": parts.shares}
    (folder / f"shares-{os.environ['RANK']}.json").write_text(json.dumps(shares))


def killed(folder: Path) -> None:
    def stop(now: int) -> None:
        if now == 5:
            os.kill(os.getpid(), signal.SIGKILL)

    train(folder, "killed", dropout=0.1, before_loss=stop)


def resumed(folder: Path) -> None:
    """What was drawn so far is kept for the test: the finished run has no checkpoint."""
    checkpoint = max(folder.glob("killed/training/only/resume-*"))  # at most 2-1: no two digits
    name = f"random-{os.environ['RANK']}.safetensors"
    shutil.copyfile(checkpoint / name, folder / f"killed-{os.environ['RANK']}.random")
    assert len(list(checkpoint.glob("random-*"))) == 2
    train(folder, "killed", dropout=0.1)


def encoder(folder: Path) -> None:
    two_encoder_steps.run(str(folder / "transformer"), str(folder / "encoder"))


def pairs(folder: Path) -> None:
    two_pair_steps.run(str(folder / "transformer"), str(folder / "pairs"))


def reranker(folder: Path) -> None:
    losses = two_rerank_losses.losses(folder / "i.sat")
    (folder / f"reranker-{os.environ['RANK']}.json").write_text(json.dumps(losses))


def shared(folder: Path) -> None:
    """A list divided before anything else has connected the processes."""
    done: list[int] = []

    def squares(items):
        done.extend(items)
        return [item * item for item in items]

    found = {str(size): in_shares(range(size), squares, "cpu") for size in (7, 1)}
    told = {"done": done, "found": found}
    (folder / f"shared-{os.environ['RANK']}.json").write_text(json.dumps(told))


PIECES = (whole, killed, resumed, encoder, pairs, reranker, shared)


def wait_for_the_other(folder: Path, point: str) -> None:
    """Until both processes came to this point, or a minute has passed."""
    rank = int(os.environ["RANK"])
    (folder / f"{point}-{rank}").touch()
    until = time.monotonic() + 60
    while not (folder / f"{point}-{1 - rank}").exists() and time.monotonic() < until:
        time.sleep(0.01)


def in_a_fork(work: Callable[[Path], None], folder: Path, port: str) -> int:
    """Exit status of a child that does it; minus the signal that killed it."""
    child = os.fork()
    if child == 0:
        # Not the launcher's own meeting place, which serves one group.
        os.environ |= {"MASTER_PORT": port, "TORCHELASTIC_USE_AGENT_STORE": "False"}
        try:
            work(folder)
            # Taking a group apart can wait forever for a process that is gone.
            wait_for_the_other(folder, f"{work.__name__}.done")
        except BaseException:  # noqa: BLE001 - whatever it is, this child ends here
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    # One that is not gone yet may still be putting a checkpoint in place, or removing one.
    wait_for_the_other(folder, f"{work.__name__}.gone")
    return status


def main(folder: Path, ports: list[str]) -> None:
    torch.set_num_threads(1)
    found = {
        piece.__name__: in_a_fork(piece, folder, port)
        for piece, port in zip(PIECES, ports, strict=True)
    }
    (folder / f"ended-{os.environ['RANK']}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
