"""Provide the agent tools as LlamaIndex function tools."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput

from sat_retriever import SatError, SheetIndex, SheetTools, Tool


class SheetTool(FunctionTool):
    """One tool; an error becomes its answer, marked as an error, and is never raised."""

    @classmethod
    def of(cls, tool: Tool) -> SheetTool:
        """Return the same tool in LlamaIndex's interface."""

        def run(**arguments: Any) -> Any:
            return tool.run(**arguments)

        async def arun(**arguments: Any) -> Any:
            return await asyncio.to_thread(tool.run, **arguments)

        schema = ToolMetadata(
            name=tool.name, description=tool.description, fn_schema=tool.arguments
        )
        return cls(fn=run, async_fn=arun, metadata=schema)

    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Return the answer as Markdown, or advice; `raw_output` is the typed result."""
        try:
            return super().call(*args, **kwargs)
        except SatError as error:
            return self._refusal(error, args, kwargs)

    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Do the same as `call`, without blocking the event loop."""
        try:
            return await super().acall(*args, **kwargs)
        except SatError as error:
            return self._refusal(error, args, kwargs)

    def _refusal(
        self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> ToolOutput:
        return ToolOutput(
            content=str(error),
            tool_name=self.metadata.get_name(),
            raw_input={"args": args, "kwargs": kwargs},
            raw_output=str(error),
            is_error=True,
        )


def sheet_tools(index: SheetIndex | str | Path, **options: Any) -> list[FunctionTool]:
    """Return tools for an agent: find sheets, describe them, read cells, follow links.

    Args:
        index: The index to search, or its file.
        options: Options of `SheetTools`, for example `reranker`.

    Raises:
        IndexNotFoundError: If there is no index at the path.
    """
    return [SheetTool.of(tool) for tool in SheetTools(index, **options).tools()]
