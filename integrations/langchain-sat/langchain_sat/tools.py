"""Provide the sheet tools as LangChain tools, for agents."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal

from langchain_core.load.serializable import SerializedConstructor, SerializedNotImplemented
from langchain_core.tools import BaseTool, ToolException
from pydantic import (
    BeforeValidator,
    ConfigDict,
    InstanceOf,
    PlainSerializer,
    PrivateAttr,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from langchain_sat.settings import Dumped, IndexLike, as_index
from sat_retriever import InputError, SatError, SheetIndex
from sat_retriever.rank.load import AUTO
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.permissions import Principals
from sat_retriever.tools import SheetTools, Tool
from sat_retriever.tools.tool import wrong_arguments


def _as_tools(given: SheetTools | Mapping[str, Any] | None) -> SheetTools:
    """Return the tools of an index, made anew from their settings if necessary."""
    if isinstance(given, SheetTools):
        return given
    values = dict(given or {})
    if isinstance(values.get("today"), str):
        values["today"] = date.fromisoformat(values["today"])
    return SheetTools(as_index(values.pop("index", None)), **values)


def _settings(sheets: SheetTools) -> dict[str, Any]:
    """Return the settings of the tools of an index as plain values."""
    groups, reranker = sheets.index.principals, sheets.reranker
    return {
        "index": str(sheets.index.path),
        "reranker": str(reranker) if isinstance(reranker, Path) else reranker,
        "max_tokens": sheets.max_tokens,
        "today": sheets.today and sheets.today.isoformat(),
        # No text may mean the owner: an owner is written without groups.
        "principals": list(groups) if isinstance(groups, tuple) else None,
    }


class SheetTool(BaseTool, Dumped):
    """One of the sheet tools; `create_sheet_tools` makes them all.

    Each dumped tool, when loaded, opens the index for itself.
    """

    model_config = ConfigDict(extra="forbid")

    sheets: Annotated[
        InstanceOf[SheetTools],
        BeforeValidator(_as_tools),
        PlainSerializer(_settings, return_type=dict[str, Any]),
        WithJsonSchema({"type": "object"}),
    ]
    """The tools of the index, or their settings: `index`, `reranker`, `today`, `principals`."""
    description: str = ""
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"

    _tool: Tool = PrivateAttr()

    @model_validator(mode="before")
    @classmethod
    def _with_index(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Put the index of a dump among the settings that it opens."""
        if "index" not in given:
            return given
        rest = {name: value for name, value in given.items() if name != "index"}
        return {**rest, "sheets": {**rest.get("sheets", {}), "index": given["index"]}}

    def model_post_init(self, context: Any, /) -> None:
        """Take name, description and arguments from the tool."""
        super().model_post_init(context)
        named = {tool.name: tool for tool in self.sheets.tools()}
        if self.name not in named:
            raise InputError(f"there is no tool {self.name!r}; there are {', '.join(named)}")
        self._tool = named[self.name]
        self.description, self.args_schema = self._tool.description, self._tool.arguments
        self.handle_tool_error = True
        self.handle_validation_error = _wrong_arguments

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """The settings as plain values; the index apart, as only a field can be a secret."""
        settings = _settings(self.sheets)
        return {"index": settings.pop("index"), "sheets": settings}

    def to_json(self) -> SerializedConstructor | SerializedNotImplemented:
        """Return the dump of name and settings; an open reranker cannot be loaded from one."""
        if not isinstance(self.sheets.reranker, (str, Path, NoneType)):
            return self.to_json_not_implemented()
        dumped = super().to_json()
        if dumped["type"] == "constructor":  # the rest comes from the name
            dumped["kwargs"] = {
                each: dumped["kwargs"][each] for each in ("name", "index", "sheets")
            }
        return dumped

    def _searched(self) -> SheetIndex:
        return self.sheets.index

    def _run(self, **arguments: Any) -> tuple[str, dict[str, Any]]:
        try:
            result = self._tool.run(**arguments)
        except SatError as error:
            raise ToolException(str(error)) from error
        return str(result), result.to_dict()


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
    return [SheetTool(sheets=sheets, name=tool.name) for tool in sheets.tools()]


def _wrong_arguments(error: Any) -> str:
    """Describe the wrong arguments in words that a model can act on."""
    if not isinstance(error, ValidationError):
        return f"{error}; correct the arguments and call again"
    wrong = wrong_arguments(error.errors(include_url=False))
    return f"wrong arguments: {wrong}. Correct them and call again."
