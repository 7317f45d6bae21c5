"""Read-only tools over an index for agents: one implementation for every framework.

sheettools (the five tools; sheets by their names through naming) → results → tool (a method with
its description and arguments) → mcp, or a framework's adapter. Apart from these, content is the
text of a found sheet for a language model, and cells its table of cells.
"""

from sat_retriever.tools.sheettools import SheetTools
from sat_retriever.tools.tool import Tool

__all__ = ["SheetTools", "Tool"]
