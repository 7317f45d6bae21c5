"""A workbook file to read: on this machine, or brought there for the time of reading."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePath
from threading import Event
from typing import Protocol, TypeVar

from sat_retriever.errors import InputError
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.opening.paths import printable
from sat_retriever.workbook.request import Request


@dataclass(frozen=True, slots=True)
class Place:
    """A file of this machine, and what sheet ids call it.

    Attributes:
        path: The file.
        relative: Its POSIX path as written in sheet ids.
        within: Folder that it must lie in, or file that it must be, after links are resolved; None
            allows every place.
    """

    path: Path
    relative: str
    within: Path | None = None


class Readable(Protocol):
    """A workbook, wherever it is kept; equal ones are the same file."""

    @property
    def relative(self) -> str:
        """Its POSIX path as written in sheet ids."""

    def opened(self, limits: Limits, stopping: Event) -> AbstractContextManager[Place]:
        """Have the file on this machine until the block ends.

        Args:
            limits: Limits on its size.
            stopping: Is set when nobody waits for the file any more.

        Raises:
            Refused: If it cannot be had.
        """


File = TypeVar("File", bound=Readable)


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A workbook of this machine.

    Attributes:
        path: The file.
        root: Folder that sheet ids are relative to; the file's own folder if it is None.
        within: As in `read_workbook`.
    """

    path: Path
    root: Path | None = None
    within: Path | None = None

    @property
    def relative(self) -> str:
        """Its POSIX path as written in sheet ids.

        Raises:
            InputError: If it is not under its root.
        """
        return _relative(self.path, self.root)

    def opened(self, limits: Limits, stopping: Event) -> AbstractContextManager[Place]:
        """Return its place; nothing has to be opened."""
        return nullcontext(Place(self.path, self.relative, self.within))


def request_for(
    path: Path,
    root: Path | None,
    limits: Limits,
    within: Path | None = None,
    relative: str | None = None,
) -> Request:
    """The request for one file, with its path as sheet ids show it, or the given one.

    Raises:
        InputError: If the file is not under the root.
    """
    named = _relative(path, root) if relative is None else relative
    return request_at(Place(path, named, within), limits)


def request_at(place: Place, limits: Limits) -> Request:
    """The request for a file in its place."""
    within = place.within
    return Request(
        path=os.path.abspath(place.path),  # noqa: PTH100 - links are kept as named
        relative=place.relative,
        within=None if within is None else os.path.abspath(within),  # noqa: PTH100
        limits=limits,
    )


def _relative(path: Path, root: Path | None) -> str:
    """The path of a file as sheet ids show it.

    Raises:
        InputError: If it is not under the root.
    """
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - links are kept as named
    relative: PurePath = PurePath(absolute.name)
    if root is not None:
        folder = Path(os.path.abspath(root))  # noqa: PTH100
        if not absolute.is_relative_to(folder):
            raise InputError(f"{str(path)!r} is not under the root {str(root)!r}.")
        relative = absolute.relative_to(folder)
    return printable(relative)
