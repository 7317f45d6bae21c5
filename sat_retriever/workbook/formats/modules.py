"""Lookup of the module of each format in the registry."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from sat_retriever.records.formats import Format
from sat_retriever.records.jsonform import Json
from sat_retriever.workbook.formats.kind import Kind, Shown

if TYPE_CHECKING:
    from sat_retriever.workbook.formats.reading import Reading


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
