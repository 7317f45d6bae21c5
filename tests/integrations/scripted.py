"""A language model that answers from a script, and keeps what it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection


class ScriptedLLM(FunctionCallingLLM):
    """Says one line of its script at each call: a text, or the arguments of tools to call.

    >>> llm = ScriptedLLM([{"find_sheets": {"question": "rates"}}, "Look at Rates."])

    `seen` has the text of every prompt, one for each call.
    """

    _script: list[Any] = PrivateAttr()
    _seen: list[str] = PrivateAttr(default_factory=list)

    def __init__(self, script: Sequence[str | dict[str, dict[str, Any]]]) -> None:
        super().__init__()
        self._script = list(script)

    @property
    def seen(self) -> list[str]:
        return self._seen

    @classmethod
    def class_name(cls) -> str:
        return "ScriptedLLM"

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True)

    def _said(self, prompt: str) -> ChatMessage:
        self._seen.append(prompt)
        line = self._script.pop(0)
        if isinstance(line, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=line)
        return ChatMessage(
            role=MessageRole.ASSISTANT, content="", additional_kwargs={"tool_calls": line}
        )

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        prompt = "\n".join(f"{m.role.value}: {m.content}" for m in messages)
        return ChatResponse(message=self._said(prompt))

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._said(prompt).content or "")

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self.chat(messages)

    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        return self.complete(prompt)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        raise NotImplementedError

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        async def whole() -> Any:
            yield self.chat(messages)

        return whole()

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError

    def _prepare_chat_with_tools(
        self,
        tools: Any,
        user_msg: Any = None,
        chat_history: Any = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        for tool in tools:
            tool.metadata.to_openai_tool()  # refuses what a model could not be told
        return {"messages": [*(chat_history or []), *([user_msg] if user_msg else [])]}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        calls = response.message.additional_kwargs.get("tool_calls", {})
        return [
            ToolSelection(tool_id=f"{name}-{len(self._seen)}", tool_name=name, tool_kwargs=given)
            for name, given in calls.items()
        ]
