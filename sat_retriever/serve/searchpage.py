"""The search page: a query string in, the template's values for each hit out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sat_retriever.index.index import SheetIndex
from sat_retriever.records.area import area_of
from sat_retriever.records.contents import Role, TextKind
from sat_retriever.records.hits import Hit
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Visibility
from sat_retriever.serve.foundlists import FoundLists, by_workbook, hit_url, shown_hits
from sat_retriever.serve.grid import Marker, Segment, preview_rows
from sat_retriever.serve.reasons import plain_reason, ranking_of
from sat_retriever.serve.request import (
    Related,
    csv_url,
    places_of,
    preview_url,
    related_of,
    sheet_url,
)
from sat_retriever.serve.searchform import HITS, MORE_HITS, SearchForm
from sat_retriever.text.oneline import short
from sat_retriever.text.period.spans import asked_on

_LISTED = 200  # workbooks of a folder
_RELATED, _CELLS, _HEADERS = 4, 3, 12  # of a hit, that are shown


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


def search_page(lists: FoundLists, form: SearchForm) -> SearchPage:
    """Return the page of a search; without a question, what is in its folder."""
    retriever = lists.retriever
    if not form.q:
        return SearchPage(form, listed=_listed(retriever.index, form.folder))
    day = asked_on(None)
    found, _list = lists.search(form, day)
    times = retriever.times(form.q, today=day).label
    hits = shown_hits(found, form)
    few = bool(found.heading) and form.k == HITS
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


def _listed(index: SheetIndex, folder: str) -> tuple[tuple[str, str], ...]:
    if not folder:
        return ()
    start = f"{folder.strip('/')}/"
    paths = [path for path in index.paths() if path.startswith(start)][:_LISTED]
    return tuple((path, sheet_url(index.tabs(path)[0])) for path in paths)


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
