"""Read-only tools over an index for agents: one implementation for all frameworks.

sheettools (the tools; naming resolves names of sheets) → results → tool (a method with its
description and arguments) → mcp, or a framework's adapter. Beside these, content gives the text
of a found sheet for a language model, and cells gives its table of cells.
"""

from sat_retriever.tools.sheettools import SheetTools
from sat_retriever.tools.tool import Tool

__all__ = ["SheetTools", "Tool"]
