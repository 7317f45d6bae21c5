"""Convert the fields that users give to values of the library, and back to plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from langchain_core.load.serializable import (
    Serializable,
    SerializedConstructor,
    SerializedNotImplemented,
)
from pydantic import BeforeValidator, InstanceOf, PlainSerializer, WithJsonSchema

from sat_retriever import Filters, InputError, SheetIndex
from sat_retriever.index.store.place import opens
from sat_retriever.index.sync.indexing import open_index
from sat_retriever.records.permissions import Owner
from sat_retriever.tools.content import Content, Form

IndexLike = SheetIndex | str | Path
FiltersLike = Filters | Mapping[str, Any]
ContentLike = Content | Form | Mapping[str, Any]

SECRET = "SAT_INDEX_URL"
_PLAIN = {"index", "checkpoint", "filters", "content", "today", "principals"}


class Dumped(Serializable):
    """A component over an index, which `langchain_core.load` dumps and loads.

    The dump holds the place of the index and the settings. A URL with a password is the secret
    `SAT_INDEX_URL`. `OWNER` is not written: the loaded object names no groups, which an index with
    permissions refuses. A component over an index whose encoder is an object of the program is
    dumped as one that cannot be loaded: its place alone does not open it.
    """

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return True: it can be dumped and loaded."""
        return True

    @property
    def lc_secrets(self) -> dict[str, str]:
        """The index, if its URL has a password."""
        place = self._searched().path
        return {"index": SECRET} if opens(place) != str(place) else {}

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """The settings as plain values."""
        plain = self.model_dump(mode="json", include=_PLAIN, exclude_none=True)
        groups = self._searched().principals  # of an index that is itself what some see
        return {**({"principals": list(groups)} if isinstance(groups, tuple) else {}), **plain}

    def to_json(self) -> SerializedConstructor | SerializedNotImplemented:
        """Return the dump; one that says that it cannot be loaded if the index cannot."""
        if not self._searched().is_reopenable:
            return self.to_json_not_implemented()
        return super().to_json()

    def _searched(self) -> SheetIndex:
        """Return the index."""
        index: SheetIndex = self.index  # type: ignore[attr-defined]
        return index


def as_index(given: IndexLike | None) -> SheetIndex:
    """Return an open index, or open it from its path or URL.

    Raises:
        InputError: If there is none, as in a dump that is loaded without its secret.
        IndexNotFoundError: If there is no index at the path.
    """
    if given is None:
        raise InputError(
            "no index is given; load a dump of a URL with a password with "
            f"secrets_map={{{SECRET!r}: URL}}"
        )
    return open_index(given)


def as_filters(given: FiltersLike | None) -> Filters | None:
    """Return filters, from a mapping of their fields if necessary.

    Raises:
        InputError: If a field is unknown or its value is invalid.
    """
    return None if given is None else Filters.of(given)


IndexField = Annotated[
    InstanceOf[SheetIndex],
    BeforeValidator(as_index),
    PlainSerializer(lambda index: str(index.path), return_type=str),
    WithJsonSchema({"type": "string"}),
]
PrincipalsField = Annotated[
    list[str] | InstanceOf[Owner] | None,
    # No text may mean the owner: an owner is written without groups.
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
    PlainSerializer(lambda filters: filters and filters.to_dict()),
    WithJsonSchema({"type": ["object", "null"]}),
]
ContentField = Annotated[
    InstanceOf[Content],
    BeforeValidator(Content.of),
    PlainSerializer(asdict, return_type=dict[str, Any]),
    WithJsonSchema({"type": "object"}),
]
