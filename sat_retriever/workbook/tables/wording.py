"""Contrast of a header's text with the texts below it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from sat_retriever.workbook.values.grid import Value

MAX_LABEL = 60
"""Most characters of a text that can be one of several headers or keys."""
MAX_TEXT_STYLE = 0.6
MIN_ALIKE = 3
MIN_REPEATED = 4

_DIGIT = re.compile(r"\d")


def text_styles(column: Sequence[Value], rows: Collection[int]) -> dict[int, float]:
    """Contrast of the cells at `rows` with the texts below each, in [-1, 0.6], by row.

    Headers do not recur below; data repeats itself, has digits, or is longer. The column is
    read once from the bottom up, so that the cost does not grow with the number of rows.
    """
    styles: dict[int, float] = {}
    below = _Below()
    for row in range(len(column) - 1, min(rows, default=len(column)) - 1, -1):
        value = column[row]
        if row in rows:
            styles[row] = below.style(str(value).strip())
        if isinstance(value, str) and (text := value.strip()):
            below.add(text)
    return styles


@dataclass(slots=True)
class _Below:
    """Statistics of the texts below a header, updated text by text."""

    texts: set[str] = field(default_factory=set)
    cases: set[str] = field(default_factory=set)
    openings: Counter[str] = field(default_factory=Counter)
    length: int = 0
    count: int = 0
    with_digits: int = 0

    def add(self, text: str) -> None:
        self.texts.add(text)
        self.cases.add(text_case(text))
        self.openings[_opening(text)] += 1
        self.length += len(text)
        self.count += 1
        self.with_digits += _DIGIT.search(text) is not None

    def style(self, head: str) -> float:
        if not self.count:
            return MAX_TEXT_STYLE
        if not head or head in self.texts:
            return -1.0
        style = 0.05
        if self.count >= MIN_REPEATED and len(self.texts) <= 0.7 * self.count:
            style += 0.4
        mean_length = self.length / self.count
        if mean_length > 1.6 * len(head):
            style += 0.2
        if 2 * self.with_digits >= self.count and not _DIGIT.search(head):
            style += 0.35
        if text_case(head) not in self.cases:
            style += 0.25
        if len(head) > max(MAX_LABEL, 2.5 * mean_length):
            style -= 0.4
        if self.count >= MIN_ALIKE and 2 * self.openings[_opening(head)] >= self.count:
            style -= 0.6
        return min(style, MAX_TEXT_STYLE)


def _opening(text: str) -> str:
    """The start of a text: its first word, or a leading mark."""
    return text.split(maxsplit=1)[0] if text[0].isalnum() else text[0]


def text_case(text: str) -> str:
    """Letter case of a text, with the separator of its words as a prefix."""
    joint = "_" if "_" in text else "." if "." in text.strip(".") else " " if " " in text else ""
    if text.isupper():
        return joint + "upper"
    if text.islower():
        return joint + "lower"
    return joint + ("title" if text[0].isupper() else "mixed")
