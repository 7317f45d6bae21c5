"""Read-only tools over an index for agents: one implementation for every framework."""

from sat_retriever.tools.sheettools import SheetTools
from sat_retriever.tools.tool import Tool

__all__ = ["SheetTools", "Tool"]
