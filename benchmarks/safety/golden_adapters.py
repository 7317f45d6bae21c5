"""List what agents and frameworks get from a corpus: tools, MCP, LlamaIndex and LangChain."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from langchain_core.documents import Document
from langchain_sat import (
    SheetGraphReranker,
    SheetTokenRetriever,
    create_sheet_tools,
    retriever_chain,
)
from llama_index.core.schema import MetadataMode, NodeWithScore
from llama_index.postprocessor.sat import SheetGraphReranker as LlamaReranker
from llama_index.retrievers.sat import SheetTokenRetriever as LlamaRetriever
from llama_index.retrievers.sat import sheet_tools
from mcp import Client, StdioServerParameters, stdio_client

from benchmarks.safety.golden_corpora import Corpus, environment
from sat_retriever import SatError, SheetTools
from sat_retriever.records.grouping import evenly

_FEW = 10
Call = tuple[str, dict[str, Any]]


def adapter_sections(corpus: Corpus, today: date) -> dict[str, Callable[[], Sequence[str]]]:
    """Return a section for each interface."""
    return {
        "agents/tools": lambda: _tools(corpus, today),
        "agents/mcp": lambda: asyncio.run(_mcp(corpus)),
        "agents/llama_index": lambda: _llama(corpus, today),
        "agents/langchain": lambda: _langchain(corpus, today),
    }


def _calls(corpus: Corpus) -> list[Call]:
    """Return calls of every tool, including wrong ones; no question depends on the day."""
    sheets = evenly(corpus.index.sheet_ids(), _FEW)
    asked = evenly([q for q in corpus.questions if q.isascii() and "last" not in q], _FEW)
    finds: list[Call] = [("find_sheets", {"question": question}) for question in asked]
    wide = {"question": asked[0], "top_k": 12, "path": "*a*"}
    each: list[Call] = [
        call
        for sheet in sheets
        for call in (
            ("describe_sheet", {"sheet": sheet}),
            ("related_sheets", {"sheet": sheet, "limit": 10}),
            ("read_range", {"sheet": sheet}),
            ("read_range", {"sheet": sheet, "range": "A1:D6", "formulas": True}),
        )
    ]
    wrong: list[Call] = [
        ("describe_sheet", {"sheet": f"{sheets[0]}x"}),
        ("read_range", {"sheet": sheets[0], "range": "A0"}),
        ("related_sheets", {"sheet": sheets[0], "link_type": "none"}),
        ("find_sheets", {"question": " "}),
    ]
    return [*finds, ("find_sheets", wide), *each, ("index_status", {}), *wrong]


def _tools(corpus: Corpus, today: date) -> list[str]:
    """Return descriptions, then every answer as text and as values."""
    offered = {tool.name: tool for tool in SheetTools(corpus.index, today=today).tools()}
    lines = [_said([t.name, t.description, dict(t.meanings)]) for t in offered.values()]
    for name, arguments in _calls(corpus):
        lines.append(_said([name, arguments]))
        try:
            result = offered[name].run(**arguments)
            lines += [str(result), _said(result.to_dict())]
        except SatError as error:
            lines.append(f"{type(error).__name__}: {error}")
    return lines


async def _mcp(corpus: Corpus) -> list[str]:
    """Return the answers that a client of `sat mcp` gets."""
    calls = _calls(corpus)
    arguments = ["-m", "sat_retriever", "mcp", "--index", corpus.file]
    server = StdioServerParameters(
        command=sys.executable, args=arguments, env=environment(), cwd=corpus.work
    )
    async with Client(stdio_client(server)) as client:
        listed = (await client.list_tools()).tools
        lines = [tool.model_dump_json() for tool in listed]
        for name, given in calls:
            result = await client.call_tool(name, given)
            lines += [_said([name, given]), _said(result.model_dump(mode="json"))]
    return lines


def _llama(corpus: Corpus, today: date) -> list[str]:
    index = corpus.index
    retriever = LlamaRetriever(index, similarity_top_k=20, today=today)
    reranker = LlamaReranker(index, top_n=8, today=today)
    lines = []
    for asked in evenly(corpus.questions, 2 * _FEW):
        found = retriever.retrieve(asked)
        better = reranker.postprocess_nodes(found, query_str=asked)
        lines += [asked, *map(_node, found), "reranked", *map(_node, better)]
    for tool in sheet_tools(index, today=today):
        lines.append(_said([tool.metadata.name, tool.metadata.description]))
        if tool.metadata.name == "find_sheets":
            lines.append(tool.call(question=corpus.questions[0]).content)
    return lines


def _langchain(corpus: Corpus, today: date) -> list[str]:
    index = corpus.index
    retriever = SheetTokenRetriever(index=index, k=10, today=today)
    reranker = SheetGraphReranker(index=index, top_n=8, today=today)
    chain = retriever_chain(retriever, reranker)
    lines = []
    for asked in evenly(corpus.questions, 2 * _FEW):
        found = retriever.invoke(asked)
        better = reranker.compress_documents(found, asked)
        lines += [asked, *map(_document, found), "reranked", *map(_document, better)]
        lines += ["chain", *map(_document, chain.invoke(asked))]
    for tool in create_sheet_tools(index, today=today):
        lines.append(_said([tool.name, tool.description]))
        if tool.name == "find_sheets":
            lines.append(str(tool.invoke({"question": corpus.questions[0]})))
    return lines


def _node(found: NodeWithScore) -> str:
    """Return a node without its id, which depends on the path of the index file."""
    node = found.node
    seen = node.get_content(MetadataMode.LLM)
    return _said([found.score, node.metadata, node.get_content(), seen])


def _document(found: Document) -> str:
    return _said([found.id, found.page_content, found.metadata])


def _said(value: Any) -> str:
    """Return one line of JSON, floats with six decimals."""
    plain = json.loads(json.dumps(value, default=str), parse_float=lambda x: round(float(x), 6))
    return json.dumps(plain, ensure_ascii=False)
