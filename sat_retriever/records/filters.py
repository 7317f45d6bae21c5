"""Limits of a search: filters of sheets, and counts."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from sat_retriever.errors import InputError
from sat_retriever.records.contents import Role
from sat_retriever.records.formats import FORMAT_NAMES
from sat_retriever.records.sheets import Visibility

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that a sheet must meet, all of them; an unset one holds for every sheet.

    Attributes:
        workbook: Exact file name of the workbook.
        path: Glob over the path relative to its root, for example "2024/*.xlsx";
            `*` also crosses folders. The exact path also matches, whatever characters it has.
        period: A time in words, for example "Q1 2024" or "2021 to 2023". A sheet meets it if the
            time that its names tell lies in it or overlaps it; a sheet of unknown time never does.
        modified_after: Earliest modification time of the file, inclusive; a time without
            a zone is taken as UTC. Records added without a file have no time and never match.
        modified_before: Latest modification time of the file, exclusive.
        metadata: Fields of the record's metadata, and the value that each must have.

    Raises:
        InputError: If a time is not a datetime, a text is not Unicode, or the visibility, the
            format or the role is unknown. A period that names no time is refused by the search.
    """

    workbook: str | None = None
    path: str | None = None
    visibility: Visibility | None = None
    format: str | None = None
    role: Role | None = None
    period: str | None = None
    modified_after: dt.datetime | None = None
    modified_before: dt.datetime | None = None
    metadata: Mapping[str, str | int | float | bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("modified_after", "modified_before"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, dt.datetime):
                raise InputError(f"{name} is {value!r}; give a datetime")
        given = (self.workbook, self.path, self.period, *self.metadata, *self.metadata.values())
        for text in given:
            if isinstance(text, str) and _SURROGATE.search(text):
                raise InputError(f"a filter is {text[:100]!r}, which is not Unicode; correct it")
        self._check_member("visibility", Visibility)
        self._check_member("role", Role)
        if self.format is not None:
            object.__setattr__(self, "format", self.format.lower().removeprefix("."))
            if self.format not in (*FORMAT_NAMES, ""):
                raise InputError(
                    f"format is {self.format!r}; give one of: {', '.join(FORMAT_NAMES)}"
                )

    def _check_member(self, name: str, known: type[StrEnum]) -> None:
        value = getattr(self, name)
        if value is None:
            return
        try:
            object.__setattr__(self, name, known(value))
        except ValueError as error:
            raise InputError(f"{name} is {value!r}; give one of: {', '.join(known)}") from error

    def __bool__(self) -> bool:
        return self != Filters()

    @classmethod
    def of(cls, given: object) -> Filters:
        """Filters from a mapping of their fields, whose times may be ISO texts, or from filters.

        Raises:
            InputError: If it is neither, a field is unknown or its value is invalid.

        >>> Filters.of({"path": "2024/*"}).to_dict()
        {'path': '2024/*'}
        """
        if isinstance(given, Filters):
            return given
        if not isinstance(given, Mapping):
            raise InputError(f"filters are a {type(given).__name__}; give Filters, or a mapping")
        known = [each.name for each in fields(cls)]
        unknown = sorted(str(name) for name in set(given) - set(known))
        if unknown:
            raise InputError(
                f"there is no filter {', '.join(unknown)}; there are {', '.join(known)}, and a "
                "record's own fields go into metadata"
            )
        values = dict(given)
        for name in ("modified_after", "modified_before"):
            if isinstance(values.get(name), str):
                values[name] = _time(name, values[name])
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """The given conditions as JSON values; `of` reads them."""
        given = {name: value for name, value in asdict(self).items() if value not in (None, {})}
        return {
            name: value.isoformat() if isinstance(value, dt.datetime) else value
            for name, value in given.items()
        }


def _time(name: str, text: str) -> dt.datetime:
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{name} is {text!r}; give a time such as 2024-05-31") from error


def check_counts(**counts: object) -> None:
    """Reject counts that are not whole numbers above 0.

    Raises:
        InputError: If a count is not; the message names it.

    >>> check_counts(top_k=5)
    """
    for name, count in counts.items():
        if not isinstance(count, int) or isinstance(count, bool):
            raise InputError(f"{name} is {count!r}; give a whole number")
        if count < 1:
            raise InputError(f"{name} is {count}; ask for at least 1")
