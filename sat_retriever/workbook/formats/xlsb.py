"""xlsb: values from a package of binary parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sat_retriever.records.jsonform import Json
from sat_retriever.workbook.formats.kind import Kind, Shown
from sat_retriever.workbook.formats.office import package_format

if TYPE_CHECKING:
    from sat_retriever.workbook.formats.reading import Reading


def recognise(shown: Shown) -> Kind | None:
    """The kind of a workbook of binary parts."""
    return shown.kind("xlsb") if package_format(shown) == "xlsb" else None


def messages(reading: Reading) -> Iterator[Json]:
    """Yield messages about an xlsb."""
    from sat_retriever.workbook.formats.byvalue import read_by_value

    return read_by_value(reading)
