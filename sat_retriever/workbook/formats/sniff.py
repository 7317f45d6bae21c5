"""Recognition of a file's kind by its first bytes and table of contents, not by its name.

Only flat text has no signature. For it, the extension decides about files found in a folder
walk, and the content about files that the user names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from sat_retriever.records.formats import (
    FLAT_EXTENSIONS,
    FORMATS,
    Format,
    extension_of,
    format_named,
)
from sat_retriever.records.jsonform import Json
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.formats.kind import Kind, Shown, not_a_spreadsheet
from sat_retriever.workbook.limits import Limits, Refused
from sat_retriever.workbook.opening.regular import open_regular

if TYPE_CHECKING:
    from sat_retriever.workbook.formats.reading import Reading

_OWNER_BYTES = 165
# Reasons that leave open whether a file is a workbook: the extension then decides.
_UNCLEAR = (
    SkipReason.DAMAGED,
    SkipReason.EMPTY_FILE,
    SkipReason.TOO_LARGE,
    SkipReason.UNREADABLE,
    SkipReason.UNSUPPORTED,
)


class FormatModule(Protocol):
    """The two functions that the module of a format defines.

    Every program that walks a folder imports the module. So it imports the libraries that read
    the file only inside `messages`.
    """

    def recognise(self, shown: Shown) -> Kind | None:
        """The kind of a file of this format; None for a file of any other."""

    def messages(self, reading: Reading) -> Iterator[Json]:
        """Yield messages about a file of this format.

        Raises:
            Refused: If no part of it can be read.
        """


@cache
def module_of(entry: Format) -> FormatModule:
    """The module that recognises and reads the files of an entry."""
    return cast(FormatModule, import_module(f"{__package__}.{entry.module}"))


def sniff(path: Path, *, named: bool = True, limits: Limits | None = None) -> Kind:
    """The kind of the file at `path`, from its head and its table of contents only.

    Args:
        named: True if the user named this file. In a folder walk (False), flat text counts as a
            spreadsheet only with one of its own extensions, and a broken package only with a
            spreadsheet's extension.
    """
    try:
        with open_regular(path) as file:
            kind = sniff_file(file, path.name, limits or Limits())
    except Refused as refused:
        kind = Kind("", refused.reason, refused.message)
    except OSError as error:
        kind = Kind("", SkipReason.UNREADABLE, f"The file cannot be opened: {error.strerror}.")
    return kind if named else _in_folder(kind, path)


def sniff_file(file: BinaryIO, name: str, limits: Limits) -> Kind:
    """The kind of an opened file on disk; the file is left at its start."""
    size = os.fstat(file.fileno()).st_size
    try:
        kind = _kind(file, name, limits)
    except MemoryError:
        # Some compression methods allocate a dictionary of whatever size the file states.
        kind = Kind("", SkipReason.ZIP_BOMB, "Its table of contents needs too much memory.")
    file.seek(0)
    if size > limits.file_bytes and kind.reason is not SkipReason.NOT_A_SPREADSHEET:
        big = f"The file has {size:,} bytes; the limit is {limits.file_bytes:,}."
        return Kind("", SkipReason.TOO_LARGE, big)
    return kind


def sniff_bytes(file: BinaryIO, limits: Limits) -> Kind:
    """The kind of a decrypted file; the file is left at its start."""
    file.seek(0)
    kind = _kind(file, "decrypted", limits)
    file.seek(0)
    return kind


def is_named(path: Path) -> bool:
    """True if a file has a spreadsheet's extension; if it is not one, the user is told so."""
    return bool(extension_of(path.name))


def _kind(file: BinaryIO, name: str, limits: Limits) -> Kind:
    try:
        shown = Shown.of(file, name, limits)
    except Refused as refused:
        return Kind("", refused.reason, refused.message)
    if not shown.head:
        return Kind("", SkipReason.EMPTY_FILE, "The file has no bytes.")
    if name.startswith("~$") and len(shown.head) == _OWNER_BYTES:
        return not_a_spreadsheet("An owner file that Excel leaves beside an open workbook.")
    kinds = (module_of(each).recognise(shown) for each in FORMATS)
    return next(kind for kind in kinds if kind is not None)  # the last format accepts every file


def _in_folder(kind: Kind, path: Path) -> Kind:
    extension = extension_of(path.name)
    if kind.format and format_named(kind.format).flat and extension not in FLAT_EXTENSIONS:
        *others, last = (f".{each}" for each in FLAT_EXTENSIONS)
        return not_a_spreadsheet(
            f"Flat text without a {', '.join(others)} or {last} extension; rename it, or name "
            "the file itself."
        )
    if kind.reason in _UNCLEAR and not extension:
        return not_a_spreadsheet("The file is not a workbook.")
    return kind
