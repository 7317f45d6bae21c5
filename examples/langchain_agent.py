"""Run a LangChain agent that finds sheets, reads them and answers with a citation.

pip install . ./integrations/langchain-sat langchain
python examples/langchain_agent.py                    # a scripted model, no network
python examples/langchain_agent.py --ollama qwen3:8b  # a local one: pip install langchain-ollama
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from demo_needs import installed_by
from demo_workbooks import write_workbooks

from sat_retriever.index.sync.indexing import index_paths

with installed_by("pip install . ./integrations/langchain-sat langchain"):
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_sat import create_sheet_tools


class ScriptedModel(BaseChatModel):
    """A model that finds sheets, reads the best, and names its largest revenue."""

    _llm_type = "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:  # noqa: D102
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        last = messages[-1]
        if not isinstance(last, ToolMessage):
            said = self._call("find_sheets", question=last.text)
        elif last.name == "find_sheets":
            said = self._call("read_range", sheet=last.artifact["sheets"][0]["sheet"])
        else:
            best = max(last.artifact["rows"][1:], key=lambda row: row[5] or 0)
            said = AIMessage(f"{best[2]} to {best[1]}, {best[5]} [{last.artifact['citation']}]")
        return ChatResult(generations=[ChatGeneration(message=said)])

    def _call(self, name: str, **args: str) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": name, "args": args, "id": name}])


parser = argparse.ArgumentParser()
parser.add_argument("--ollama", metavar="MODEL", help="ask this model of a local Ollama")
parser.add_argument("--encoder", help="Sheet Encoder; the general one by default")
given = parser.parse_args()
model = f"ollama:{given.ollama}" if given.ollama else ScriptedModel()
with tempfile.TemporaryDirectory() as made:
    write_workbooks(files := Path(made, "files"))
    with index_paths(files, Path(made, "all.sat"), encoder=given.encoder) as index:
        agent = create_agent(model, create_sheet_tools(index))
        question = "What was the largest revenue in the North region in February, and who paid?"
        for message in agent.invoke({"messages": [("user", question)]})["messages"]:
            message.pretty_print()
