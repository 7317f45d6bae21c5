"""Retrieve sheets for LlamaIndex (Stage 1), and provide agent tools over the same index."""

from llama_index.retrievers.sat.filters import sheet_filters
from llama_index.retrievers.sat.retriever import SheetTokenRetriever
from llama_index.retrievers.sat.store import SheetEmbedding, sheet_nodes
from llama_index.retrievers.sat.tools import sheet_tools

__all__ = ["SheetEmbedding", "SheetTokenRetriever", "sheet_filters", "sheet_nodes", "sheet_tools"]
