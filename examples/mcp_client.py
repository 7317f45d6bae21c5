"""Let a model use the tools of `sat mcp` over stdio and answer with a citation.

pip install '.[mcp,ollama]'
python examples/mcp_client.py [--ollama qwen3:8b]  # without: a scripted model, no network
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from demo_needs import installed_by
from demo_workbooks import write_workbooks

from sat_retriever.index.sync.indexing import index_paths

NEEDED = "pip install '.[mcp,ollama]'"
with installed_by(NEEDED):
    from mcp import Client, StdioServerParameters, stdio_client

QUESTION = "How much is a ball valve and how long is its delivery?"


def chat(model: str, messages: list, tools: list) -> dict:
    """Stand in for `ollama.chat`: find sheets, read the best one, quote its best row."""
    said = messages[-1]["content"].splitlines()
    call = {"name": "find_sheets", "arguments": {"question": QUESTION}}
    if len(messages) == 3:
        call = {"name": "read_range", "arguments": {"sheet": said[0].removeprefix("1. ")}}
    elif len(messages) == 5:
        best = max(said, key=lambda row: len({*row.lower().split()} & {*QUESTION.split()}))
        return {"message": {"content": f"{said[4]}\n{best}\n[{said[0]}]"}}
    return {"message": {"content": "", "role": "assistant", "tool_calls": [{"function": call}]}}


async def ask(server: StdioServerParameters, model: str) -> None:
    """Give a model the question and the tools, and run its calls until it answers."""
    messages, tools = [{"role": "user", "content": QUESTION}], []
    async with Client(stdio_client(server)) as client:
        for tool in (await client.list_tools()).tools:
            print(f"{tool.name}: {tool.description}")
            about = {"description": tool.description, "parameters": tool.input_schema}
            tools.append({"type": "function", "function": {"name": tool.name, **about}})
        while calls := (said := chat(model, messages, tools=tools)["message"]).get("tool_calls"):
            messages.append(said)
            for name, given in ((x["function"]["name"], x["function"]["arguments"]) for x in calls):
                print("->", name, given)
                (content,) = (await client.call_tool(name, dict(given))).content
                messages.append({"role": "tool", "tool_name": name, "content": content.text})
    print(QUESTION, said["content"], sep="\n")


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--ollama", metavar="MODEL", help="ask this model of a local Ollama")
parser.add_argument("--encoder", help="Sheet Encoder; the general one by default")
options = parser.parse_args()
if options.ollama:
    with installed_by(NEEDED):
        from ollama import chat
with tempfile.TemporaryDirectory() as made:
    write_workbooks(files := Path(made, "files"))
    index_paths(files, file := Path(made, "all.sat"), encoder=options.encoder).close()
    args = ["-m", "sat_retriever", "mcp", "--index", str(file)]
    asyncio.run(ask(StdioServerParameters(command=sys.executable, args=args), options.ollama))
