"""csv and tsv: values from delimited text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sat_retriever.records.jsonform import Json
from sat_retriever.workbook.formats.kind import FileKind, Shown, foreign

if TYPE_CHECKING:
    from sat_retriever.workbook.formats.reading import Reading


def recognise(shown: Shown) -> FileKind:
    """The kind of a file that no other format recognised: flat text, or a foreign file."""
    return foreign(shown) or FileKind("csv")


def messages(reading: Reading) -> Iterator[Json]:
    """Yield messages about a delimited text file."""
    from sat_retriever.workbook.formats.text.read import read_table

    return read_table(reading)
