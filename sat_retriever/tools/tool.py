"""Make tools of `SheetTools` methods: description and arguments from docstring and hints."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_type_hints

from sat_retriever._extras import require
from sat_retriever.errors import InputError
from sat_retriever.tools.results import ToolResult

if TYPE_CHECKING:
    from pydantic import BaseModel

_ARGUMENT = re.compile(r"^    (\w+): (.+(?:\n        .+)*)", re.MULTILINE)
_SECTION = re.compile(r"\n\n(Args|Raises):\n")


@dataclass(frozen=True)
class Tool:
    """One tool, for a framework to wrap.

    Attributes:
        meanings: Description of each argument, by name.
    """

    name: str
    description: str
    method: Callable[..., ToolResult]
    meanings: Mapping[str, str]

    @classmethod
    def of(cls, method: Callable[..., ToolResult], **words: str) -> Tool:
        """Make a tool of a documented method.

        Args:
            method: The method; its docstring describes the tool and every argument.
            words: Text for each name in braces in the docstring.
        """
        text = inspect.cleandoc(method.__doc__ or "").format(**words)
        description, *rest = _SECTION.split(text)  # then titles and their lines in turn
        said = dict(zip(rest[::2], rest[1::2], strict=True)).get("Args", "")
        meanings = {name: " ".join(text.split()) for name, text in _ARGUMENT.findall(said)}
        description = " ".join(description.split())
        return cls(method.__name__, description, method, meanings)

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The arguments as a pydantic model with their types, defaults and descriptions.

        Raises:
            MissingExtraError: If pydantic is missing; every framework installs it.
        """
        pydantic = require("pydantic", "mcp")
        hints = get_type_hints(self.method)
        fields: dict[str, Any] = {}
        for name, parameter in inspect.signature(self.method).parameters.items():
            empty = parameter.default is inspect.Parameter.empty
            default = ... if empty else parameter.default
            fields[name] = (hints[name], pydantic.Field(default, description=self.meanings[name]))
        made: type[BaseModel] = pydantic.create_model(
            f"{self.name}_arguments", __config__=pydantic.ConfigDict(extra="forbid"), **fields
        )
        return made

    def run(self, /, **arguments: Any) -> ToolResult:
        """Run the tool and return its answer.

        Raises:
            InputError: If an argument is missing, unknown, of a wrong type or out of range; a model
                can act on the message.
            SatError: If the index cannot be read.
        """
        pydantic = require("pydantic", "mcp")
        try:
            given = self.arguments(**arguments)
        except pydantic.ValidationError as error:
            raise InputError(f"{self.name}: {wrong_arguments(error.errors())}") from error
        return self.method(**{name: getattr(given, name) for name in self.meanings})


def wrong_arguments(errors: Sequence[Any]) -> str:
    """A message about invalid arguments, without their values."""
    places = (".".join(map(str, each["loc"])) or "arguments" for each in errors)
    return "; ".join(f"{place}: {each['msg']}" for place, each in zip(places, errors, strict=True))
