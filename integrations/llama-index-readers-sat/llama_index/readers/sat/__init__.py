"""Read workbooks as LlamaIndex documents that record the location of their data."""

from llama_index.readers.sat.reader import SheetReader

__all__ = ["SheetReader"]
