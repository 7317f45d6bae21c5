"""Answer of `related_sheets`: the links of one sheet, each from that sheet's side."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.records.links import Link, kind_of
from sat_retriever.tools.cells import cell_text, one_line
from sat_retriever.tools.results.result import ToolResult


@dataclass(frozen=True, slots=True)
class RelatedSheet:
    """One link from or to a sheet.

    Attributes:
        sheet: Id of the other sheet.
        type: Type of the link.
        way: Relation of the requested sheet to the other, in words, for example "sums up".
        weight: Strength of the link in (0, 1].
        evidence: Evidence for the link, for example a formula.
    """

    sheet: str
    type: str
    way: str
    weight: float
    evidence: str

    @classmethod
    def of(cls, sheet_id: str, link: Link) -> RelatedSheet:
        """Describe a link from the side of one of its sheets."""
        there, back = kind_of(link.type).says
        out = link.source == sheet_id
        other, way = (link.target, there) if out else (link.source, back)
        return cls(other, link.type, way, link.weight, cell_text(link.evidence))


@dataclass(frozen=True, slots=True)
class RelatedSheets(ToolResult):
    """Answer of `related_sheets`.

    Attributes:
        sheet: Id of the requested sheet.
        total: Number of its links, of the requested type if one was given.
        related: The first of them, by type, then strongest first.
    """

    sheet: str
    total: int
    related: tuple[RelatedSheet, ...]

    def __str__(self) -> str:
        if not self.related:
            return f"{one_line(self.sheet)} has no such links."
        lines = [one_line(self.sheet)]
        for link in self.related:
            evidence = f" ({link.evidence})" if link.evidence else ""
            lines.append(f"- {link.way} {one_line(link.sheet)}{evidence}")
        if self.total > len(self.related):
            lines.append(f"{self.total - len(self.related)} more links are not listed.")
        return "\n".join(lines)
