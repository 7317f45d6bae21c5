"""Answer of `find_sheets`: the best sheets, with the reasons why each was found."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.records.hits import Copies, Hit
from sat_retriever.tools.cells import cell_text, one_line
from sat_retriever.tools.results.related import RelatedSheet
from sat_retriever.tools.results.result import ToolResult, short

_COLUMNS = 12  # headers of a sheet that are listed
_WORDS = 10
_CELLS = 3


@dataclass(frozen=True, slots=True)
class FoundSheet:
    """One sheet that `find_sheets` found.

    Attributes:
        rank: 1 for the best.
        sheet: Its id, which the other tools take.
        citation: The id with the range of the table, or of its rows, that answers.
        columns: Its first headers.
        rows: Rows of the used range; None when unknown.
        score: Value that sheets are ranked by; higher is better.
        why: The reasons why it was found, in words.
        cells: Cells that match the question, each as "B17: text", or as "comment at B17: text"
            if no cell holds the text.
        copies: Number of its other versions; `describe_sheet` lists them.
        newer: Number of those that are newer, if the question named this version.
        equal: Ids of those whose files are byte for byte the same.
    """

    rank: int
    sheet: str
    citation: str
    columns: tuple[str, ...]
    rows: int | None
    score: float
    why: str
    cells: tuple[str, ...] = ()
    copies: int = 0
    newer: int = 0
    equal: tuple[str, ...] = ()

    @classmethod
    def of(cls, hit: Hit) -> FoundSheet:
        """Build the tool's form of a hit."""
        names = [column.name for column in hit.columns if column.name]
        return cls(
            rank=hit.rank,
            sheet=hit.sheet_id,
            citation=hit.citation,
            columns=tuple(short(name) for name in names[:_COLUMNS]),
            rows=hit.record.num_rows,
            score=round(hit.score, 4),
            why=_why(hit),
            cells=tuple(f"{each.place}: {short(each.text)}" for each in hit.why.cells[:_CELLS]),
            copies=hit.copies.number,
            newer=hit.copies.newer,
            equal=hit.copies.equal,
        )

    def __str__(self) -> str:
        facts = [f"{self.rank}. {one_line(self.citation)}"]
        if self.columns:
            facts.append(f"columns: {', '.join(self.columns)}")
        if self.cells:
            facts.append(f"cells: {', '.join(self.cells)}")
        facts.append(f"why: {cell_text(self.why)}")
        if self.copies:
            label = Copies(self.copies, self.newer, equal=self.equal).label
            facts.append(": ".join(filter(None, [label, ", ".join(map(one_line, self.equal))])))
        return "\n   ".join(facts)


@dataclass(frozen=True, slots=True)
class FoundSheets(ToolResult):
    """Answer of `find_sheets`.

    Attributes:
        question: The question.
        sheets: The best sheets, best first.
        note: Further information for the reader; empty if there is none.
        times: The times that were recognized in the question, in words; empty if none.
        confidence: Probability that the sheets searched hold the data, in [0, 1].
        heading: Says that nothing seems to hold the data, if that is so; else empty.
    """

    question: str
    sheets: tuple[FoundSheet, ...]
    note: str = ""
    times: str = ""
    confidence: float = 0.0
    heading: str = ""

    def __str__(self) -> str:
        if not self.sheets:
            return "No sheet was found: the index is empty, or no sheet meets the conditions."
        times = f"Times understood: {cell_text(self.times)}" if self.times else ""
        return "\n".join(filter(None, [self.heading, *map(str, self.sheets), times, self.note]))


def _why(hit: Hit) -> str:
    """Words in common, similarity of meaning, time, and the link that raised the score."""
    why = hit.why
    common = why.common(_WORDS)
    words = f"words {common}" if common else "no word in common"
    reasons = [words, f"meaning {why.dense:.2f} (rank {why.dense_rank})"]
    if why.contents_rank is not None:
        reasons.append(f"cells {why.contents:.2f} (rank {why.contents_rank})")
    if why.period is not None:
        reasons.append(f"time {why.period}")
    if why.via is not None:
        seen = RelatedSheet.of(hit.sheet_id, why.via)
        reasons.append(f"{seen.way} {seen.sheet}")
    return "; ".join(reasons)
