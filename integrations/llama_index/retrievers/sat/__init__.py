"""Stage 1 for LlamaIndex: a retriever of sheets, and the agent tools over the same index."""

from llama_index.retrievers.sat.filters import sheet_filters
from llama_index.retrievers.sat.retriever import SheetTokenRetriever
from llama_index.retrievers.sat.tools import sheet_tools

__all__ = ["SheetTokenRetriever", "sheet_filters", "sheet_tools"]
