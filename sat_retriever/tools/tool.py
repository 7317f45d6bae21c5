"""Make tools of `SheetTools` methods: description and arguments from docstring and hints."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

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
        before = pydantic.model_validator(mode="before")
        made: type[BaseModel] = pydantic.create_model(
            f"{self.name}_arguments",
            __config__=pydantic.ConfigDict(extra="forbid"),
            __validators__={"as_meant": before(classmethod(_as_meant))},
            **fields,
        )
        return made

    def parameters(self, *, strict: bool = False) -> dict[str, Any]:
        """The JSON schema of the arguments, in the part of JSON Schema that all vendors take.

        An argument that may be left out may also be null.

        Args:
            strict: Demand every argument, as the strict mode of OpenAI does.
        """
        schema: dict[str, Any] = self.arguments.model_json_schema()
        del schema["title"]
        for each in schema["properties"].values():
            del each["title"]
            if "default" not in each:
                continue
            default = each.pop("default")
            if default not in (None, ""):
                each["description"] += f" Default: {json.dumps(default)}."
            if "anyOf" not in each:
                description = each.pop("description")
                kinds = [dict(each), {"type": "null"}]
                each.clear()
                each |= {"anyOf": kinds, "description": description}
        if strict:
            schema["required"] = list(schema["properties"])
        return schema

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


def _as_meant(model: type[BaseModel], given: Any) -> Any:
    """Arguments as models often write them: null for a default, a list as a text or as JSON."""
    if not isinstance(given, Mapping):
        return given
    meant = dict(given)
    for name, field in model.model_fields.items():
        value = meant.get(name)
        if value is None and not field.is_required():
            meant.pop(name, None)
        elif isinstance(value, str) and list[str] in (
            field.annotation,
            *get_args(field.annotation),
        ):
            meant[name] = _list_of(value)
    return meant


def _list_of(text: str) -> Any:
    """The list that a text holds as JSON, or a list of the text.

    >>> _list_of('["a", "b"]'), _list_of("a.xlsx#Q1"), _list_of("[a].xlsx#Q1")
    (['a', 'b'], ['a.xlsx#Q1'], ['[a].xlsx#Q1'])
    """
    with suppress(ValueError):
        found = json.loads(text)
        if isinstance(found, list):
            return found
    return [text]


def wrong_arguments(errors: Sequence[Any]) -> str:
    """A message about invalid arguments, without their values."""
    places = (".".join(map(str, each["loc"])) or "arguments" for each in errors)
    return "; ".join(f"{place}: {each['msg']}" for place, each in zip(places, errors, strict=True))
