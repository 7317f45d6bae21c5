"""A hit as the page shows it: names, reasons in words, a preview, where to go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sat_retriever.records.area import Place, area_of, split_ref
from sat_retriever.records.contents import Role, TextKind
from sat_retriever.records.hits import Hit
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Visibility
from sat_retriever.serve.addresses import (
    Related,
    csv_url,
    preview_url,
    related_of,
    sheet_url,
)
from sat_retriever.serve.marking import Marker, Segment, joined
from sat_retriever.tools.results.result import short

_RELATED = 4
_CELLS = 3
_HEADERS = 12
_WORDS = 8
_ABOVE = 5  # rows shown above the one that answers
_NEAR = 40  # rows that are in sight from the start of a sheet, or nearly


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
        rank: 1 for the best.
        title: Name of the sheet.
        path: Path of its workbook, or the workbook's name.
        url: The sheet's page, at the row that answers.
        citation: What to cite.
        range: Range of the rows that answer.
        score: Value that hits are ranked by, as text.
        tags: Facts that set it apart: its role, if that is not data, its visibility, its copies.
        columns: Columns of the table that answers, the first of them.
        more_columns: Number of the other columns.
        cells: Cells that match.
        reasons: Why it was found, each a label and a text.
        related: Linked sheets.
        preview: Address of its first rows; empty for a sheet without a file.
        csv: Address of its table as a file; empty without one.
        note: Rows of that table that are no records, in words; empty without any.
    """

    rank: int
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
    csv: str
    note: str

    @classmethod
    def of(cls, hit: Hit, query: str, mark: Marker, links: Sequence[Link]) -> HitView:
        """Describe a hit.

        Args:
            hit: The hit.
            query: The question.
            mark: Marks its words.
            links: Links from or to the sheet.
        """
        record, range_ = hit.record, hit.range or ""
        places = [each.cell for each in hit.why.cells if each.is_on_cell]
        cells = [each.cell for each in hit.why.cells if each.kind is TextKind.CELL]
        has_file = bool(record.path)
        named = [each for each in hit.columns if each.name]
        return cls(
            rank=hit.rank,
            title=mark(record.sheet) or [("(no name)", False)],
            path=mark(record.path or record.workbook),
            url=sheet_url(hit.sheet_id, row=_first_row(range_, places), cells=cells),
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
            preview=preview_url(hit.sheet_id, range_, cells, query) if has_file else "",
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
    """Return the reasons in words, each only if it speaks for the sheet."""
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
    places: list[Place] = [place for each in cells if (place := split_ref(each))]
    area = area_of(range_)
    within = [row for row, column in places if area is None or area.holds(row, column)]
    row = within[0] if within else area.top if area else 1
    return row - _ABOVE if row > _NEAR else None
