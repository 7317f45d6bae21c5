"""Time that each adapter adds to a call of the bare library, in milliseconds.

    python -m benchmarks run adapters [--size 1000] [--queries 200] [--work .cache/latency]

All ask the same questions of the index that `benchmarks.speed.latency` makes, in rounds that take
turns, so that whatever else the machine does falls on all of them. A reranker encodes the
question itself; what it reranks was found before. "both" is the README's block, with the texts of
the sheets that are kept. The overhead is the difference of the medians; "bare" is
`SheetRetriever.retrieve`, with `hit_text` in "both", `LinkReranker.rerank` or
`SheetTools.find_sheets`.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache

from langchain_sat import (
    SheetGraphReranker,
    SheetTokenRetriever,
    create_sheet_tools,
    retriever_chain,
)
from llama_index.postprocessor.sat import SheetGraphReranker as LlamaReranker
from llama_index.retrievers.sat import SheetTokenRetriever as LlamaRetriever
from llama_index.retrievers.sat import sheet_tools
from mcp import Client

from benchmarks.results import Result
from benchmarks.runner import Options, suite
from benchmarks.speed.latency import MADE, index_of, queries
from sat_retriever import LinkReranker, SheetIndex, SheetRetriever, SheetTools, hit_text
from sat_retriever.text.period.spans import UNDATED
from sat_retriever.tools.mcp import sheet_server

ROUNDS = 5
FEW, CANDIDATES = 5, 50
Call = Callable[[str], Awaitable[object]]


def direct(call: Callable[[str], object]) -> Call:
    """Return a plain function as a call."""

    async def asked(query: str) -> object:
        return call(query)

    return asked


def groups(index: SheetIndex, client: Client) -> dict[str, dict[str, Call]]:
    """Return the bare call of each group, under "bare", and the adapters that do the same."""
    return {
        f"retriever, {FEW} sheets": retrievers(index, FEW),
        f"retriever, {CANDIDATES} sheets": retrievers(index, CANDIDATES),
        f"reranker, {CANDIDATES} sheets to {FEW}": rerankers(index),
        f"both, {CANDIDATES} sheets to {FEW}, texts": chains(index),
        "find_sheets": finders(index, client),
    }


def retrievers(index: SheetIndex, top_k: int) -> dict[str, Call]:
    """Return calls of Stage 1 with its reasons, from a question to sheets."""
    sheets = SheetRetriever(index, None)
    llama = LlamaRetriever(index, similarity_top_k=top_k, today=UNDATED)
    chain = SheetTokenRetriever(index=index, k=top_k, today=UNDATED)
    return {
        "bare": direct(lambda query: sheets.retrieve(query, top_k, today=UNDATED)),
        "LlamaIndex": direct(llama.retrieve),
        "LangChain": direct(chain.invoke),
    }


def rerankers(index: SheetIndex) -> dict[str, Call]:
    """Return calls of Stage 2; the candidates are found before and not timed."""
    links = LinkReranker()
    llama = LlamaReranker(index, top_n=FEW, today=UNDATED)
    chain = SheetGraphReranker(index=index, top_n=FEW, today=UNDATED)
    found = LlamaRetriever(index, similarity_top_k=CANDIDATES, today=UNDATED)
    nodes = cache(found.retrieve)
    documents = cache(SheetTokenRetriever(index=index, k=CANDIDATES, today=UNDATED).invoke)
    candidates = cache(lambda query: index.candidates(query, CANDIDATES))
    return {
        "bare": direct(
            lambda query: links.rerank(
                index.search.candidate_set(index.question(query), candidates(query))
            )[:FEW]
        ),
        "LlamaIndex": direct(lambda query: llama.postprocess_nodes(nodes(query), query_str=query)),
        "LangChain": direct(lambda query: chain.compress_documents(documents(query), query)),
    }


def chains(index: SheetIndex) -> dict[str, Call]:
    """Return calls of both stages, from a question to the texts of the few sheets that are kept."""
    sheets = SheetRetriever(index, LinkReranker())
    llama = LlamaRetriever(index, similarity_top_k=CANDIDATES, today=UNDATED)
    rerank = LlamaReranker(index, top_n=FEW, today=UNDATED)
    chain = retriever_chain(
        SheetTokenRetriever(index=index, k=CANDIDATES, today=UNDATED),
        SheetGraphReranker(index=index, top_n=FEW, today=UNDATED),
    )
    return {
        "bare": direct(
            lambda query: [
                hit_text(index, hit) for hit in sheets.retrieve(query, FEW, today=UNDATED)
            ]
        ),
        "LlamaIndex": direct(
            lambda query: [
                node.text
                for node in rerank.postprocess_nodes(llama.retrieve(query), query_str=query)
            ]
        ),
        "LangChain": direct(lambda query: [each.page_content for each in chain.invoke(query)]),
    }


def finders(index: SheetIndex, client: Client) -> dict[str, Call]:
    """Return calls of both stages through the tool that agents use first."""
    tools = SheetTools(index, today=UNDATED)
    [find] = [
        tool for tool in create_sheet_tools(index, today=UNDATED) if tool.name == "find_sheets"
    ]
    [function] = [
        tool for tool in sheet_tools(index, today=UNDATED) if tool.metadata.name == "find_sheets"
    ]
    return {
        "bare": direct(tools.find_sheets),
        "LlamaIndex": direct(lambda query: function.call(question=query)),
        "LangChain": direct(lambda query: find.invoke({"question": query})),
        "MCP, in memory": lambda query: client.call_tool("find_sheets", {"question": query}),
    }


async def medians_ms(calls: dict[str, Call], asked: Sequence[str]) -> dict[str, float]:
    """Return the median time of each call, the calls taking turns round by round.

    The first round is not counted: it loads, and fills what is found before.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for round_number in range(ROUNDS + 1):
        for name, call in calls.items():
            for query in asked:
                start = time.perf_counter()
                await call(query)
                if round_number:
                    times[name].append((time.perf_counter() - start) * 1000)
    return {name: statistics.median(found) for name, found in times.items()}


async def measure(index: SheetIndex, asked: Sequence[str]) -> list[Result]:
    """Return one result an adapter and group."""
    found = []
    async with Client(sheet_server(SheetTools(index, today=UNDATED))) as client:
        for group, calls in groups(index, client).items():
            medians = await medians_ms(calls, asked)
            for name, value in medians.items():
                metrics = {
                    "p50_ms": round(value, 3),
                    "over_bare_ms": round(value - medians["bare"], 3),
                    "sheets": len(index),
                    "queries": len(asked) * ROUNDS,
                }
                method = f"{group}, {name}".replace(" ", "_").replace(",", "")
                found.append(Result(method, f"template_{len(index)}", metrics))
    return found


@suite("adapters", work=MADE, size=1000, queries=200)
def main(options: Options) -> Iterable[Result]:
    """Measure."""
    with index_of(options.size, options.work) as index:
        return asyncio.run(measure(index, queries(options.queries)))
