"""Trainings that are killed for real, each in a process of its own; tells what came of them.

Run by `test_loop.py`. One process imports torch, and forks for each training.
"""

import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

import torch

from sat_retriever.errors import OutputError
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.fit import fit
from sat_retriever.train.loop.runfolder import RunFolder
from tests.train.tiny_task import TinyTask, schedule

PLAN = schedule(epochs=2)


def train(folder: Path, *, checkpoint_s: float = 0.0, **task) -> None:
    run = RunFolder.open(folder, {"plan": 1}, data_hash="h")
    fitted = fit(TinyTask(**task), PLAN, run, make_accelerator(PLAN), checkpoint_s=checkpoint_s)
    run.finish(fitted.result(), fitted.folder)


def in_a_fork(work) -> int:
    """Exit status of a child that does it; minus the signal that killed it."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except OutputError as error:
            sys.stderr.write(f"OutputError: {error}\n")
            sys.stderr.flush()
            os._exit(7)
        except KeyboardInterrupt as error:
            sys.stderr.write(f"{error}\n")
            sys.stderr.flush()
            os._exit(130)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_at(call: int):
    return lambda now: now == call and os.kill(os.getpid(), signal.SIGKILL)


def killed_after(folder: Path, seconds: float) -> int:
    """A training that is killed by the clock, wherever it is."""
    child = os.fork()
    if child == 0:
        train(folder)
        os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def full_disk(folder: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))  # fits all but random states
    train(folder)


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    train(folder / "plain")  # loads here what every fork then has
    found = {}
    steps = folder / "steps"
    found["steps"] = [
        in_a_fork(lambda: train(steps, before_loss=kill_at(2))),
        in_a_fork(lambda: train(steps, before_loss=kill_at(5))),
        in_a_fork(lambda: train(steps, before_loss=kill_at(2))),
        in_a_fork(lambda: train(steps, before_validate=kill_at(1))),
        in_a_fork(lambda: train(steps)),
    ]
    rare = folder / "rare"  # checkpoints after epochs only
    found["rare"] = [
        in_a_fork(lambda: train(rare, before_loss=kill_at(7), checkpoint_s=1e9)),
        in_a_fork(lambda: train(rare, checkpoint_s=1e9)),
    ]
    clock = folder / "clock"
    found["clock"] = [killed_after(clock, 0.02 + 0.03 * number) for number in range(6)]
    found["clock"].append(in_a_fork(lambda: train(clock)))
    interrupted = folder / "interrupted"
    ctrl_c = lambda now: now == 3 and os.kill(os.getpid(), signal.SIGINT)  # noqa: E731
    found["interrupted"] = [
        in_a_fork(lambda: train(interrupted, before_loss=ctrl_c, checkpoint_s=1e9)),
        len(list(interrupted.glob("training/only/resume-1-3"))),
        in_a_fork(lambda: train(interrupted)),
    ]
    full = folder / "full"
    found["full"] = [
        in_a_fork(lambda: train(full, before_loss=kill_at(3))),
        in_a_fork(lambda: full_disk(full)),
        len(list(full.glob("training/only/resume-1-2"))),
        in_a_fork(lambda: train(full)),
    ]
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
