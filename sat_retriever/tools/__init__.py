"""Read-only tools over an index for agents: one implementation for all frameworks.

sheettools (the tools; naming resolves names of sheets) → results → tool (a method with its
description and arguments) → mcp, or a framework's adapter. Beside these, content gives the text
of a found sheet for a language model, cells a table within a number of tokens, context what a
record tells about cells that were read, sql and engine answers from tables.
"""

from sat_retriever.tools.sheettools import SheetTools
from sat_retriever.tools.tool import Tool

__all__ = ["SheetTools", "Tool"]
