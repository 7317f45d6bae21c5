"""The search page: a query string in, what the template shows out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlencode

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.errors import InputError
from sat_retriever.records.contents import Role
from sat_retriever.records.filters import Filters
from sat_retriever.serve.hitview import HitView
from sat_retriever.serve.marking import Marker
from sat_retriever.serve.request import PageError, number_of, text_of
from sat_retriever.text.period.spans import asked_on

HITS, MORE_HITS = 10, 50
ROLES = tuple(role.value for role in Role)
_FILTERS = ("folder", "format", "period", "role")


@dataclass(frozen=True, slots=True)
class SearchForm:
    """What the form of the page holds, as it was sent.

    Attributes:
        q: The question.
        folder: Folder of the workbooks, or a pattern such as `2024/*.xlsx`.
        format: File format.
        period: A time in words.
        role: What the sheets are for.
        k: Most hits.
    """

    q: str = ""
    folder: str = ""
    format: str = ""
    period: str = ""
    role: str = ""
    k: int = HITS

    @classmethod
    def of(cls, given: Mapping[str, str]) -> SearchForm:
        """Read the form from a query string.

        Raises:
            PageError: If a field is not valid in itself.
        """
        texts = {name: text_of(given, name) for name in ("q", *_FILTERS)}
        return cls(**texts, k=number_of(given, "k", 1, MORE_HITS, HITS))

    def filters(self) -> Filters | None:
        """Return the conditions of the search; None without any.

        Raises:
            InputError: If a condition is not valid.
        """
        found = Filters(
            path=_path(self.folder) if self.folder else None,
            format=self.format or None,
            period=self.period or None,
            role=cast("Role | None", self.role or None),  # checked by the filters
        )
        return found or None

    @property
    def is_narrowed(self) -> bool:
        """True if a filter is set."""
        return any(getattr(self, name) for name in _FILTERS)

    def url(self, **changes: str | int) -> str:
        """Return the address of this search, with some fields changed."""
        fields = {name: getattr(self, name) for name in ("q", *_FILTERS)}
        fields |= {"k": self.k if self.k != HITS else ""} | changes
        given = {name: value for name, value in fields.items() if value != ""}
        return f"/?{urlencode(given, errors='replace')}" if given else "/"


@dataclass(frozen=True, slots=True)
class SearchPage:
    """What the page shows of a search.

    Attributes:
        form: The form.
        hits: The hits.
        heading: Says that the hits are only the nearest sheets, if that is so; else "".
        note: Further information; "" without any.
        times: Times that the question names, in words; "" without any.
        more: Address of the same search with more hits; "" if there are no more.
        widened: Address of the same search without filters; "" without filters.
    """

    form: SearchForm
    hits: tuple[HitView, ...] = ()
    heading: str = ""
    note: str = ""
    times: str = ""
    more: str = ""
    widened: str = ""


def search_page(retriever: SheetRetriever, form: SearchForm) -> SearchPage:
    """Return the page of a search; without a question, a page without hits.

    Raises:
        PageError: If a filter is not valid.
    """
    if not form.q:
        return SearchPage(form)
    day = asked_on(None)
    try:
        found = retriever.retrieve(form.q, form.k, form.filters(), today=day)
        times = retriever.times(form.q, today=day).label
    except InputError as error:
        raise PageError(400, f"The search cannot be made: {error}.") from error
    mark = Marker(form.q)
    links = retriever.index.links([hit.sheet_id for hit in found])
    return SearchPage(
        form,
        tuple(HitView.of(hit, form.q, mark, links) for hit in found),
        found.heading,
        found.note,
        times,
        form.url(k=MORE_HITS) if len(found) == form.k < MORE_HITS else "",
        SearchForm(q=form.q).url() if form.is_narrowed else "",
    )


def _path(folder: str) -> str:
    """Return the pattern of all paths in a folder; a pattern stays as it is.

    >>> _path("hr/"), _path("2024/*.xlsx"), _path("[old]")
    ('hr/*', '2024/*.xlsx', '[[]old]/*')
    """
    if any(sign in folder for sign in "*?"):
        return folder
    return f"{folder.strip('/').replace('[', '[[]')}/*"
