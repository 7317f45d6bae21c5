"""Manage the folder of one training: its settings, its metrics and its model.

    config.json      settings, data, and the provenance of each start
        metrics.jsonl    one line a step and one an epoch
        training/        during the training: the best model so far, and the checkpoints
        result.json      written at the end

A folder belongs to one training, that is, to one set of settings on one data set.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from sat_retriever.errors import InputError, TrainingError
from sat_retriever.records.files import draft_of, make_folder, writing
from sat_retriever.train.loop.provenance import provenance

_FORMAT = "sat-training"
_FORMAT_NUMBER = 1
CONFIG = "config.json"
_METRICS = "metrics.jsonl"
_RESULT = "result.json"
_WORK = "training"
_LOCK = ".lock"
_MISSING = "not set"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One training's folder; several processes may open it.

    Only the `main` one writes; in others `log`, `cut` and `finish` have no effect.
    """

    path: Path
    main: bool

    @classmethod
    def open(
        cls,
        folder: str | Path,
        config: Mapping[str, Any],
        *,
        data_hash: str,
        data_name: str = "",
        main: bool | None = None,
    ) -> RunFolder:
        """Open a new run in a new or empty folder, or the same run to go on with it.

        The config has all settings that change the result, as JSON values, tuples and dicts; the
        hash is that of the training data. `main` follows `accelerate launch` if it is None.

        Raises:
            TrainingError: If the folder holds another run (the message names the setting that
                differs), a damaged run or other files, or another process trains in it.
            OutputError: If the folder cannot be written.
        """
        path = Path(folder).absolute()
        run = cls(path, os.environ.get("RANK", "0") == "0" if main is None else main)
        settings = _as_json(config)
        written = run.config() if (path / CONFIG).exists() else None
        if written is None:
            if not run.main:
                return run
            _refuse_foreign(path)
            make_folder(path)
            written = {
                "format": _FORMAT,
                "format_number": _FORMAT_NUMBER,
                "settings": settings,
                "data": {"name": data_name, "hash": data_hash},
                "starts": [],
            }
        else:
            _refuse_other(path, written, settings, data_hash)
        if run.main and not run.finished:
            with run.held():
                written["starts"].append(provenance())
                _write_json(path / CONFIG, written)
                run.cut(len(run._lines()))  # remove a line that a kill left incomplete
        return run

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other training commands from writing into the folder during the block.

        The system releases it when a process dies. A TrainingError if another process holds it.
        """
        if not self.main:
            yield
            return
        lock = FileLock(self.path / _LOCK)
        with writing(self.path):
            try:
                lock.acquire(timeout=0)
            except Timeout as error:  # also an OSError, but the folder is fine
                raise TrainingError(
                    f"another process trains in {self.path}; wait until it has ended, or name a "
                    "new folder"
                ) from error
        try:
            yield
        finally:
            lock.release()

    def config(self) -> dict[str, Any]:
        """Return the content of config.json; a TrainingError if it is damaged or another's."""
        config = _read_json(self.path / CONFIG)
        if config.get("format") != _FORMAT or config.get("format_number") != _FORMAT_NUMBER:
            raise TrainingError(
                f"{self.path / CONFIG} has format {config.get('format')!r} "
                f"{config.get('format_number')}, this version reads {_FORMAT!r} {_FORMAT_NUMBER}; "
                "choose another folder, or the version that wrote it"
            )
        if not {"settings", "data", "starts"} <= config.keys():
            raise TrainingError(f"{self.path / CONFIG} is incomplete; name a new folder")
        return config

    @property
    def finished(self) -> bool:
        """True if the training is finished: its result is written."""
        return (self.path / _RESULT).exists()

    def result(self) -> dict[str, Any]:
        """Return what `finish` was given; a TrainingError before that."""
        return _read_json(self.path / _RESULT)

    def phase(self, name: str) -> Path:
        """Return the folder of a phase's best model and checkpoints."""
        return self.path / _WORK / (name or "only")

    def log(self, row: Mapping[str, Any]) -> None:
        """Append one line to metrics.jsonl; an OutputError leaves the lines before it."""
        if not self.main:
            return
        line = json.dumps(row, allow_nan=False) + "\n"
        file = self.path / _METRICS
        with writing(file), file.open("a", encoding="utf-8") as stream:
            stream.write(line)

    def metrics(self) -> list[dict[str, Any]]:
        """Return all complete lines of metrics.jsonl, without one that a kill left incomplete."""
        return [json.loads(line) for line in self._lines()]

    def cut(self, rows: int) -> None:
        """Keep only the first lines of metrics.jsonl."""
        file = self.path / _METRICS
        if not self.main or not file.exists():
            return
        kept = b"".join(self._lines()[:rows])
        if kept != file.read_bytes():
            with draft_of(file) as draft:
                draft.write_bytes(kept)

    def _lines(self) -> list[bytes]:
        try:
            content = (self.path / _METRICS).read_bytes()
        except FileNotFoundError:
            return []
        return [line for line in content.splitlines(keepends=True) if line.endswith(b"\n")]

    def finish(self, result: Mapping[str, Any], model: Path | None = None) -> None:
        """Mark the training as finished, with its outcome as JSON values.

        The content of `model`, the folder of the best model, moves up into the run folder;
        checkpoints are then removed. Other processes must wait for the main one before they read
        the model.
        """
        if not self.main:
            return
        if model is not None and model.exists():
            entries = sorted(model.iterdir())
            taken = {CONFIG, _METRICS, _RESULT, _WORK} & {entry.name for entry in entries}
            if taken:
                raise TrainingError(
                    f"the model has {min(taken)!r}, which is a name of the run's own; save "
                    "it into a folder of its own within the one that Task.save is given"
                )
            with writing(self.path):
                for entry in entries:
                    target = self.path / entry.name
                    if target.is_dir():  # left by a killed attempt
                        shutil.rmtree(target)
                    entry.replace(target)
        _write_json(self.path / _RESULT, _as_json(result))
        if model is not None:
            shutil.rmtree(self.path / _WORK, ignore_errors=True)
        with suppress(OSError):  # Windows removes no open file
            (self.path / _LOCK).unlink(missing_ok=True)


