"""Model folders, `config.json` and files beside it, each with a hash, and those of this package.

A folder appears under its name only when it is complete: it is written under another name beside
it and then renamed. A folder that does not match its hashes is not loaded. No code in it is run.

The trained models of this package are folders beside this file with the subfolders `encoder` and
`reranker`. Their README.md describes the training data and the quality.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

from sat_retriever.errors import EncoderError

FORMAT_NUMBER = 1
_CONFIG = "config.json"

Writers = Mapping[str, Callable[[Path], None]]
Hashes = Mapping[str, str]


def write_folder(target: Path, kind: str, spec: Mapping[str, Any], writers: Writers) -> None:
    """Write a model folder in one step, over one of the same kind or an empty one.

    After a failure the old one is unchanged. `spec` is all that decides the model's results, as
    plain JSON values; a writer writes its file to the given path.

    Raises:
        EncoderError: If it cannot be written, or something else is at that path.
    """

    def describe(hashes: Hashes) -> Mapping[str, Any]:
        identity = {"fingerprint": _fingerprint(kind, spec, hashes)}
        return {**identity, "files": dict(hashes), "spec": dict(spec)}

    write_described(target, kind, writers, describe)


def read_folder(folder: Path, kind: str) -> dict[str, Any]:
    """Return the spec of a model folder after checking its format, fingerprint and hashes.

    Raises:
        EncoderError: If it is missing, incomplete, damaged, or of another kind or a newer format.
    """
    config = read_config(folder, kind)
    with reading(folder, kind):
        spec, hashes = dict(config["spec"]), dict(config["files"])
        names = [name for name in hashes if Path(name).name != name]
        if names or config["fingerprint"] != _fingerprint(kind, spec, hashes):
            raise damaged(folder)
    check_files(folder, kind, hashes)
    return spec


def folder_kind(folder: Path) -> str | None:
    """Return the kind of model that a folder declares, complete or not; None if it has none."""
    try:
        config = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    kind = config.get("format") if isinstance(config, dict) else None
    return kind if isinstance(kind, str) else None


def is_folder(folder: Path, kind: str) -> bool:
    """True if a folder declares a model of this kind, complete or not."""
    return folder_kind(folder) == kind


# ---- for a kind with a config of its own


def write_described(
    target: Path, kind: str, writers: Writers, describe: Callable[[Hashes], Mapping[str, Any]]
) -> None:
    """Write a folder as `write_folder` does; `describe` makes its `config.json` of the hashes."""
    _refuse_foreign(target, kind)
    try:
        with _folder_beside(target) as draft:
            for name, write in writers.items():
                write(draft / name)
            hashes = {name: file_hash(draft / name) for name in writers}
            config = {"format": kind, "format_number": FORMAT_NUMBER, **describe(hashes)}
            text = json.dumps(config, indent=2) + "\n"
            (draft / _CONFIG).write_text(text, encoding="utf-8")
            for name in (*writers, _CONFIG):
                _flush_to_disk(draft / name)
            _swap_in(draft, target)
    except OSError as error:
        raise EncoderError(
            f"the {_noun(kind)} cannot be written to {target} ({error}); free some space, or "
            "choose a folder that can be written (for exported encoders: cache_dir)"
        ) from error


def read_config(folder: Path, kind: str) -> dict[str, Any]:
    """Return the content of `config.json` after checking its format; else an EncoderError."""
    with reading(folder, kind):
        config: dict[str, Any] = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
        found, number = config["format"], config["format_number"]
    if (found, number) != (kind, FORMAT_NUMBER):
        raise EncoderError(
            f"{folder} has format {found} {number}, this version reads {kind} {FORMAT_NUMBER}; "
            "upgrade sat-retriever or save it again"
        )
    return config


def check_files(folder: Path, kind: str, hashes: Hashes) -> None:
    """Refuse a folder whose files do not have the recorded hashes."""
    with reading(folder, kind):
        for name, expected in hashes.items():
            if file_hash(folder / name) != expected:
                raise damaged(folder, name)


@contextmanager
def reading(folder: Path, kind: str) -> Iterator[None]:
    """Turn errors about an incomplete folder into an EncoderError that says what to do."""
    try:
        yield
    except (
        OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError,
    ) as error:  # fmt: skip
        raise EncoderError(
            f"{folder} is no complete {_noun(kind)} folder ({error}); save or copy it again"
        ) from error


def damaged(folder: Path, file: str = _CONFIG) -> EncoderError:
    """Return the error for a folder with a file that was changed since it was written."""
    return EncoderError(
        f"{folder} is damaged: {file} is not what was written there (its hash differs); "
        "save or copy it again"
    )


def file_hash(file: Path) -> str:
    """Return the SHA-256 of a file's bytes.

    They are hashed in one call, because after each a thread waits for others that load modules.
    """
    with file.open("rb") as stream:
        if not os.fstat(stream.fileno()).st_size:  # nothing can be mapped
            return hashlib.sha256().hexdigest()
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return hashlib.sha256(data).hexdigest()


def _fingerprint(kind: str, spec: Mapping[str, Any], hashes: Hashes) -> str:
    identity = {"format": kind, "files": dict(hashes), "spec": dict(spec)}
    text = json.dumps(identity, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def _noun(kind: str) -> str:
    return kind.removeprefix("sat-")


def _refuse_foreign(target: Path, kind: str) -> None:
    """Refuse to write over anything but a folder of the same kind or an empty folder."""
    if not target.exists() or is_folder(target, kind):
        return
    if not target.is_dir() or any(target.iterdir()):
        raise EncoderError(f"{target} exists and holds no {_noun(kind)}; choose another folder")


@contextmanager
def _folder_beside(target: Path) -> Iterator[Path]:
    """Yield a new hidden folder beside the target; remove it afterwards if it is still there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _swap_in(draft: Path, target: Path) -> None:
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


GENERAL = "general"
PACKAGED = (GENERAL,)
FOLDER = Path(__file__).parent
Part = Literal["encoder", "reranker"]
_INSTEAD: Mapping[Part, str] = {"encoder": "minilm", "reranker": "links"}

Model = TypeVar("Model")


def is_packaged(name: str | Path) -> bool:
    """True if a name means a model of this package; a folder of that name is "./general".

    >>> is_packaged("general"), is_packaged("./general"), is_packaged("minilm")
    (True, False, False)
    """
    return isinstance(name, str) and name in PACKAGED


def packaged_model(name: str, part: Part, read: Callable[[Path], Model]) -> Model:
    """Return one part of a packaged model; an EncoderError if it is missing or was changed."""
    folder = FOLDER / name / part
    if not folder.is_dir():
        raise EncoderError(
            f"this installation has no {part} {name!r}; choose {_INSTEAD[part]!r} or a folder of "
            "your own, or install a version of sat-retriever that brings it"
        )
    try:
        return read(folder)
    except EncoderError as error:
        raise EncoderError(
            f"the {part} {name!r} of this installation cannot be used ({error}); install "
            "sat-retriever again from where it came, with pip's option --force-reinstall"
        ) from error
