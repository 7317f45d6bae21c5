"""Answers of the tools: plain values for programs, bounded Markdown for language models.

Names, headers and cells come from workbooks that anybody may have written: they are data, and
a model that reads them must not take them for instructions.
"""

from sat_retriever.tools.results.cells import CellHit, FoundCells
from sat_retriever.tools.results.description import SheetDescription, described
from sat_retriever.tools.results.found import FoundSheet, FoundSheets
from sat_retriever.tools.results.query import QueryAnswer
from sat_retriever.tools.results.related import RelatedSheet, RelatedSheets
from sat_retriever.tools.results.result import ToolResult
from sat_retriever.tools.results.rows import RangeCells
from sat_retriever.tools.results.status import IndexStatus

__all__ = [
    "CellHit",
    "FoundCells",
    "FoundSheet",
    "FoundSheets",
    "IndexStatus",
    "QueryAnswer",
    "RangeCells",
    "RelatedSheet",
    "RelatedSheets",
    "SheetDescription",
    "ToolResult",
    "described",
]
