"""The form of a search: its question and filters, as a query string sends them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import parse_qsl, urlencode

from sat_retriever.records.contents import Role
from sat_retriever.records.filters import Filters
from sat_retriever.serve.request import number_of, text_of

HITS, MORE_HITS = 10, 50
_FILTERS = ("folder", "format", "period", "role")


@dataclass(frozen=True, slots=True)
class SearchForm:
    """Values of the page's form, as sent; `folder` may be a pattern such as `2024/*.xlsx`."""

    q: str = ""
    folder: str = ""
    format: str = ""
    period: str = ""
    role: str = ""
    k: int = HITS

    @classmethod
    def of(cls, given: Mapping[str, str]) -> SearchForm:
        """Read the form from a query string."""
        texts = {name: text_of(given, name) for name in ("q", *_FILTERS)}
        return cls(**texts, k=number_of(given, "k", 1, MORE_HITS, HITS))

    def filters(self) -> Filters | None:
        """Return the conditions of the search; None without any."""
        found = Filters(
            path=_path(self.folder) if self.folder else None,
            format=self.format or None,
            period=self.period or None,
            role=cast("Role | None", self.role or None),  # checked by the filters
        )
        return found or None

    @property
    def chips(self) -> list[tuple[str, str, str]]:
        """The filters that are set: name, value, and the address of the search without it."""
        given = [(name, getattr(self, name)) for name in _FILTERS]
        return [(name, value, self.url(**{name: ""})) for name, value in given if value]

    @property
    def asked(self) -> str:
        """The query string of this search; "" without a question."""
        return self.url().partition("?")[2] if self.q else ""

    def fields(self) -> list[tuple[str, str]]:
        """Return names and values of a form that keeps this search; none without a question."""
        return parse_qsl(self.asked)

    def url(self, **changes: str | int) -> str:
        """Return the address of this search, with some fields changed."""
        fields = {name: getattr(self, name) for name in ("q", *_FILTERS)}
        fields |= {"k": self.k if self.k != HITS else ""} | changes
        given = {name: value for name, value in fields.items() if value != ""}
        return f"/?{urlencode(given, errors='replace')}" if given else "/"


def _path(folder: str) -> str:
    """Return the pattern of all paths in a folder; a pattern stays as it is.

    >>> _path("hr/"), _path("2024/*.xlsx"), _path("[old]")
    ('hr/*', '2024/*.xlsx', '[[]old]/*')
    """
    if any(sign in folder for sign in "*?"):
        return folder
    return f"{folder.strip('/').replace('[', '[[]')}/*"
