"""Each step of a training in a process of its own, with its wall time and peak memory."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from benchmarks.training.encoders import source_of
from benchmarks.training.plan import Step
from sat_retriever.encoder.source import MINILM

REPORT = "report.json"
RUN = "run"  # what the library writes of a training, below a step's folder


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of the data and of the trained models.

    Attributes:
        data: Folder of the published corpora.
        runs: Folder of trained models.
    """

    data: Path
    runs: Path

    def folder(self, step: Step) -> Path:
        """Return the folder of a step."""
        return self.runs / step.name


@dataclass(frozen=True, slots=True)
class Trained:
    """A finished step.

    Attributes:
        step: The training.
        folder: Folder of its models.
        report: Its cost and course: `train_s`, `prepare_s`, `peak_mib`, `best_epoch`, `validation`
            (its measures by epoch), `device`, `threads`, `cpu_s` of all threads, `accelerator_mib`.
    """

    step: Step
    folder: Path
    report: Mapping[str, Any]


def trained(step: Step, places: Places, *, again: bool = False) -> Trained:
    """Return the finished step; it is trained now unless it has been, with the steps it rests on.

    A step that was interrupted starts anew, so that its time is that of one whole training.

    Raises:
        SystemExit: If the training fails.
    """
    for parent in (step.encoder, step.base):
        if parent is not None:
            trained(parent, places)
    folder = places.folder(step)
    report = folder / REPORT
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):  # two benchmarks may need the same step
        if again or not report.is_file():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            _train(step, folder, places)
    return Trained(step, folder, json.loads(report.read_text(encoding="utf-8")))


def _train(step: Step, folder: Path, places: Places) -> None:
    """Run the step's process to its end."""
    written = folder / "step.json"
    written.write_text(step.to_json(), encoding="utf-8")
    print(f"training {step.name}", flush=True)
    where = ["--data", str(places.data), "--runs", str(places.runs)]
    command = [sys.executable, "-m", "benchmarks.training.step", str(written), *where]
    done = subprocess.run(command, check=False)
    if done.returncode or not (folder / REPORT).is_file():
        sys.exit(f"the training in {folder} failed (exit status {done.returncode})")


def encoder_folder(
    step: Step | None, places: Places, untrained: str = MINILM
) -> tuple[str | Path, Path]:
    """Return a step's trained encoder, or the untrained one, and the folder of its indexes."""
    stage1 = step if step is None or step.kind == "encoder" else step.encoder
    if stage1 is None:
        return source_of(untrained, places.data), places.runs / "untrained" / untrained
    folder = places.folder(stage1)
    return folder / RUN / "encoder", folder


def base_folder(step: Step, places: Places) -> Path | None:
    """Run folder of the base scorer that a step rests on; None without one."""
    return None if step.base is None else places.folder(step.base) / RUN


def costs(step: Step, places: Places) -> dict[str, Mapping[str, Any]]:
    """Return the reports of a finished step and of all steps it rests on, by what was trained."""
    found: dict[str, Mapping[str, Any]] = {}
    for parent in (step.encoder, step.base):
        if parent is not None:
            found |= costs(parent, places)
    part = "base" if step.kind == "reranker" and not getattr(step.settings, "layers", 1) else None
    named = part or {"reranker": "graph"}.get(step.kind, step.kind)
    report = json.loads((places.folder(step) / REPORT).read_text(encoding="utf-8"))
    return {**found, named: report}
