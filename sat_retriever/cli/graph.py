"""`sat graph`: export sheets and links as JSON, GraphML or a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import typer

from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    GroupsOption,
    IndexOption,
    OwnerOption,
    PathOption,
    examples,
    opened_for,
)
from sat_retriever.cli.progress import At, Shown, progress
from sat_retriever.cli.terminal import (
    check_target,
    counted,
    plain,
    stderr,
    to_stdout,
    to_terminal,
    write_parts,
)
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.links.graph import around, best_linked, graph_json_parts, graphml_parts
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.tools.naming import find_sheets, unknown_name

Item = TypeVar("Item")
Format = Literal["json", "graphml", "html"]
_SUFFIXES: dict[str, Format] = {
    ".json": "json",
    ".graphml": "graphml",
    ".html": "html",
    ".htm": "html",
}
_READ_AT_ONCE = 1_000

app = typer.Typer()


@dataclass(frozen=True, slots=True)
class _Wish:
    workbook: str | None
    path: str | None
    sheets: tuple[str, ...]
    hops: int
    types: tuple[str, ...]
    limit: int | None


@app.command(
    epilog=examples(
        "sat graph --index reports.sat --out links.html",
        'sat graph -i reports.sat --sheet "Sales.xlsx#Q1" --hops 2 --out q1.html',
        "sat graph -i reports.sat --type formula_reference --out all.graphml",
        "sat graph -i reports.sat --format json | jq '.links[].type' | sort | uniq -c",
    )
)
def graph(
    file: IndexOption = DEFAULT_INDEX,
    *,
    format_: Annotated[
        Format | None,
        typer.Option(
            "--format", help="json, graphml or html; by default from --out.", metavar="NAME"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write here instead of printing.", metavar="FILE"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file at --out.")] = False,
    workbook: Annotated[
        str | None, typer.Option(help="Only this workbook, by name or path.", metavar="NAME")
    ] = None,
    path: PathOption = None,
    sheet: Annotated[
        list[str] | None,
        typer.Option(help="Only sheets near this sheet or workbook.", metavar="NAME"),
    ] = None,
    hops: Annotated[int, typer.Option(min=0, help="Reach of --sheet, in links.", metavar="N")] = 1,
    kind: Annotated[
        list[str] | None,
        typer.Option("--type", help="Only links of this type.", metavar="NAME"),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="At most N sheets, best linked first; html: 2000.", metavar="N"),
    ] = None,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
) -> None:
    """Export sheets and links as JSON, GraphML, or an interactive page.

    The page is one HTML file that needs no network: search, filter by
    type, click a sheet to see its links and the evidence for each.
    """
    check_target(out, file, force=force)
    form = _format(format_, out)
    if form == "html" and limit is None:
        from sat_retriever.pages.graph.page import PAGE_SHEETS

        limit = PAGE_SHEETS
    if to_terminal(out) and form == "html":
        raise InputError("a page cannot be shown in a terminal; name a file: --out graph.html")
    wish = _Wish(workbook, path, tuple(sheet or ()), hops, tuple(kind or ()), limit)
    quiet = to_terminal(out)  # no progress between printed lines
    with (
        opened_for(file, as_groups, as_owner=as_owner) as opened,
        progress("graph", "sheets", quiet=quiet) as shown,
    ):
        meter = _Meter(shown)
        _check_types(opened, wish.types)
        ids, notes = _chosen(opened, wish)
        records = meter.count(_records(opened, ids), "sheets", len(ids))
        links = meter.count(_links(opened, ids, wish.types), "links")
        if form == "html":
            from sat_retriever.pages.graph.page import to_html

            page = to_html(list(records), links, title=file.stem, notes=notes)
            parts: Iterable[str] = [page]
        else:
            parts = (graph_json_parts if form == "json" else graphml_parts)(records, links)
        write_parts(parts, out)
    for note in notes:
        stderr().print(plain(note), soft_wrap=True)
    if not to_stdout(out):
        sheets, edges = (counted(meter.done[what], what[:-1]) for what in ("sheets", "links"))
        stderr().print(plain(f"{sheets} and {edges} in {out}"), soft_wrap=True)


def _format(asked: Format | None, out: Path | None) -> Format:
    if asked:
        return asked
    if out is None or to_stdout(out):
        return "json"
    known = _SUFFIXES.get(out.suffix.lower())
    if known is None:
        raise InputError(f"{out} does not end in .json, .graphml or .html; give the --format")
    return known


# ---- selection


def _chosen(opened: SheetIndex, wish: _Wish) -> tuple[list[str], list[str]]:
    """Ids of the sheets to export, in order, and notes on those left out."""
    ids = opened.sheet_ids() if wish.workbook is None else find_sheets(opened, wish.workbook)[1]
    if wish.workbook is not None and not ids:
        raise InputError(unknown_name(opened, wish.workbook))
    if wish.path is not None:
        glob = wish.path
        ids = [r.sheet_id for r in _records(opened, ids) if fnmatchcase(r.path, glob)]
    if wish.sheets:
        near = set(around(_named(opened, wish.sheets), _typed(opened, wish.types), wish.hops))
        ids = [sheet_id for sheet_id in ids if sheet_id in near]
    total, notes = len(ids), []
    if wish.limit is not None and total > wish.limit:
        ids = best_linked(ids, _typed(opened, wish.types), wish.limit)
        notes.append(f"The {wish.limit:,} best linked of {total:,} sheets; --limit changes that.")
    return ids, notes


def _check_types(opened: SheetIndex, types: Sequence[str]) -> None:
    known = opened.status()["links"]
    for kind in types:
        if isinstance(known, dict) and kind not in known:
            there = ", ".join(known) or "no links at all"
            raise InputError(f"{opened.path} has no links of type {kind!r}; it has {there}")


def _named(opened: SheetIndex, names: Iterable[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        ids = find_sheets(opened, name)[1]
        if not ids:
            raise InputError(unknown_name(opened, name))
        found += ids
    return found


def _typed(opened: SheetIndex, types: Sequence[str]) -> Iterator[Link]:
    return (link for link in opened.all_links() if not types or link.type in types)


def _records(opened: SheetIndex, ids: Sequence[str]) -> Iterator[SheetRecord]:
    for start in range(0, len(ids), _READ_AT_ONCE):
        found = opened.records(ids[start : start + _READ_AT_ONCE])
        yield from (found[one] for one in sorted(found))


def _links(opened: SheetIndex, ids: Sequence[str], types: Sequence[str]) -> Iterator[Link]:
    known = set(ids)
    return (x for x in _typed(opened, types) if x.source in known and x.target in known)


# ---- progress


class _Meter:
    def __init__(self, shown: Shown) -> None:
        self.done: Counter[str] = Counter()
        self._shown = shown

    def count(self, items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
        """Yield the items and count them."""
        for item in items:
            self.done[what] += 1
            if self.done[what] % _READ_AT_ONCE == 0:
                self._shown.at(At(what, self.done[what], total))
            yield item
