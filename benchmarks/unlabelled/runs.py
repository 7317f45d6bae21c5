"""One adaptation in a process of its own, kept in a folder, gone on with after a stop."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock

from benchmarks.training.plan import values_of
from sat_retriever.cli.train.session import TrainingBar, training_bar
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.jsonform import to_json
from sat_retriever.train.adapt.outcome import Adaptation
from sat_retriever.train.adapt.settings import AdaptSettings
from sat_retriever.train.data.corpusindex import corpus_index

Mode = Literal["transductive", "inductive"]
INDEX, SETTINGS, RUN = "index.sat", "settings.json", "adapt"


@dataclass(frozen=True, slots=True)
class Job:
    """One adaptation.

    Attributes:
        dataset: Its corpus; the questions are not used.
        start: Encoder of the adapted index. Stage 1 starts from it unless the settings name
            another model.
        settings: Settings of the adaptation.
        seen: Ids of the sheets that the index holds; None for all.
    """

    dataset: Dataset
    start: str
    settings: AdaptSettings
    seen: frozenset[str] | None = None

    @property
    def mode(self) -> Mode:
        """The mode: "transductive" if all sheets are seen, else "inductive"."""
        return "transductive" if self.seen is None else "inductive"

    @property
    def about(self) -> Mapping[str, Any]:
        """All that decides the outcome, but for the code and the corpus, as JSON gives it back."""
        encoder = SheetEncoder.load(self.start).fingerprint
        made = self.settings
        trainings = {
            "encoder_training": asdict(made.encoder_training(made.backbone)),
            "reranker_training": asdict(made.reranker_training()),
            "feature_training": asdict(made.feature_training()),
        }
        told = {**asdict(made), **trainings}
        return {"mode": self.mode, "start": encoder, **to_json(told)}

    @property
    def name(self) -> str:
        """Folder of the adaptation below a folder of runs."""
        seen = None if self.seen is None else sorted(self.seen)
        digest = hashlib.sha256(json.dumps([self.about, seen], sort_keys=True).encode("utf-8"))
        for part in (*self.dataset.records, *self.dataset.links):
            digest.update(repr(part).encode("utf-8", "replace"))
        return f"{self.dataset.name}/{self.mode}.{self.settings.seed}.{digest.hexdigest()[:10]}"


def adapted(job: Job, runs: Path) -> Adaptation:
    """Return the finished adaptation; it is made now unless it has been.

    One that was stopped goes on where it was; of the starts before, the epochs alone are timed.

    Raises:
        SystemExit: If it fails.
    """
    folder = (runs / job.name).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".running"):
        if not (folder / RUN / "result.json").is_file():
            _make(job, folder)
    return finished(folder)


def finished(folder: Path) -> Adaptation:
    """Return the result of a finished adaptation in a folder."""
    run = folder / RUN
    return Adaptation.read(run, json.loads((run / "result.json").read_text(encoding="utf-8")))


def _make(job: Job, folder: Path) -> None:
    """Run the adaptation's process to its end."""
    if not (folder / INDEX).is_file():
        encoder = SheetEncoder.load(job.start)
        corpus_index(job.dataset, encoder, folder / INDEX, seen=job.seen).close()
    content = json.dumps(to_json(asdict(job.settings)), indent=2)
    (folder / SETTINGS).write_text(content + "\n", encoding="utf-8")
    print(f"adapting {job.name}", flush=True)
    status = apart(["run", "adapted", "--one", str(folder)])
    if status or not (folder / RUN / "result.json").is_file():
        sys.exit(f"the adaptation in {folder} failed (exit status {status})")


def apart(arguments: Sequence[str]) -> int:
    """Exit status of this tool in a process of its own, whose peak memory is then its own."""
    return subprocess.run([sys.executable, "-m", "benchmarks", *arguments], check=False).returncode


def run_one(folder: Path) -> None:
    """Adapt the index of a folder with its settings: the whole of one process."""
    from sat_retriever.train.adapt.adapt import adapt

    settings = AdaptSettings(**json.loads((folder / SETTINGS).read_text(encoding="utf-8")))
    with SheetIndex.open(folder / INDEX) as index, training_bar("adapt") as bar:
        adapt(index, folder / RUN, settings, watcher=_Watcher(bar))


class _Watcher:
    """Show an adaptation in one line of a terminal, with its training material."""

    def __init__(self, bar: TrainingBar) -> None:
        self._bar = bar
        self.training, self.counting = bar.training, bar.counting

    def prepared(self, material: Any, seconds: float | None) -> None:
        time = "" if seconds is None else f"; about {seconds / 60:.0f} min of Stage 1"
        self._bar.say(
            f"{len(material.train):,} questions to learn from, {len(material.choose):,} to choose "
            f"with, {len(material.judge):,} to judge by{time}"
        )


def changed(settings: AdaptSettings, changes: list[str]) -> AdaptSettings:
    """Return the settings with `name=value` changes; values are JSON, or else text.

    Raises:
        InputError: If there is no such setting, or its value is out of range.

    >>> changed(AdaptSettings(), ["epochs=1", "backbone=minilm"]).backbone
    'minilm'
    """
    known = {field.name for field in fields(settings)}
    values = values_of(changes)
    for name in values:
        if name not in known:
            raise InputError(
                f"there is no setting {name!r}; choose from {', '.join(sorted(known))}"
            )
    return replace(settings, **values)
