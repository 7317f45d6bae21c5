"""Hand-written tools, to see what the server makes of any behaviour a tool can have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from sat_retriever import Tool
from sat_retriever.tools.results import ToolResult


@dataclass(frozen=True, slots=True)
class Said(ToolResult):
    """A word that was said."""

    word: str

    def __str__(self) -> str:
        return f"said {self.word}"


def scripted(*tools: Tool) -> Any:
    """What has these tools, in the place of `SheetTools`."""
    return SimpleNamespace(tools=lambda: tools, index=None)


def says(name: str, does: Callable[[str], str | None] = lambda word: None) -> Tool:
    """A tool that says the word it is given, or what a function makes of it."""

    def say(word: str = "") -> Said:
        return Said(does(word) or word)

    return Tool(name, "Says a word.", say, {"word": "Any word."})
