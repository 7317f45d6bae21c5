"""Use sheets in LangChain: retriever, reranker, loaders and agent tools over `sat_retriever`."""

from langchain_sat.answer import sheet_answer_chain
from langchain_sat.chain import retriever_chain
from langchain_sat.loader import SheetBlobParser, SheetLoader
from langchain_sat.reranker import SheetGraphReranker
from langchain_sat.retriever import SheetTokenRetriever
from langchain_sat.store import SheetEmbeddings, sheet_documents
from langchain_sat.tools import SheetTool, create_sheet_tools

__all__ = [
    "SheetBlobParser",
    "SheetEmbeddings",
    "SheetGraphReranker",
    "SheetLoader",
    "SheetTokenRetriever",
    "SheetTool",
    "create_sheet_tools",
    "retriever_chain",
    "sheet_answer_chain",
    "sheet_documents",
]
