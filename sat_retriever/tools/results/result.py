"""Base of the tools' answers: plain values for programs, Markdown for language models."""

from __future__ import annotations

from typing import Any

from sat_retriever.records.jsonform import to_json
from sat_retriever.tools.cells import one_line

_CHARS = 60  # most characters of a header or an example


class ToolResult:
    """A tool's answer; `str` gives it as Markdown."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        found: dict[str, Any] = to_json(self)
        return found


def short(text: str) -> str:
    """A header or an example on one line, cut to `_CHARS` characters."""
    line = one_line(text)
    return line if len(line) <= _CHARS else f"{line[: _CHARS - 1]}…"
