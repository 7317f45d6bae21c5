"""Parts of delimited text that have columns of their own: tables, by their header lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sat_retriever.text.dates import moments
from sat_retriever.text.numbers import is_number

Fields = Sequence[Sequence[str]]
_TITLES = 20  # most lines of titles and notes above a header
_MOST = 1_000  # parts; the rest of a text belongs to the last one
_WIDE = 0.6  # least share of the table's width that its header fills
_YEAR = re.compile(r"[12][0-9]{3}")


@dataclass(frozen=True, slots=True)
class Part:
    """Lines of a text whose columns hold one table, by their position; blank ones included.

    Attributes:
        start: First line, of titles or of the header.
        header: Line of the header; the one before `start` if there is none.
        stop: Line behind the last one.
    """

    start: int
    header: int
    stop: int


def parts_of(fields: Fields) -> Iterator[Part]:
    """Yield the parts of a text: a line of names, without a number, begins one behind a blank line.

    A line between two blank ones begins none, so a text with a blank line behind each is one part.

    Args:
        fields: Fields of each line, without empty ones at its end.
    """
    blocks = (
        line
        for line in range(1, len(fields) - 1)
        if fields[line] and not fields[line - 1] and fields[line + 1]
    )
    starts = [0, *islice((line for line in blocks if _names(fields[line])), _MOST)]
    for start, stop in zip(starts, [*starts[1:], len(fields)], strict=True):
        yield Part(start, _header(fields, start, stop), stop)


def _header(fields: Fields, start: int, stop: int) -> int:
    """The first line that is as wide as the table, if it holds names; else the one before all."""
    widths = Counter(map(len, fields[start:stop]))
    del widths[0]
    if not widths:
        return start - 1
    usual = max(widths.items(), key=lambda item: (item[1], item[0]))[0]
    for line in range(start, min(stop, start + _TITLES)):
        if sum(map(bool, map(str.strip, fields[line]))) >= _WIDE * usual:
            return line if _names(fields[line]) else start - 1
    return start - 1


def _names(line: Sequence[str]) -> bool:
    """True if no field is a number or a date; years are names, too."""
    return not any(map(_is_value, map(str.strip, line)))


def _is_value(text: str) -> bool:
    return not _YEAR.fullmatch(text) and (is_number(text) or bool(moments(text)))
