"""The search page: a query string in, the template's values for each hit out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from urllib.parse import parse_qsl, urlencode

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.errors import InputError
from sat_retriever.records.area import Place, area_of, split_ref
from sat_retriever.records.contents import Role, TextKind
from sat_retriever.records.filters import Filters
from sat_retriever.records.hits import Hit
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Visibility
from sat_retriever.serve.grid import Marker, Segment, joined, preview_rows
from sat_retriever.serve.request import (
    PageError,
    Related,
    csv_url,
    number_of,
    preview_url,
    related_of,
    sheet_url,
    text_of,
)
from sat_retriever.text.oneline import short
from sat_retriever.text.period.spans import asked_on

HITS, MORE_HITS = 10, 50
ROLES = tuple(role.value for role in Role)
_FILTERS = ("folder", "format", "period", "role")
_RELATED, _CELLS, _HEADERS, _WORDS = 4, 3, 12, 8  # of a hit, that are shown
_ABOVE = 5  # rows shown above the one that answers
_NEAR = 40  # rows that are in sight from the start of a sheet, or nearly


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
    def is_narrowed(self) -> bool:
        """True if a filter is set."""
        return any(getattr(self, name) for name in _FILTERS)

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


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Values that the page shows of a search.

    Attributes:
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
    """Return the page of a search; without a question, a page without hits."""
    if not form.q:
        return SearchPage(form)
    day = asked_on(None)
    try:
        found = retriever.retrieve(form.q, form.k, form.filters(), today=day)
        times = retriever.times(form.q, today=day).label
    except InputError as error:
        raise PageError(400, f"{error}.") from error
    mark = Marker(form.q)
    links = retriever.index.links([hit.sheet_id for hit in found])
    return SearchPage(
        form,
        tuple(HitView.of(hit, form, mark, links) for hit in found),
        found.heading,
        found.note,
        times,
        form.url(k=MORE_HITS) if len(found) == form.k < MORE_HITS else "",
        SearchForm(q=form.q).url() if form.is_narrowed else "",
    )


def hit_url(hit: Hit, asked: str) -> str:
    """Return the address of a hit's sheet, at the row that answers what was asked."""
    places = [each.cell for each in hit.why.cells if each.is_on_cell]
    cells = [each.cell for each in hit.why.cells if each.kind is TextKind.CELL]
    row = _first_row(hit.range or "", places)
    return sheet_url(hit.sheet_id, row=row, cells=cells, asked=asked)


def places_of(cells: Sequence[str]) -> list[Place]:
    """Return row and column of each cell."""
    return [place for each in cells if (place := split_ref(each))]


def _path(folder: str) -> str:
    """Return the pattern of all paths in a folder; a pattern stays as it is.

    >>> _path("hr/"), _path("2024/*.xlsx"), _path("[old]")
    ('hr/*', '2024/*.xlsx', '[[]old]/*')
    """
    if any(sign in folder for sign in "*?"):
        return folder
    return f"{folder.strip('/').replace('[', '[[]')}/*"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table that answers: its header, and an example of its cells."""

    name: list[Segment]
    example: str


@dataclass(frozen=True, slots=True)
class MatchedCell:
    """A cell that matches the question."""

    cell: str
    text: list[Segment]


@dataclass(frozen=True, slots=True)
class HitView:
    """One hit.

    Attributes:
        url: The sheet's page, at the row that answers.
        range: Range of the rows that answer.
        score: Value that hits are ranked by, as text.
        tags: Facts that set it apart: its role, if that is not data, its visibility, its copies.
        reasons: Why it was found, each a label and a text.
        preview: Address of its first rows; empty for a sheet without a file.
        preview_rows: Their number, so that room is kept for them.
        csv: Address of its table as a file; empty without one.
        note: Rows of that table that are no records, in words; empty without any.
    """

    rank: int
    sheet_id: str
    workbook: str
    title: list[Segment]
    path: list[Segment]
    url: str
    citation: str
    range: str
    score: str
    tags: tuple[str, ...]
    columns: tuple[Column, ...]
    more_columns: int
    cells: tuple[MatchedCell, ...]
    reasons: tuple[tuple[str, str], ...]
    related: tuple[Related, ...]
    preview: str
    preview_rows: int
    csv: str
    note: str

    @classmethod
    def of(cls, hit: Hit, form: SearchForm, mark: Marker, links: Sequence[Link]) -> HitView:
        """Describe a hit."""
        record, range_ = hit.record, hit.range or ""
        area = area_of(range_) or area_of(record.main_range or "")
        cells = [each.cell for each in hit.why.cells if each.kind is TextKind.CELL]
        has_file = bool(record.path)
        named = [each for each in hit.columns if each.name]
        return cls(
            rank=hit.rank,
            sheet_id=hit.sheet_id,
            workbook=record.path,
            title=mark(record.sheet) or [("(no name)", False)],
            path=mark(record.path or record.workbook),
            url=hit_url(hit, form.asked),
            citation=hit.citation,
            range=range_,
            score=f"{hit.score:.2f}",
            tags=_tags(hit),
            columns=tuple(
                Column(mark(short(each.name)), short(each.example or ""))
                for each in named[:_HEADERS]
            ),
            more_columns=max(0, len(named) - _HEADERS),
            cells=tuple(
                MatchedCell(each.place, mark(short(each.text))) for each in hit.why.cells[:_CELLS]
            ),
            reasons=_reasons(hit),
            related=related_of(hit.sheet_id, links, _RELATED),
            preview=preview_url(hit.sheet_id, range_, cells, form.q) if has_file else "",
            preview_rows=len(preview_rows(record, area, places_of(cells))) if area else 0,
            csv=csv_url(hit.sheet_id, hit.table_place) if has_file and record.tables else "",
            note=hit.answering.note if hit.answering else "",
        )


def _tags(hit: Hit) -> tuple[str, ...]:
    record = hit.record
    tags = [record.format] if record.format else []
    tags += [record.role.value] if record.role is not Role.DATA else []
    if record.visibility is not Visibility.VISIBLE:
        tags.append(record.visibility.value.replace("_", " "))
    tags += [hit.copies.label] if hit.copies else []
    return tuple(tags)


def _reasons(hit: Hit) -> tuple[tuple[str, str], ...]:
    why = hit.why
    found = [
        ("words", why.common(_WORDS) or "none in common"),
        ("headers", joined(map(short, why.headers), _WORDS)),
        ("meaning", f"{why.dense:.2f} (rank {why.dense_rank:,})"),
        ("cells", f"{why.contents:.2f} (rank {why.contents_rank:,})" if why.contents_rank else ""),
        ("time", why.period or ""),
        ("same file", joined(hit.copies.equal, _WORDS)),
    ]
    if why.via:
        seen = Related.of(hit.sheet_id, why.via)
        found.append(("link", f"{seen.way} {seen.sheet_id}"))
    return tuple((label, text) for label, text in found if text)


def _first_row(range_: str, cells: Sequence[str]) -> int | None:
    """Return the row to open a sheet at, a little above those that answer; None for its start."""
    places = places_of(cells)
    area = area_of(range_)
    within = [row for row, column in places if area is None or area.holds(row, column)]
    row = within[0] if within else area.top if area else 1
    return row - _ABOVE if row > _NEAR else None
