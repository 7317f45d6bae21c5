"""Convert the fields that users give to values of the library, and back to plain values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, InstanceOf, PlainSerializer, WithJsonSchema

from sat_retriever import Filters, InputError, SheetIndex
from sat_retriever.index.indexing import open_index
from sat_retriever.records.permissions import Owner
from sat_retriever.tools.content import Content, Form

IndexLike = SheetIndex | str | Path
FiltersLike = Filters | Mapping[str, Any]
ContentLike = Content | Form | Mapping[str, Any]

_TIMES = ("modified_after", "modified_before")


def as_filters(given: FiltersLike | None) -> Filters | None:
    """Return filters, from a mapping of their fields if necessary; times may be ISO texts.

    Raises:
        InputError: If a field is unknown or its value is invalid.
    """
    if given is None or isinstance(given, Filters):
        return given
    if not isinstance(given, Mapping):
        raise InputError(f"filters are a {type(given).__name__}; give Filters, or a mapping")
    known = [each.name for each in fields(Filters)]
    unknown = sorted(str(name) for name in set(given) - set(known))
    if unknown:
        raise InputError(
            f"there is no filter {', '.join(unknown)}; there are {', '.join(known)}, and a "
            "record's own fields go into metadata"
        )
    values = dict(given)
    for name in _TIMES:
        if isinstance(values.get(name), str):
            values[name] = _time(name, values[name])
    return Filters(**values)


def plain_filters(filters: Filters | None) -> dict[str, Any] | None:
    """Return the given conditions as JSON values; `as_filters` reads them."""
    if filters is None:
        return None
    values = {name: value for name, value in asdict(filters).items() if value not in (None, {})}
    return {name: _plain(value) for name, value in values.items()}


def as_content(given: ContentLike) -> Content:
    """Return the content settings of a hit, from a form or a mapping if necessary.

    Raises:
        InputError: If a value is invalid.
    """
    if isinstance(given, Content):
        return given
    values = {"form": given} if isinstance(given, str) else dict(given)
    known = [each.name for each in fields(Content)]
    unknown = sorted(str(name) for name in set(values) - set(known))
    if unknown:
        raise InputError(f"content has no {', '.join(unknown)}; it has {', '.join(known)}")
    return Content(**values)


def _time(name: str, text: str) -> dt.datetime:
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{name} is {text!r}; give a time such as 2024-05-31") from error


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, dt.datetime) else value


IndexField = Annotated[
    InstanceOf[SheetIndex],
    BeforeValidator(open_index),
    PlainSerializer(lambda index: str(index.path), return_type=str),
    WithJsonSchema({"type": "string"}),
]
PrincipalsField = Annotated[
    list[str] | InstanceOf[Owner] | None,
    # No text may mean the owner, so that one comes back as nobody.
    PlainSerializer(
        lambda given: None if isinstance(given, Owner) else given,
        return_type=list[str] | None,
        when_used="json",
    ),
    WithJsonSchema({"type": ["array", "null"], "items": {"type": "string"}}),
]
FiltersField = Annotated[
    InstanceOf[Filters] | None,
    BeforeValidator(as_filters),
    PlainSerializer(plain_filters),
    WithJsonSchema({"type": ["object", "null"]}),
]
ContentField = Annotated[
    InstanceOf[Content],
    BeforeValidator(as_content),
    PlainSerializer(asdict, return_type=dict[str, Any]),
    WithJsonSchema({"type": "object"}),
]
