"""A table as a CSV file that a spreadsheet can open without running what stands in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import chain
from urllib.parse import quote

from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.files import portable
from sat_retriever.serve.pieces import record_of
from sat_retriever.serve.request import PageError, number_of
from sat_retriever.workbook.typed import table_text

_MOST_TABLES = 10_000
_PLAIN = "".join(map(chr, range(32, 127))).replace("%", "")  # as it is in a header
_ODD = re.compile(r"[^A-Za-z0-9 ._-]+")
_BYTE_ORDER_MARK = "\ufeff"  # by which spreadsheets know UTF-8


def table_file(
    index: SheetIndex, given: Mapping[str, str]
) -> tuple[Iterator[bytes], dict[str, str]]:
    """Return the lines of a table as CSV in UTF-8, and the headers that name the file.

    The header `x-sat-note` says what was left out, and what else a reader must know.

    Raises:
        PageError: If there is no such sheet or table, or it cannot be read.
    """
    record = record_of(index, given)
    place = number_of(given, "table", 0, _MOST_TABLES, 0)
    totals = bool(number_of(given, "totals", 0, 1, 0))
    if place >= len(record.tables):
        raise PageError(404, f"The sheet {record.sheet_id!r} has no table {place}.")
    try:
        table = index.table(record.sheet_id, place, totals=totals)
    except PathNotFoundError as error:
        raise PageError(
            410, f"The workbook of {record.sheet_id!r} is gone; index its folder again."
        ) from error
    except InputError as error:
        raise PageError(409, f"{error}.") from error
    lines = chain([_BYTE_ORDER_MARK], table_text(table, "csv", defused=True))
    names = [record.workbook_name, record.sheet]
    name = " ".join(dict.fromkeys(filter(None, names))) + (f" {place + 1}" if place else "")
    headers = _named(name)
    if table.note:
        headers["x-sat-note"] = quote(table.note, safe=_PLAIN, errors="replace")
    return (line.encode("utf-8", "replace") for line in lines), headers


def _named(name: str) -> dict[str, str]:
    r"""Return the headers of a file of this name.

    >>> _named('Währung/"x"')["content-disposition"]
    'attachment; filename="Wahrung x.csv"; filename*=UTF-8\'\'W%C3%A4hrung%20x.csv'
    """
    letters = "".join(c if c.isalnum() or c in "._-" else " " for c in name)
    clean = portable(" ".join(letters.split())[:120])
    plain = unicodedata.normalize("NFKD", clean).encode("ascii", "ignore").decode()
    ascii_name = portable(_ODD.sub(" ", plain)) or "table"
    full = quote(f"{clean or 'table'}.csv", safe="", errors="replace")
    return {
        "content-disposition": f"attachment; filename=\"{ascii_name}.csv\"; filename*=UTF-8''{full}"
    }
