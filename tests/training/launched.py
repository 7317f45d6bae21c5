"""A training that `accelerate launch` starts in two processes; run by test_two_processes.py."""

import json
import os
import signal
import sys
from pathlib import Path

import torch

from sat_retriever.training.device import make_accelerator
from sat_retriever.training.loop import fit
from sat_retriever.training.run import RunFolder
from tests.training.tiny_task import TinyTask, schedule


class QuietTask(TinyTask):
    """Notes the size of each share."""

    def __init__(self, **given) -> None:
        super().__init__(**given)
        self.shares: list[list[int]] = []

    def prepare(self, epoch, accelerator) -> None:
        self.epoch = epoch  # nothing random: processes draw different numbers

    def loss(self, module, share, accelerator) -> torch.Tensor:
        self.shares.append(share.items.tolist())
        return super().loss(module, share, accelerator)


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


def main(folder: Path, name: str) -> None:
    torch.set_num_threads(1)
    if name == "resumed":
        train(folder, "killed", dropout=0.1)
        return
    plain = train(folder, "plain")
    parts = train(folder, "parts", plan={"accumulation": 2})
    train(folder, "bf16", plan={"precision": "bf16"})
    train(folder, "dropout", dropout=0.1)
    rank = os.environ["RANK"]
    shares = {"plain": plain.shares, "parts": parts.shares}
    (folder / f"shares-{rank}.json").write_text(json.dumps(shares))
    train(folder, "killed", dropout=0.1, before_loss=lambda now: now == 5 and stop())


def stop() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
