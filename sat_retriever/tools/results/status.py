"""Answer of `index_status`: numbers of what can be searched and what could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sat_retriever.tools.results.result import ToolResult


@dataclass(frozen=True, slots=True)
class IndexStatus(ToolResult):
    """Answer of `index_status`.

    Attributes:
        workbooks: Workbook files.
        sheets: Sheets that can be found.
        skipped: Files and sheets that could not be read, by reason.
        links: Links by type.
        formats: Sheets by file format.
        encoder: Name of the Sheet Encoder.
    """

    workbooks: int
    sheets: int
    skipped: Mapping[str, int]
    links: Mapping[str, int]
    formats: Mapping[str, int]
    encoder: str

    def __str__(self) -> str:
        lines = [f"sheets {self.sheets}, workbooks {self.workbooks}"]
        for name in ("formats", "links", "skipped"):
            counts = getattr(self, name)
            if counts:
                listed = ", ".join(f"{kind} {count}" for kind, count in counts.items())
                lines.append(f"{name}: {listed}")
        return "\n".join(lines)
