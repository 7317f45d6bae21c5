"""A sheet's links as a terminal table: by type, in both directions, with the evidence."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from sat_retriever.cli.terminal import grid, plain
from sat_retriever.records.links import Link, in_order, kind_of
from sat_retriever.records.sheets import SheetRecord


def link_table(record: SheetRecord, links: Sequence[Link], most: int) -> Table:
    """Links from and to a sheet, at most `most` per type and direction, strongest first."""
    table = grid("link", "sheet", "evidence")
    table.columns[0].no_wrap = True
    for kind in in_order({link.type for link in links}):
        own = [link for link in links if link.type == kind]
        table.add_row(Text.assemble((plain(kind).plain, "bold"), (f"  {len(own):,}", "dim")))
        for way, ends in _by_way(kind, own, record.sheet_id):
            _add_rows(table, record, way, ends, most)
    return table


def _by_way(kind: str, links: Sequence[Link], sheet_id: str) -> list[tuple[str, list[Link]]]:
    there, back = kind_of(kind).says
    if not kind_of(kind).directed:
        return [(there, list(links))]
    out = [link for link in links if link.source == sheet_id]
    return [(there, out), (back, [link for link in links if link.source != sheet_id])]


def _add_rows(
    table: Table, record: SheetRecord, way: str, links: Sequence[Link], most: int
) -> None:
    ranked = sorted(links, key=lambda x: (-x.weight, x.source, x.target))
    for link in ranked[:most]:
        table.add_row(f"  {way}", plain(other_end(record, link)), plain(link.evidence))
        way = ""
    rest = len(ranked) - len(ranked[:most])
    if rest:
        table.add_row(f"  {way}" if most == 0 else "", Text(f"+{rest:,} more", style="dim"))


def other_end(record: SheetRecord, link: Link) -> str:
    """The other sheet of a link: its name if it is in the same workbook, else its id.

    >>> other_end(SheetRecord("a.xlsx#x", "x", path="a.xlsx"), Link("a.xlsx#x", "a.xlsx#y", "t"))
    'y'
    """
    other = link.target if link.source == record.sheet_id else link.source
    own = f"{record.path}#"
    return other.removeprefix(own) if record.path else other
