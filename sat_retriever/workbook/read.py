"""A path to a workbook's records, formulas, structure and skipped parts.

Nothing a file contains raises: what cannot be read is a `Skipped` with a reason. Every
file is read in a process of its own kind, capped in memory and time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

from sat_retriever._extras import require
from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.jsonform import record_from_json, skipped_from_json
from sat_retriever.structure import ColumnProfile, Reference, Structure
from sat_retriever.types import Formula, SheetRecord, Skipped, SkipReason
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.paths import printable
from sat_retriever.workbook.pool import Slot, borrowed_slot, map_slots, usable_cores
from sat_retriever.workbook.process import WorkerFailed
from sat_retriever.workbook.request import Request
from sat_retriever.workbook.wire import (
    formulas_from_json,
    profiles_from_json,
    references_from_json,
    structure_from_json,
)

DEFAULT_LIMITS = Limits()
_RETRIED = (SkipReason.READER_CRASHED, SkipReason.OUT_OF_MEMORY)
_FIRST_SHARE = 0.8  # of a file's time that the first attempt may take
_LISTS: dict[str, Callable[[Any], list[Any]]] = {
    "record": lambda content: [record_from_json(content)],
    "formulas": formulas_from_json,
    "references": references_from_json,
    "profiles": profiles_from_json,
    "skipped": lambda content: [skipped_from_json(content)],
}


@dataclass(frozen=True, slots=True)
class Workbook:
    """What was read of one file.

    Attributes:
        path: The file, as it was named.
        format: Format found in its content; empty if none was recognised.
        records: One record for each worksheet with a value or a formula, in tab order.
        formulas: Formulas, sheet by sheet (xlsx, xlsm, xltx, ods). Those of an ods are in
            the notation of Excel.
        references: What the formulas take from other sheets, names and workbooks; at most
            2,000 a sheet and 20,000 in all.
        profiles: Sketches of columns that could be keys; none without examples.
        skipped: Sheets, or the whole file, that gave no record, and why.
        structure: Names, tables, data sources, external workbooks, hidden parts.
        content_hash: BLAKE2b of its bytes; empty if it could not be read at all.
        size: Bytes on disk when it was read.
        modified_ns: Modification time when it was read, nanoseconds.
    """

    path: Path
    format: str = ""
    records: tuple[SheetRecord, ...] = ()
    formulas: tuple[Formula, ...] = ()
    references: tuple[Reference, ...] = ()
    profiles: tuple[ColumnProfile, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    structure: Structure = field(default_factory=Structure)
    content_hash: str = ""
    size: int = 0
    modified_ns: int = 0


def read_workbook(
    path: str | os.PathLike[str],
    *,
    root: str | os.PathLike[str] | None = None,
    examples: bool = True,
    formulas: bool = True,
    links: bool = True,
    password: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Workbook:
    """Records, formulas, references, structure and skipped parts of one workbook.

    Args:
        path: An xlsx, xlsm, xltx, xlsb, xls, ods, csv or tsv, whatever its extension.
        root: Folder that sheet ids are relative to; the file's own folder by default.
        examples: Whether records keep an example cell for each column. Without, nothing
            that is made of cell values is kept, so there are no profiles either.
        formulas: False leaves formulas out, which can be a million.
        links: False leaves out what links are found by: references and profiles.
        password: Opens an encrypted workbook (extra `[encrypted]`).
        limits: Bounds on size, memory and time.

    Raises:
        PathNotFoundError: If there is nothing at `path`.
        InputError: If `path` is not under `root`.
        MissingExtraError: If a password is given without the extra installed.
    """
    path = Path(path)
    if not os.path.lexists(path):
        raise PathNotFoundError(f"There is no file at {str(path)!r}; check the path.")
    _require_password(password)
    request = _request(path, Path(root) if root is not None else None, limits)
    request = replace(request, examples=examples, formulas=formulas, links=links, password=password)
    with borrowed_slot() as slot:
        return _read(path, request, slot)


def read_workbooks(
    paths: Iterable[str | os.PathLike[str]],
    *,
    root: str | os.PathLike[str] | Callable[[Path], Path] | None = None,
    examples: bool = True,
    formulas: bool = True,
    links: bool = True,
    password: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    workers: int | None = None,
) -> Generator[Workbook]:
    """Workbooks in the order in which they are finished, read by all cores.

    Closing the iterator, or an exception such as KeyboardInterrupt in the loop over
    it, kills the reading processes at once. A path that vanished is a skipped file.

    Args:
        paths: Files; consumed as workers become free.
        root: Folder that sheet ids are relative to, or a function that tells it for a
            file; each file's own folder by default.
        examples: As `read_workbook`.
        formulas: As `read_workbook`.
        links: As `read_workbook`.
        password: Tried on every encrypted workbook.
        limits: As `read_workbook`.
        workers: Reading processes; one for each usable core by default.

    Raises:
        InputError: If a path is not under its root.
        MissingExtraError: If a password is given without the extra installed.
    """
    _require_password(password)
    root_of = root if callable(root) else lambda _path: Path(root) if root is not None else None

    def requests() -> Iterator[tuple[Path, Request]]:
        for each in paths:
            path = Path(each)
            request = _request(path, root_of(path), limits)
            asked = replace(
                request, examples=examples, formulas=formulas, links=links, password=password
            )
            yield path, asked

    yield from map_slots(lambda job, slot: _read(*job, slot), requests(), workers or usable_cores())


def _read(path: Path, request: Request, slot: Slot) -> Workbook:
    """One file, tried again without calamine if the first attempt took the worker down."""
    start = time.monotonic()
    seconds = request.limits.seconds
    try:
        workbook, changed = _attempt(path, request, slot, seconds * _FIRST_SHARE)
        if changed:
            workbook, changed = _attempt(path, request, slot, seconds)
        if changed:
            moving = "The file kept changing while it was read."
            return _failed(path, request, SkipReason.UNREADABLE, moving)
        return workbook
    except WorkerFailed as failed:
        left = seconds - (time.monotonic() - start)
        first = failed
    try:
        if left <= 0:
            raise first
        workbook, _changed = _attempt(path, replace(request, safe=True, seconds=left), slot, left)
        if all(skip.reason is not SkipReason.READER_CRASHED for skip in workbook.skipped):
            return workbook
        raise first
    except WorkerFailed:
        return _failed(path, request, first.reason, first.message)


def _attempt(path: Path, request: Request, slot: Slot, seconds: float) -> tuple[Workbook, bool]:
    lists: dict[str, list[Any]] = {kind: [] for kind in _LISTS}
    structure = Structure()
    done: dict[str, Any] = {}
    for message in slot.worker().ask(request, seconds):
        [(kind, content)] = message.items()
        if kind in _LISTS:
            lists[kind] += _LISTS[kind](content)
        elif kind == "structure":
            structure = structure_from_json(content)
        else:
            done = content
    workbook = Workbook(
        path=path,
        format=done["format"],
        records=tuple(lists["record"]),
        formulas=tuple(lists["formulas"]),
        references=tuple(lists["references"]),
        profiles=tuple(lists["profiles"]),
        skipped=tuple(lists["skipped"]),
        structure=structure,
        content_hash=done["content_hash"],
        size=done["size"],
        modified_ns=done["modified_ns"],
    )
    return workbook, done["changed"]


def _failed(path: Path, request: Request, reason: SkipReason, message: str) -> Workbook:
    return Workbook(path, skipped=(Skipped(request.relative, reason, message),))


def _request(path: Path, root: Path | None, limits: Limits) -> Request:
    """The request for one file, with its path as sheet ids show it.

    Raises:
        InputError: If the file is not under the root.
    """
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - links are kept as named
    if root is None:
        relative: PurePath = PurePath(absolute.name)
    else:
        folder = Path(os.path.abspath(root))  # noqa: PTH100
        if not absolute.is_relative_to(folder):
            raise InputError(f"{str(path)!r} is not under the root {str(root)!r}.")
        relative = absolute.relative_to(folder)
    return Request(path=str(absolute), relative=printable(relative), limits=limits)


def _require_password(password: str | None) -> None:
    if password is not None:
        require("msoffcrypto", "encrypted")
