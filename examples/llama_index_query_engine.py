"""Run a LlamaIndex router over two query engines that answer from sheets, with citations.

pip install . ./integrations/llama-index-retrievers-sat ./integrations/llama-index-postprocessor-sat
python examples/llama_index_query_engine.py  # a scripted model, no network
... --ollama qwen3:8b  # a local one: pip install llama-index-llms-ollama
"""

import argparse
import re
import tempfile
from pathlib import Path

from demo_needs import installed_by
from demo_workbooks import write_workbooks

from sat_retriever import Filters, index_paths

with installed_by(__doc__.splitlines()[2]):
    from llama_index.core.llms import CompletionResponse, MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine, RouterQueryEngine
    from llama_index.core.selectors import LLMSingleSelector
    from llama_index.core.tools import QueryEngineTool
    from llama_index.postprocessor.sat import SheetGraphReranker
    from llama_index.retrievers.sat import SheetTokenRetriever

FOLDERS = {"warehouse": "stock, suppliers, price, delivery", "sales": "who bought what, revenue"}


class ScriptedLLM(MockLLM):
    """A model that picks the choice, or quotes the row, with most words of the question."""

    def complete(self, prompt: str, formatted: bool = False, **_: object) -> CompletionResponse:  # noqa: D102
        _, context, asked = prompt.split("-" * 21)
        lines, wanted = context.splitlines(), set(re.findall(r"\w{3,}", asked.lower()))
        best = max(lines, key=lambda line: len(wanted & set(re.findall(r"\w+", line.lower()))))
        if choice := re.match(r"\((\d)\)", best):
            return CompletionResponse(text=f'[{{"choice": {choice[1]}, "reason": "its words"}}]')
        cited = [line for line in lines[: lines.index(best)] if line.startswith("citation:")]
        return CompletionResponse(text=f"{best}  [{cited[-1]}]")


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--ollama", metavar="MODEL", help="ask this model of a local Ollama")
parser.add_argument("--encoder", help="Sheet Encoder; the general one by default")
given, llm = parser.parse_args(), ScriptedLLM()
if given.ollama:
    try:
        from llama_index.llms.ollama import Ollama
    except ImportError:
        parser.error("run: pip install llama-index-llms-ollama")
    llm = Ollama(model=given.ollama, request_timeout=300)
with tempfile.TemporaryDirectory() as made:
    write_workbooks(files := Path(made, "files"))
    with index_paths(files, Path(made, "all.sat"), encoder=given.encoder) as index:
        tools, stage_2 = [], [SheetGraphReranker(index, top_n=3)]
        for folder, topics in FOLDERS.items():
            here = Filters(path=f"{folder}/*")
            stage_1 = SheetTokenRetriever(index, 50, here, content="markdown")
            engine = RetrieverQueryEngine.from_args(stage_1, llm, node_postprocessors=stage_2)
            tools.append(QueryEngineTool.from_defaults(engine, description=topics))
        router = RouterQueryEngine.from_defaults(tools, llm, LLMSingleSelector.from_defaults(llm))
        for question in ("What is the price of a ball valve?", "Who bought a seal kit in March?"):
            print(f"{question}\n{router.query(question)}\n")
