"""Use sheets in LangChain: retriever, reranker, loaders and agent tools over `sat_retriever`."""

from sat_retriever._extras import require

require("langchain_core", "langchain")  # the wheel contains this package even without the extra

from langchain_sat.answer import sheet_answer_chain  # noqa: E402
from langchain_sat.chain import retriever_chain  # noqa: E402
from langchain_sat.loader import SheetBlobParser, SheetLoader  # noqa: E402
from langchain_sat.reranker import SheetGraphReranker  # noqa: E402
from langchain_sat.retriever import SheetTokenRetriever  # noqa: E402
from langchain_sat.store import SheetEmbeddings, sheet_documents  # noqa: E402
from langchain_sat.tools import SheetTool, create_sheet_tools  # noqa: E402

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
