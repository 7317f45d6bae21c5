"""An exported encoder as a folder.

A folder holds `config.json` (format number, fingerprint, spec, hash of the model),
`tokenizer.json` and `model.onnx`. It appears under its name only when it is complete:
it is written beside it and renamed. What does not fit its own hashes is not loaded.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_retriever.encoder.spec import EncoderSpec
from sat_retriever.errors import EncoderError

_FORMAT = "sat-encoder"
_FORMAT_NUMBER = 1
_FILES = ("config.json", "tokenizer.json", "model.onnx")


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A complete, verified folder of an exported encoder.

    Attributes:
        path: The folder.
        spec: How its tokens are made.
    """

    path: Path
    spec: EncoderSpec

    @property
    def model(self) -> Path:
        """The ONNX file."""
        return self.path / "model.onnx"

    @property
    def tokenizer(self) -> Path:
        """The tokenizer file."""
        return self.path / "tokenizer.json"


def is_model_folder(folder: Path) -> bool:
    """Whether this package wrote the folder (complete or not)."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and config.get("format") == _FORMAT


def read_model_folder(folder: Path) -> ModelFolder:
    """The folder, after its format, fingerprint and hashes were checked.

    Raises:
        EncoderError: If it is missing, incomplete, damaged, or of a newer format.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if config["format"] != _FORMAT or config["format_number"] != _FORMAT_NUMBER:
            raise EncoderError(
                f"{folder} has format {config['format']} {config['format_number']}, this version "
                f"reads {_FORMAT} {_FORMAT_NUMBER}; upgrade sat-retriever or save it again"
            )
        spec = EncoderSpec(**config["spec"])
        expected = (config["fingerprint"], config["model_sha256"], spec.tokenizer)
        found = (
            spec.fingerprint,
            _file_hash(folder / "model.onnx"),
            _file_hash(folder / "tokenizer.json"),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EncoderError(
            f"{folder} is no complete encoder folder ({error}); save or copy it again"
        ) from error
    if expected != found:
        raise EncoderError(
            f"{folder} is damaged: its files do not have the recorded hashes; save or copy it again"
        )
    return ModelFolder(folder, spec)


def write_model_folder(
    target: Path, spec: EncoderSpec, tokenizer: Path, write_model: Callable[[Path], None]
) -> ModelFolder:
    """Write a folder in one step: it is there complete, or as it was before.

    Args:
        target: The folder; an encoder folder or an empty folder there is replaced.
        spec: How its tokens are made.
        tokenizer: The `tokenizer.json` to copy.
        write_model: Writes the ONNX file to the path it is given.

    Raises:
        EncoderError: If it cannot be written, or something else is there.
    """
    _refuse_foreign(target)
    try:
        with _folder_beside(target) as draft:
            shutil.copyfile(tokenizer, draft / "tokenizer.json")
            write_model(draft / "model.onnx")
            config: dict[str, Any] = {
                "format": _FORMAT,
                "format_number": _FORMAT_NUMBER,
                "fingerprint": spec.fingerprint,
                "model_sha256": _file_hash(draft / "model.onnx"),
                "spec": spec.to_dict(),
            }
            text = json.dumps(config, indent=2) + "\n"
            (draft / "config.json").write_text(text, encoding="utf-8")
            for name in _FILES:
                _flush_to_disk(draft / name)
            _swap_in(draft, target)
    except OSError as error:
        raise EncoderError(
            f"the encoder cannot be written to {target} ({error}); free some space, or choose "
            "a folder that can be written (cache_dir)"
        ) from error
    return ModelFolder(target, spec)


def _refuse_foreign(target: Path) -> None:
    """Refuse to write over anything but an encoder folder or an empty folder."""
    if not target.exists() or is_model_folder(target):
        return
    if not target.is_dir() or any(target.iterdir()):
        raise EncoderError(f"{target} exists and holds no encoder; choose another folder")


@contextmanager
def _folder_beside(target: Path) -> Iterator[Path]:
    """A new hidden folder beside the target, removed again if it is still there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _swap_in(draft: Path, target: Path) -> None:
    """Put a finished folder in the place of the target."""
    draft.chmod(0o755)  # mkdtemp's folders are private
    if not target.exists():
        draft.rename(target)
        return
    with _folder_beside(target) as old:
        target.rename(old / "replaced")
        try:
            draft.rename(target)
        except OSError:
            (old / "replaced").rename(target)
            raise


def _flush_to_disk(file: Path) -> None:
    """Wait until the file's bytes are on the disk, so that a crash leaves no empty file."""
    with file.open("rb+") as stream:
        os.fsync(stream.fileno())


def _file_hash(file: Path) -> str:
    """SHA-256 of a file's bytes."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
