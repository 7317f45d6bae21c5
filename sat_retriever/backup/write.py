"""Write a backup of an index, and drop the oldest ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sat_retriever._version import __version__
from sat_retriever.backup.manifest import (
    INDEX,
    MODELS,
    FileNote,
    Manifest,
    copy_checked,
    model_folder,
    noted,
    read_manifest,
    write_manifest,
)
from sat_retriever.errors import IndexBusyError, SatError
from sat_retriever.index.settings import located
from sat_retriever.index.store.complete import checked_facts
from sat_retriever.index.store.opening import save_store
from sat_retriever.index.store.place import Place, resolved
from sat_retriever.index.store.sqlite import BESIDE
from sat_retriever.rank.load import located_reranker
from sat_retriever.records.files import flush, make_folder, portable, writing

_PARTIAL = ".partial-"
_LOCK_S = 10.0  # time that another backup into the same folder may take
Told = Callable[[str, int, int, str], None]
"""Called with what is done, the number of things done, of all, and the noun for one of them."""


def silent(_what: str, _done: int, _total: int, _noun: str) -> None:
    """Tell nobody."""


def back_up(place: Place, into: Path, *, told: Told | None = None) -> tuple[Path, Manifest]:
    """Write an index to a new folder below `into`, named by the time; others may write meanwhile.

    The backup has the last complete state of the index: an index file that can be opened, trained
    models that it names, and the mapped state of a large file. Files and folders are for their
    owner alone. It appears whole or not at all.

    Args:
        place: The index file, whose schema stays, or the URL.
        into: Folder of the backups; made unless it exists.
        told: Told what is going on.

    Returns:
        The folder of the backup, and what is in it.

    Raises:
        IndexDamagedError: If records or contents are not as they were written.
        IndexFormatError: If the index is broken, or in a database of an older version.
        IndexBusyError: If another backup is being written to the same folder.
        PermissionsError: If the role of a URL does not see all sheets.
        OutputError: If it cannot be written.
    """
    said = told or silent
    made = datetime.now(UTC)
    with _locked(into):
        draft = into / f"{_PARTIAL}{made:%Y%m%dT%H%M%S%f}"
        with writing(draft):
            draft.mkdir(mode=0o700)
        try:
            manifest = _written(place, draft, made, said)
            target = _free(into, f"{portable(place.stem) or 'index'}-{made:%Y-%m-%dT%H%M%SZ}")
            with writing(target):
                draft.rename(target)
            flush(into)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return target, manifest


def drop_oldest(place: Place, into: Path, keep: int) -> list[Path]:
    """Delete all backups of an index below a folder but the newest; return the deleted folders.

    One that cannot be read stays.
    """
    with _locked(into):
        found = []
        for each in into.iterdir():
            with suppress(SatError):
                manifest = read_manifest(each)
                if manifest.index == str(resolved(place)):
                    found.append((manifest.made, each))
        old = [each for _made, each in sorted(found)[:-keep]]
        for each in old:
            gone = each.with_name(f"{_PARTIAL}{each.name}")
            with writing(each):
                each.rename(gone)
                shutil.rmtree(gone)
    return old


@contextmanager
def _locked(into: Path) -> Iterator[None]:
    """Keep other backups out of a folder, and remove what a killed one left there."""
    from filelock import FileLock, Timeout

    if not into.exists():
        make_folder(into)
        into.chmod(0o700)
    with writing(into):
        lock = FileLock(into / ".lock", timeout=_LOCK_S)
        try:
            lock.acquire()
        except Timeout as error:
            raise IndexBusyError(
                f"another backup is being written to {into}; try again when it has finished"
            ) from error
    try:
        for left in into.glob(f"{_PARTIAL}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        lock.release()


def _free(into: Path, name: str) -> Path:
    target, number = into / name, 1
    while target.exists():
        number += 1
        target = into / f"{name}-{number}"
    return target


def _written(place: Place, draft: Path, made: datetime, said: Told) -> Manifest:
    file = draft / INDEX
    noun = "page" if isinstance(place, Path) else "row"
    save_store(place, file, lambda done, total: said("copying", done, total, noun))
    with writing(file):
        file.chmod(0o600)
    manifest = _checked(place, file, made, said)
    manifest = _with_models(place, draft, manifest)
    maps = _maps(place, draft, manifest.generation)
    size = file.stat().st_size
    done = 0

    def moved(count: int) -> None:
        nonlocal done
        done += count
        said("reading back", done, size, "byte")

    flush(file)
    manifest = replace(manifest, files={**manifest.files, **maps, INDEX: noted(file, moved)})
    write_manifest(draft, manifest)
    for folder in [draft, *(each for each in draft.rglob("*") if each.is_dir())]:
        flush(folder)
    return manifest


def _checked(place: Place, file: Path, made: datetime, said: Told) -> Manifest:
    """Check a copy of an index, and note what it holds."""
    said("checking", 0, 1, "")
    facts = checked_facts(file, place)
    meta = facts.meta
    named = {part: model_folder(meta[part])[0] for part in MODELS if part in meta}
    homes = {
        part: located(name, meta.get("home"), place)
        for part, name in named.items()
        if Path(name).is_absolute()
    }
    return Manifest(
        index=str(resolved(place)),
        made=made.isoformat(timespec="microseconds"),
        version=__version__,
        schema=facts.schema,
        generation=int(meta.get("generation", 0)),
        workbooks=facts.workbooks,
        sheets=facts.sheets,
        models={part: home for part, home in homes.items() if Path(home).is_dir()},
        missing=tuple(home for home in homes.values() if not Path(home).is_dir()),
        files={},
    )


def _with_models(place: Place, draft: Path, manifest: Manifest) -> Manifest:
    """Copy the folders of trained models."""
    files: dict[str, FileNote] = {}
    for part, name in manifest.models.items():
        home = located_reranker(name)[1] if part == "reranker" else Path(name)
        files |= _copied(home, draft / part, part)
    return replace(manifest, files=files)


def _maps(place: Place, draft: Path, generation: int) -> dict[str, FileNote]:
    """Copy the mapped state of a large index file; nothing if it is newer, or just goes."""
    if not isinstance(place, Path):
        return {}
    place = place.resolve()
    for home in sorted(place.with_name(place.name + BESIDE).glob("g*"), reverse=True):
        try:
            state = json.loads((home / "state.json").read_text(encoding="utf-8"))
            if state["generation"] <= generation:
                return _copied(home, draft / "maps" / home.name, f"maps/{home.name}")
        except (OSError, ValueError, KeyError, TypeError):
            shutil.rmtree(draft / "maps", ignore_errors=True)
    return {}


def _copied(source: Path, target: Path, name: str) -> dict[str, FileNote]:
    """Copy all files of a folder, and note them by their path in the backup."""
    notes = {}
    for file in sorted(source.rglob("*")):
        if file.is_file():
            below = file.relative_to(source)
            (target / below).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            notes[f"{name}/{below.as_posix()}"] = copy_checked(file, target / below)
            flush(target / below)
    return notes
