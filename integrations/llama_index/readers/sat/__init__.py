"""Workbooks as LlamaIndex documents that keep where their data is."""

from llama_index.readers.sat.reader import SheetReader

__all__ = ["SheetReader"]