def _as_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values as JSON gives them back, with lists for tuples."""
    try:
        kept: dict[str, Any] = json.loads(json.dumps(values, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise InputError(f"not all settings are JSON values ({error}); give plain ones") from error
    return kept


def _refuse_foreign(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise TrainingError(f"{path} is a file; name a new folder for the training")
    names = sorted(entry.name for entry in path.iterdir()) if path.exists() else []
    seen = [name for name in names if not name.startswith(".")]
    if seen:
        raise TrainingError(
            f"{path} holds files that are no training's ({seen[0]!r}); name a new folder"
        )


def _refuse_other(
    path: Path, written: Mapping[str, Any], settings: Mapping[str, Any], data_hash: str
) -> None:
    before = _flat({"settings": written["settings"], "data hash": written["data"]["hash"]})
    now = _flat({"settings": settings, "data hash": data_hash})
    for name in sorted(before.keys() | now.keys()):
        old, new = before.get(name, _MISSING), now.get(name, _MISSING)
        if old != new:
            raise TrainingError(
                f"{path} holds another training: there {name.removeprefix('settings.')} is "
                f"{old}, here it is {new}; name a new folder, or give the same to go on"
            )


def _flat(value: Any, name: str = "") -> dict[str, str]:
    """Return values by dotted name, as JSON text."""
    if not isinstance(value, dict) or not value:
        return {name: json.dumps(value)}
    found: dict[str, str] = {}
    for key, part in value.items():
        found |= _flat(part, f"{name}.{key}" if name else key)
    return found


def _write_json(file: Path, value: Mapping[str, Any]) -> None:
    with draft_of(file) as draft:
        draft.write_text(json.dumps(value, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def _read_json(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise TrainingError(f"there is no {file}; the training is not finished") from error
    except (OSError, ValueError) as error:
        raise TrainingError(f"{file} is damaged ({error}); name a new folder") from error
    if not isinstance(value, dict):
        raise TrainingError(f"{file} is damaged (no JSON object); name a new folder")
    return value
