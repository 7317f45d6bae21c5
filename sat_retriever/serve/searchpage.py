"""The search page: a query string in, the template's values for each hit out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from urllib.parse import parse_qsl, urlencode

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.area import area_of
from sat_retriever.records.contents import Role, TextKind
from sat_retriever.records.filters import Filters
from sat_retriever.records.hits import Hit
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Visibility
from sat_retriever.serve.grid import Marker, Segment, preview_rows
from sat_retriever.serve.reasons import plain_reason, ranking_of
from sat_retriever.serve.request import (
    PageError,
    Related,
    csv_url,
    number_of,
    places_of,
    preview_url,
    related_of,
    sheet_url,
    text_of,
)
from sat_retriever.text.oneline import short
from sat_retriever.text.period.spans import asked_on

HITS, MORE_HITS = 10, 50
NEAREST = 3  # hits that are shown if nothing answers
_LISTED = 200  # workbooks of a folder
_FILTERS = ("folder", "format", "period", "role")
_RELATED, _CELLS, _HEADERS = 4, 3, 12  # of a hit, that are shown
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


@dataclass(frozen=True, slots=True)
class FoundWorkbook:
    """A workbook with its sheets that were found, best first; `gone` if its file is."""

    path: str
    marked: list[Segment]
    gone: bool
    hits: tuple[HitView, ...]


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Values that the page shows of a search.

    Attributes:
        workbooks: Those of the hits, in the order of their best ones.
        shown: Number of hits.
        of: Number of sheets that were searched.
        listed: Without a question the workbooks of a folder, each a path and an address.
        heading: Says that the hits are only the nearest sheets, if that is so; else "".
        note: Further information; "" without any.
        times: Times that the question names, in words; "" without any.
        more: Address of the same search with more hits; "" if there are no more.
        widened: Address of the same search without filters; "" without filters.
    """

    form: SearchForm
    workbooks: tuple[FoundWorkbook, ...] = ()
    shown: int = 0
    of: int = 0
    listed: tuple[tuple[str, str], ...] = ()
    heading: str = ""
    note: str = ""
    times: str = ""
    more: str = ""
    widened: str = ""


def search_page(retriever: SheetRetriever, form: SearchForm) -> SearchPage:
    """Return the page of a search; without a question, what is in its folder."""
    if not form.q:
        return SearchPage(form, listed=_listed(retriever.index, form.folder))
    day = asked_on(None)
    try:
        found = retriever.retrieve(form.q, form.k, form.filters(), today=day)
        times = retriever.times(form.q, today=day).label
    except InputError as error:
        raise PageError(400, f"{error}.") from error
    few = bool(found.heading) and form.k == HITS
    hits = found[:NEAREST] if few else found[:]
    mark, ids = Marker(form.q), [hit.sheet_id for hit in hits]
    links = retriever.index.links(ids)
    gone = retriever.index.without_file(ids)
    more = len(found) > len(hits) or len(hits) == form.k < MORE_HITS
    return SearchPage(
        form,
        tuple(
            FoundWorkbook(
                group[0].record.path,
                mark(group[0].record.path or group[0].record.workbook),
                group[0].sheet_id in gone,
                tuple(
                    HitView.of(hit, form, mark, links, bare=few or hit.sheet_id in gone)
                    for hit in group
                ),
            )
            for group in by_workbook(hits)
        ),
        len(hits),
        retriever.index.search.count(form.filters()),
        (),
        found.heading,
        found.note,
        times,
        form.url(k=MORE_HITS) if more else "",
        SearchForm(q=form.q).url() if form.chips else "",
    )


