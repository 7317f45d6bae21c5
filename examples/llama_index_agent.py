"""Run a LlamaIndex agent that finds a sheet, reads its cells and answers with a citation.

pip install . ./integrations/llama-index-retrievers-sat ./integrations/llama-index-postprocessor-sat
python examples/llama_index_agent.py                    # a scripted model, no network
python examples/llama_index_agent.py --ollama qwen3:8b  # pip install llama-index-llms-ollama
"""

import argparse
import asyncio
import re
import tempfile
from pathlib import Path

from demo_needs import installed_by
from demo_workbooks import write_workbooks

from sat_retriever import index_paths

with installed_by(__doc__.splitlines()[2]):
    from llama_index.core.agent.workflow import ReActAgent, ToolCallResult
    from llama_index.core.llms import CompletionResponse, MockLLM
    from llama_index.core.tools import RetrieverTool
    from llama_index.postprocessor.sat import SheetGraphReranker
    from llama_index.retrievers.sat import SheetTokenRetriever, sheet_tools

QUESTION = "Which part can be delivered the fastest, and who supplies it?"


class ScriptedLLM(MockLLM):
    """A model that finds sheets, reads the first, and picks the row with the least last value."""

    def complete(self, prompt: str, formatted: bool = False, **_: object) -> CompletionResponse:  # noqa: D102
        seen = prompt.rpartition(QUESTION)[2].split("Observation: ")[1:]
        if not seen:
            said = 'Action: sheets\nAction Input: {"input": "parts, suppliers and delivery time"}'
        elif len(seen) == 1:
            cited = re.search(r"citation: (.+)", seen[0])[1]
            said = f'Action: read_range\nAction Input: {{"sheet": "{cited}"}}'
        else:
            rows = [row.split(" | ") for row in re.findall(r"^\| \d+ \| (.+) \|$", seen[1], re.M)]
            best = min(rows[1:], key=lambda row: float(row[-1]))
            said = f"Answer: {best[1]} from {best[0]}, {best[-1]} days [{seen[1].splitlines()[0]}]"
        return CompletionResponse(text=f"Thought: step {len(seen) + 1}.\n{said}")


async def ask(agent: ReActAgent) -> None:
    """Print each tool call, then the answer."""
    async for event in (run := agent.run(QUESTION)).stream_events():
        if isinstance(event, ToolCallResult):
            print(f"-> {event.tool_name} {event.tool_kwargs}\n{event.tool_output.content}\n")
    print(QUESTION, await run, sep="\n")


parser = argparse.ArgumentParser()
parser.add_argument("--ollama", metavar="MODEL", help="ask this model of a local Ollama")
parser.add_argument("--encoder", help="Sheet Encoder; the general one by default")
given, llm = parser.parse_args(), ScriptedLLM()
if given.ollama:
    from llama_index.llms.ollama import Ollama

    llm = Ollama(model=given.ollama, request_timeout=300)
with tempfile.TemporaryDirectory() as made:
    write_workbooks(files := Path(made, "files"))
    with index_paths(files, Path(made, "all.sat"), encoder=given.encoder) as index:
        found = RetrieverTool.from_defaults(
            SheetTokenRetriever(index, 50), [SheetGraphReranker(index, top_n=2)], name="sheets"
        )
        tools = [found, *sheet_tools(index)]
        asyncio.run(ask(ReActAgent(tools=tools, llm=llm, streaming=False)))
