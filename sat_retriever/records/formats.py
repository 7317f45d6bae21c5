"""Spreadsheet formats by name: the one list of readable formats and their file extensions.

It stands below the reader, because records and filters need the names. A new format takes a
module of `sat_retriever.workbook.formats`, which recognizes and reads such files, and one entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FormulaState(StrEnum):
    """State of a sheet's formulas; links by formulas are known only if it is `READ`."""

    NONE = "none"  # the format has none, or there is no file
    READ = "read"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True)
class Format:
    """The formats that one module reads.

    Attributes:
        module: Its name in `sat_retriever.workbook.formats`.
        names: Formats as records name them, the most common first; each is also an extension.
        extensions: Other extensions of such files.
        formulas: State of the formulas of a sheet that was read completely.
        flat: True if such a file has no signature; only the extension tells it from others.
    """

    module: str
    names: tuple[str, ...]
    extensions: tuple[str, ...] = ()
    formulas: FormulaState = FormulaState.UNREAD
    flat: bool = False


# In the order in which a file's content is tested for them. The last one has no signature.
FORMATS = (
    Format("xlsx", ("xlsx", "xlsm", "xltx"), ("xltm", "xlam"), FormulaState.READ),
    Format("binary", ("xlsb", "xls"), ("xlt", "xlw", "xla")),
    Format("ods", ("ods",), ("ots",), FormulaState.READ),
    Format("text", ("csv", "tsv"), ("tab",), FormulaState.NONE, flat=True),
)
_NOT_READ = ("fods", "sxc", "numbers")  # extensions of spreadsheets that no module reads

FORMAT_NAMES = tuple(name for each in FORMATS for name in each.names)
"""Names of all formats that are read, the most common first."""
EXTENSIONS = frozenset(
    (*_NOT_READ, *FORMAT_NAMES, *(extension for each in FORMATS for extension in each.extensions))
)
"""Extensions that mark a file as a spreadsheet, in lower case and without the dot."""
FLAT_EXTENSIONS = tuple(
    extension for each in FORMATS if each.flat for extension in (*each.names, *each.extensions)
)
"""Extensions of the formats without a signature."""

_ENDINGS = tuple(f".{extension}" for extension in sorted(EXTENSIONS, key=len, reverse=True))


def format_named(name: str) -> Format:
    """The entry of a format, found by the name that records use.

    >>> format_named("xlsm").module
    'xlsx'
    """
    return next(each for each in FORMATS if name in each.names)


def extension_of(file_name: str) -> str:
    """The spreadsheet extension of a file's name, in lower case; empty if it has none.

    >>> extension_of("Sales 2024.XLSX"), extension_of("v1.2 Sales"), extension_of(".csv")
    ('xlsx', '', '')
    """
    name = file_name.lower()
    if not name.endswith(_ENDINGS) or name in _ENDINGS:
        return ""
    return next(ending[1:] for ending in _ENDINGS if name.endswith(ending))


def without_extension(file_name: str) -> str:
    """A file's name without its spreadsheet extension.

    >>> without_extension("v1.2 Sales.xlsx"), without_extension("v1.2 Sales")
    ('v1.2 Sales', 'v1.2 Sales')
    """
    extension = extension_of(file_name)
    return file_name[: -len(extension) - 1] if extension else file_name