def by_workbook(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Return hits in groups of one workbook, in the order of the best of each."""
    found: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        record = hit.record
        name = record.path or record.workbook
        found.setdefault((name, "" if name else record.sheet_id), []).append(hit)
    return list(found.values())


def _listed(index: SheetIndex, folder: str) -> tuple[tuple[str, str], ...]:
    if not folder:
        return ()
    start = f"{folder.strip('/')}/"
    paths = [path for path in index.paths() if path.startswith(start)][:_LISTED]
    return tuple((path, sheet_url(index.tabs(path)[0])) for path in paths)


def hit_url(hit: Hit, asked: str) -> str:
    """Return the address of a hit's sheet, at the row that answers what was asked."""
    places = [each.cell for each in hit.why.cells if each.is_on_cell]
    cells = [each.cell for each in hit.why.cells if each.kind is TextKind.CELL]
    row = _first_row(hit.range or "", places)
    return sheet_url(hit.sheet_id, row=row, cells=cells, asked=asked)


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
        tags: Facts that set it apart: its role, if that is not data, its visibility, its copies.
        reason: Why it was found, in words.
        ranking: What it was ranked by, each a label and a text.
        preview: Address of its first rows; empty for a sheet without a file.
        preview_rows: Their number, so that room is kept for them.
        csv: Address of its table as a file; empty without one.
        note: Rows of that table that are no records, in words; empty without any.
    """

    rank: int
    sheet_id: str
    title: list[Segment]
    url: str
    citation: str
    range: str
    tags: tuple[str, ...]
    columns: tuple[Column, ...]
    more_columns: int
    cells: tuple[MatchedCell, ...]
    reason: list[Segment]
    ranking: tuple[tuple[str, str], ...]
    related: tuple[Related, ...]
    preview: str
    preview_rows: int
    csv: str
    note: str

    @classmethod
    def of(
        cls, hit: Hit, form: SearchForm, mark: Marker, links: Sequence[Link], *, bare: bool
    ) -> HitView:
        """Describe a hit; `bare` without cells and files, as of a workbook that is gone."""
        record, range_ = hit.record, hit.range or ""
        area = area_of(range_) or area_of(record.main_range or "")
        cells = [each.cell for each in hit.why.cells if each.kind is TextKind.CELL]
        has_file = bool(record.path) and not bare
        named = [] if bare else [each for each in hit.columns if each.name]
        return cls(
            rank=hit.rank,
            sheet_id=hit.sheet_id,
            title=mark(record.sheet) or [("(no name)", False)],
            url=hit_url(hit, form.asked),
            citation=hit.citation,
            range=range_,
            tags=_tags(hit),
            columns=tuple(
                Column(mark(short(each.name)), short(each.example or ""))
                for each in named[:_HEADERS]
            ),
            more_columns=max(0, len(named) - _HEADERS),
            cells=tuple(
                MatchedCell(each.place, mark(short(each.text))) for each in hit.why.cells[:_CELLS]
            ),
            reason=plain_reason(hit, mark),
            ranking=ranking_of(hit),
            related=related_of(hit.sheet_id, links, _RELATED),
            preview=preview_url(hit.sheet_id, range_, cells, form.q) if has_file else "",
            preview_rows=len(preview_rows(record, area, places_of(cells))) if area else 0,
            csv=csv_url(hit.sheet_id, hit.table_place) if has_file and record.tables else "",
            note=hit.answering.note if hit.answering and not bare else "",
        )


def _tags(hit: Hit) -> tuple[str, ...]:
    record = hit.record
    tags = [record.format] if record.format else []
    tags += [record.role.value] if record.role is not Role.DATA else []
    if record.visibility is not Visibility.VISIBLE:
        tags.append(record.visibility.value.replace("_", " "))
    tags += [hit.copies.label] if hit.copies else []
    return tuple(tags)


def _first_row(range_: str, cells: Sequence[str]) -> int | None:
    """Return the row to open a sheet at, a little above those that answer; None for its start."""
    places = places_of(cells)
    area = area_of(range_)
    within = [row for row, column in places if area is None or area.holds(row, column)]
    row = within[0] if within else area.top if area else 1
    return row - _ABOVE if row > _NEAR else None
