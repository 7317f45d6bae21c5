"""Provide the sheet tools as LangChain tools, for agents."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import ValidationError

from langchain_sat.settings import IndexLike
from sat_retriever import SatError
from sat_retriever.rank.load import AUTO
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.permissions import Principals
from sat_retriever.tools import SheetTools, Tool
from sat_retriever.tools.tool import wrong_arguments


def create_sheet_tools(
    index: IndexLike,
    reranker: Reranker | str | Path | None = AUTO,
    *,
    today: date | None = None,
    principals: Principals | None = None,
) -> list[BaseTool]:
    """Return tools that let an agent find, describe and read sheets; none of them writes.

    A tool message's content is a bounded text for the model; its artifact is the same result as
    plain JSON values with citations. An error becomes a message with status "error" that says what
    to do. Async calls run in a thread.

    Args:
        index: The index, or its path.
        reranker: Stage 2, as for `SheetRetriever`.
        today: The day from which "last year" in a question counts; None is the day of the call.
        principals: The groups of the one who asks, or `OWNER`; see `SheetIndex.seen_by`.

    Raises:
        IndexNotFoundError: If there is no index at the path.
        InputError: If a folder does not exist, or holds no reranker.
    """
    sheets = SheetTools(index, reranker=reranker, today=today, principals=principals)
    return [_langchain_tool(tool) for tool in sheets.tools()]


def _langchain_tool(tool: Tool) -> BaseTool:
    def call(**arguments: Any) -> tuple[str, dict[str, Any]]:
        try:
            result = tool.run(**arguments)
        except SatError as error:
            raise ToolException(str(error)) from error
        return str(result), result.to_dict()

    return StructuredTool.from_function(
        call,
        name=tool.name,
        description=tool.description,
        args_schema=tool.arguments,
        response_format="content_and_artifact",
        handle_tool_error=True,
        handle_validation_error=_wrong_arguments,
    )


def _wrong_arguments(error: Any) -> str:
    """Describe the wrong arguments in words that a model can act on."""
    if not isinstance(error, ValidationError):
        return f"{error}; correct the arguments and call again"
    wrong = wrong_arguments(error.errors(include_url=False))
    return f"wrong arguments: {wrong}. Correct them and call again."
