"""Language models of LangChain and LlamaIndex that reply from a script, whole or word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, MockLLM

_PIECE = re.compile(r"\S+\s*|\s+")


def pieces(text: str) -> list[str]:
    """Return a text word by word; an empty one as one empty piece.

    >>> pieces("Two words."), pieces("")
    (['Two ', 'words.'], [''])
    """
    return _PIECE.findall(text) or [""]


class ChatScript(BaseChatModel):
    """A chat model of LangChain that says one line of its script at each call."""

    script: list[str]
    seen: list[str] = []  # noqa: RUF012 - pydantic copies it

    @property
    def _llm_type(self) -> str:
        return "script"

    def _next(self, messages: list[BaseMessage]) -> str:
        self.seen.append("\n".join(str(message.content) for message in messages))
        return self.script.pop(0)

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        reply = AIMessage(self._next(messages))
        return ChatResult(generations=[ChatGeneration(message=reply)])

    def _stream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> Iterator[ChatGenerationChunk]:
        for piece in pieces(self._next(messages)):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))


class LlmScript(MockLLM):
    """A language model of LlamaIndex that says one line of its script at each call."""

    _script: list[str] = PrivateAttr()
    _seen: list[str] = PrivateAttr(default_factory=list)

    def __init__(self, script: list[str]) -> None:
        super().__init__()
        self._script = script

    @property
    def seen(self) -> list[str]:
        """Every prompt, one for each call."""
        return self._seen

    def _next(self, prompt: str) -> str:
        self._seen.append(prompt)
        return self._script.pop(0)

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        """Return the next line."""
        return CompletionResponse(text=self._next(prompt))

    def stream_complete(
        self, prompt: str, formatted: bool = False, **_: Any
    ) -> CompletionResponseGen:
        """Yield the next line word by word."""
        said = ""
        for piece in pieces(self._next(prompt)):
            said += piece
            yield CompletionResponse(text=said, delta=piece)
