"""Check a backup, and bring the index back from it."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from sat_retriever.backup.manifest import (
    INDEX,
    FileNote,
    Manifest,
    broken,
    copy_checked,
    model_folder,
    noted,
    read_manifest,
)
from sat_retriever.backup.write import Told, silent
from sat_retriever.errors import PathNotFoundError
from sat_retriever.index.settings import home_note
from sat_retriever.index.store.complete import meta_of, note_meta
from sat_retriever.index.store.connection import drop_side_files, open_as_it_is
from sat_retriever.index.store.opening import check_free, migrate_store
from sat_retriever.index.store.place import IndexUrl, Place
from sat_retriever.index.store.replacing import check_index, put_in_place
from sat_retriever.index.store.sqlite import BESIDE, sole_writer_of
from sat_retriever.records.files import flush, writing
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.opening.regular import open_regular

_MODELS = ".models"  # ending of the folder beside an index for models that have no other place


def check(folder: Path, told: Told | None = None) -> Manifest:
    """Compare every file of a backup with its hash, and return what is in it; nothing is written.

    Raises:
        PathNotFoundError: If there is no such folder.
        InputError: If the folder is no backup.
        IndexFormatError: If it is damaged, or of a newer version.
    """
    manifest = read_manifest(folder)
    moved = _counting(manifest, "checking", told)
    for name, note in manifest.files.items():
        _compare(folder, name, note, lambda file: noted(file, moved))
    return manifest


def restore(
    folder: Path, place: Place, *, replace: bool = False, told: Told | None = None
) -> Manifest:
    """Bring an index back to a place, whole or not at all, and return what was in the backup.

    Every file is compared with its hash while it is copied. An index file gets the schema that it
    had; one in PostgreSQL that of this version. Trained models go back to where they were, or into
    a folder beside the index if nothing is there, or something else.

    Args:
        folder: The backup.
        place: A file or URL, which may be of the other kind than the one that was saved.
        replace: True to replace an index that is there. Programs that have it open must open it
            again.
        told: Told what is going on.

    Raises:
        PathNotFoundError: If there is no such folder.
        InputError: If the folder is no backup, or there is already something at the place.
        IndexFormatError: If the backup is damaged, or of a newer version.
        IndexBusyError: If another process is writing to the index.
        OutputError: If it cannot be written.
        IndexStorageError: If a server refuses, or has no room.
    """
    manifest = read_manifest(folder)
    if not replace:
        check_free(place)
    if isinstance(place, IndexUrl):
        _restore_database(folder, manifest, place, replace=replace, told=told)
    else:
        _restore_file(folder, manifest, place, replace=replace, told=told)
    return manifest


def _restore_file(
    folder: Path, manifest: Manifest, place: Path, *, replace: bool, told: Told | None
) -> None:
    path = place.resolve()
    if not path.parent.is_dir():
        raise PathNotFoundError(f"there is no folder {path.parent}; make it, or name another place")
    with sole_writer_of(path):
        if replace and path.exists():
            check_index(path)
        draft = path.with_name(f".{path.name[:100]}.restoring")
        with writing(path):
            draft.unlink(missing_ok=True)  # of a restoration that was killed
        try:
            _copy_index(folder, manifest, draft, path, told)
            put_in_place(draft, path, replace=replace)
        finally:
            drop_side_files(draft)
            draft.unlink(missing_ok=True)
        _restore_maps(folder, manifest, path)


def _restore_database(
    folder: Path, manifest: Manifest, place: IndexUrl, *, replace: bool, told: Told | None
) -> None:
    # A copy, because a file of an older schema is brought up to date while it is opened.
    with tempfile.TemporaryDirectory(prefix="sat-restore-") as spare:
        file = Path(spare) / INDEX
        _copy_index(folder, manifest, file, place, told)
        said = told or silent
        migrate_store(
            file, place, lambda done, total: said("loading", done, total, "row"), replace=replace
        )


def _copy_index(
    folder: Path, manifest: Manifest, draft: Path, place: Place, told: Told | None
) -> None:
    """Copy the index file of a backup, and note in it where its models are now."""
    moved = _counting(manifest, "copying", told)
    _compare(folder, INDEX, manifest.files[INDEX], lambda file: copy_checked(file, draft, moved))
    open_as_it_is(draft).close()  # refuses what is no index of this or an older version
    if not manifest.models.keys() <= meta_of(draft).keys():
        raise broken(folder, "its notes have a model that its index does not name")
    beside = place.parent if isinstance(place, Path) else Path.cwd()
    homes = {
        part: _restore_model(folder, manifest, part, beside / f"{place.name}{_MODELS}", moved)
        for part in manifest.models
    }
    if homes:
        _note_models(draft, place, homes)


def _note_models(file: Path, place: Place, homes: Mapping[str, Path]) -> None:
    """Note in an index file where its models are now."""
    meta = meta_of(file)
    found = {part: f"{home}{model_folder(meta[part])[1]}" for part, home in homes.items()}
    if any(meta[part] != name for part, name in found.items()):
        note_meta(file, found | home_note(place))


def _restore_model(
    folder: Path, manifest: Manifest, part: str, beside: Path, moved: Callable[[int], None]
) -> Path:
    """The folder of a model: where it was if it is there still, else a new one."""
    files = manifest.of(part)
    before = Path(manifest.models[part])
    if _holds(before, files):
        return before
    digest = hashlib.sha256("\n".join(sorted(f.sha256 for f in files.values())).encode())
    target = beside / f"{part}-{digest.hexdigest()[:16]}"
    if not _holds(target, files):
        _copy_folder(folder, part, files, target, moved)
    return target


def _restore_maps(folder: Path, manifest: Manifest, path: Path) -> None:
    """Put the mapped state beside the file; readers compare it with the file before use."""
    from sat_retriever.index.search.mapped_write import hide

    files = manifest.of("maps")
    names = {name.partition("/")[0] for name in files}
    home = path.with_name(path.name + BESIDE)
    for name in names:
        of = {n.partition("/")[2]: f for n, f in files.items() if n.startswith(f"{name}/")}
        _copy_folder(folder, f"maps/{name}", of, home / name, None)
        hide(home, path)


def _copy_folder(
    folder: Path,
    part: str,
    files: Mapping[str, FileNote],
    target: Path,
    moved: Callable[[int], None] | None,
) -> None:
    """Copy some files of a backup to a folder, which appears whole or not at all."""
    with writing(target):
        target.parent.mkdir(mode=0o700, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            for name, note in files.items():
                copy = draft / name
                copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

                def copied(file: Path, to: Path = copy) -> FileNote:
                    return copy_checked(file, to, moved)

                _compare(folder, f"{part}/{name}", note, copied)
                flush(copy)
            shutil.rmtree(target, ignore_errors=True)
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    flush(target.parent)


def _holds(home: Path, files: Mapping[str, FileNote]) -> bool:
    """True if a folder holds some files as they were."""
    try:
        return all(
            _size(home / name) == note.bytes and noted(home / name) == note
            for name, note in files.items()
        )
    except (OSError, Refused):
        return False


def _size(file: Path, within: Path | None = None) -> int:
    """Bytes of a regular file, before any is read: a device or a pipe has no end."""
    with open_regular(file, within) as opened:
        return os.fstat(opened.fileno()).st_size


def _compare(folder: Path, name: str, note: FileNote, read: Callable[[Path], FileNote]) -> None:
    """Read a file of a backup, and raise `IndexFormatError` unless it is as it was written."""
    file = folder / name
    try:
        size = _size(file, folder)
    except OSError as error:
        raise broken(folder, f"{name} cannot be read ({error.strerror})") from error
    except Refused as error:
        raise broken(folder, f"{name} is no regular file of its folder") from error
    if size != note.bytes or read(file) != note:
        raise broken(folder, f"{name} is not what was written there (its hash differs)")


def _counting(manifest: Manifest, what: str, told: Told | None) -> Callable[[int], None]:
    done = 0

    def moved(count: int) -> None:
        nonlocal done
        done += count
        if told is not None:
            told(what, min(done, manifest.bytes), manifest.bytes, "byte")

    return moved
