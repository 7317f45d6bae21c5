"""What a backup holds: its notes, and the size and hash of each of its files."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sat_retriever.errors import IndexFormatError, InputError, PathNotFoundError
from sat_retriever.records.files import flush, writing

FORMAT, FORMAT_NUMBER = "sat-backup", 1
MANIFEST = "backup.json"
INDEX = "index.sat"
MODELS = ("encoder", "reranker")
_MAPS = "maps"
# A file of a model or of the maps, at a path of plain names: nothing outside of the backup.
_NAME = r"[^/\\:\x00-\x1f]+"
_FILE = re.compile(rf"{INDEX}|({'|'.join((*MODELS, _MAPS))})(/(?!\.\.?(/|$)){_NAME})+")
_PRECISION = re.compile(r":(int8|compact)$")
_LONGEST = 16 << 20  # bytes of the notes
_PART = 1 << 20  # bytes that are read together

Moved = Callable[[int], object]
"""Called with the number of bytes that were just read."""


@dataclass(frozen=True, slots=True)
class FileNote:
    """The size and SHA-256 of one file."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The notes of a backup.

    Attributes:
        index: Place of the index, without a password.
        made: When the backup was begun, UTC, in ISO 8601.
        version: Version of this package that made it.
        schema: Schema of the index file.
        generation: Number of writes that it has seen.
        workbooks: Number of workbooks.
        sheets: Number of sheets.
        models: The noted folder of each trained model that is in the backup, by its part.
        missing: Trained models that the index names and that could not be found.
        files: Every file of the backup, by its path in it.
    """

    index: str
    made: str
    version: str
    schema: int
    generation: int
    workbooks: int
    sheets: int
    models: Mapping[str, str]
    missing: tuple[str, ...]
    files: Mapping[str, FileNote]

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(each.bytes for each in self.files.values())

    def of(self, part: str) -> dict[str, FileNote]:
        """The files of a model or of the maps, by their path in that folder."""
        start = f"{part}/"
        return {n.removeprefix(start): f for n, f in self.files.items() if n.startswith(start)}


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the notes of a backup to its folder, with a checksum of their own."""
    plain = {"format": FORMAT, "format_number": FORMAT_NUMBER, **asdict(manifest)}
    text = json.dumps({**plain, "checksum": _checksum(plain)}, indent=1) + "\n"
    with writing(folder):
        (folder / MANIFEST).write_text(text, encoding="utf-8")
        (folder / MANIFEST).chmod(0o600)
    flush(folder / MANIFEST)


def read_manifest(folder: Path) -> Manifest:
    """The notes of a backup.

    Raises:
        PathNotFoundError: If there is no such folder.
        InputError: If the folder is no backup.
        IndexFormatError: If its notes are damaged, or of a newer version.
    """
    if not folder.is_dir():
        raise PathNotFoundError(f"there is no folder {folder}; name one that sat backup made")
    file = folder / MANIFEST
    if not file.is_file():
        held = sorted(each.parent.name for each in folder.glob(f"*/{MANIFEST}"))
        there = f"it holds {', '.join(held)}: name one of them" if held else "sat backup makes one"
        raise InputError(f"{folder} is no backup; {there}")
    try:
        if file.stat().st_size > _LONGEST:
            raise ValueError(f"{file.stat().st_size} bytes")
        plain = json.loads(file.read_text(encoding="utf-8"))
        checksum = plain.pop("checksum")
        known = (plain.pop("format"), plain.pop("format_number"))
        if known == (FORMAT, FORMAT_NUMBER):
            return _manifest(plain, checksum)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise broken(folder, f"its notes ({MANIFEST}) are not what was written there") from error
    raise IndexFormatError(
        f"{folder} is a backup of the form {known[0]} {known[1]}, this version reads {FORMAT} "
        f"{FORMAT_NUMBER}: install the version that made it, or a newer one"
    )


def model_folder(name: str) -> tuple[str, str]:
    """The folder that a noted model names, and the precision behind it, if any.

    >>> model_folder("/models/own:int8"), model_folder("/models/own")
    (('/models/own', ':int8'), ('/models/own', ''))
    """
    found = _PRECISION.search(name)
    return (name[: found.start()], found[0]) if found else (name, "")


def broken(folder: Path, reason: str) -> IndexFormatError:
    """The error of a backup that is not as it was written."""
    return IndexFormatError(f"the backup {folder} is damaged: {reason}; restore another one")


def copy_checked(source: Path, target: Path, moved: Moved | None = None) -> FileNote:
    """Copy a file to a new one that its owner alone may read; return what was read."""
    with writing(target):
        opened = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with open(opened, "wb") as copy:  # noqa: PTH123 - a descriptor with a mode of its own
            return _noted(source, moved, copy.write)


def noted(source: Path, moved: Moved | None = None) -> FileNote:
    """The size and hash of a file as it is now."""
    return _noted(source, moved, lambda _: None)


def _noted(source: Path, moved: Moved | None, use: Callable[[bytes], object]) -> FileNote:
    digest, size = hashlib.sha256(), 0
    for part in _parts(source):
        digest.update(part)
        use(part)
        size += len(part)
        if moved is not None:
            moved(len(part))
    return FileNote(size, digest.hexdigest())


def _parts(source: Path) -> Iterator[bytes]:
    with source.open("rb") as file:
        while part := file.read(_PART):
            yield part


def _manifest(plain: dict[str, Any], checksum: str) -> Manifest:
    whole = {"format": FORMAT, "format_number": FORMAT_NUMBER, **plain}
    files = {name: FileNote(**note) for name, note in plain.pop("files").items()}
    if _checksum(whole) != checksum or not _is_sound(plain, files):
        raise ValueError("the notes were changed")
    return Manifest(files=files, missing=tuple(plain.pop("missing")), **plain)


def _is_sound(plain: Mapping[str, Any], files: Mapping[str, FileNote]) -> bool:
    """True if notes are of the kinds that are written; a checksum can be made for any others."""
    texts = [plain[name] for name in ("index", "made", "version")]
    texts += [
        *plain["models"].values(),
        *plain["missing"],
        *(each.sha256 for each in files.values()),
    ]
    return (
        all(isinstance(each, str) for each in texts)
        and all(type(each.bytes) is int and each.bytes >= 0 for each in files.values())
        and all(map(_FILE.fullmatch, files))
        and INDEX in files
        and set(plain["models"]) <= set(MODELS)
    )


def _checksum(plain: Mapping[str, Any]) -> str:
    text = json.dumps(plain, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
