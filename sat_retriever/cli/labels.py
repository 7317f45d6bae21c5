"""A user's own labels: reading, checking against an index, converting to another format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from statistics import mean

import typer

from sat_retriever.cli.options import opened_whole
from sat_retriever.cli.terminal import counted, grid, plain, print_json, stdout
from sat_retriever.datasets.labels import Query, load_labels
from sat_retriever.datasets.labels.write import FORMS, write_queries
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.store.place import Place

_HINTED = 5  # unknown sheets for which similar ids are looked up
_LISTED = 20  # unknown sheets that are listed
_SEARCHED = 20_000  # ids that are compared


def check_form(out: Path | None) -> None:
    """Reject a file name that labels cannot be written to."""
    if out is not None and out.suffix.lower() not in FORMS:
        raise InputError(f"{out} does not end in {', '.join(FORMS)}; choose one of these formats")


def check_labels(file: Place, labels: Path, out: Path | None, *, as_json: bool) -> None:
    """Report the contents of a label file and the sheets that the index does not have.

    Raises:
        CorpusError: If the labels cannot be read.
        Exit: With code 1 if sheets are unknown; in that case nothing is written.
    """
    queries = load_labels(labels, unanswerable=True)
    with opened_whole(file) as opened:
        unknown = _unknown(opened, queries)
        hints = _hints(opened, list(unknown)[:_HINTED])
        sheets = len(opened)
    if out is not None and not unknown:
        write_queries(out, queries)
    if as_json:
        listed = [
            {"sheet_id": sheet, "queries": count, "near": hints.get(sheet, [])}
            for sheet, count in unknown.items()
        ]
        written = None if out is None or unknown else str(out)
        counts = {"queries": len(queries), "types": counts_by_type(queries)}
        print_json({"labels": str(labels), "out": written, **counts, "unknown_sheets": listed})
    else:
        _print_check(queries, unknown, hints, sheets)
        if out is not None:
            said = "nothing is written" if unknown else f"written to {out}"
            stdout().print(plain(said))
    if unknown:
        raise typer.Exit(1)


def counts_by_type(queries: Iterable[Query]) -> dict[str, dict[str, float]]:
    """Number of queries, and mean and largest number of positives, by type; "" without a type."""
    sizes: dict[str, list[int]] = {}
    for query in queries:
        sizes.setdefault(query.query_type, []).append(len(query.positives))
    return {
        kind: {
            "queries": len(each),
            "positives_mean": round(mean(each), 2),
            "positives_most": max(each),
        }
        for kind, each in sorted(sizes.items(), key=lambda item: (-len(item[1]), item[0]))
    }


def print_types(queries: Sequence[Query]) -> None:
    """Print a table of queries and positives, one row per type."""
    table = grid("type", "queries", "positives a query", "most")
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, row in counts_by_type(queries).items():
        numbers = (
            f"{row['queries']:,}",
            f"{row['positives_mean']:.1f}",
            f"{row['positives_most']:,}",
        )
        table.add_row(plain(kind or "(no type)"), *numbers)
    stdout().print(table)


def _unknown(opened: SheetIndex, queries: Sequence[Query]) -> dict[str, int]:
    """Unknown sheets with the number of queries that name them, in order of appearance."""
    known = set(opened.sheet_ids())
    counts: Counter[str] = Counter()
    for query in queries:
        named = dict.fromkeys((*query.positives, *query.negatives, *query.hard_negatives))
        counts.update(sheet for sheet in named if sheet not in known)
    return dict(counts)


def _hints(opened: SheetIndex, wanted: Sequence[str]) -> dict[str, list[str]]:
    ids = opened.sheet_ids() if wanted else []
    found: dict[str, list[str]] = {}
    for sheet in wanted:
        parts = _parts(sheet)
        alike = [each for each in ids if parts & _parts(each)] if len(ids) > _SEARCHED else ids
        folded = {each.casefold(): each for each in reversed(alike[:_SEARCHED])}
        close = get_close_matches(sheet.casefold(), list(folded), n=3, cutoff=0.5)
        found[sheet] = [folded[each] for each in close]
    return found


def _parts(sheet: str) -> set[str]:
    """Names of the file and the tab in an id."""
    path, _, tab = sheet.casefold().rpartition("#")
    return {path.rpartition("/")[2], f"#{tab}"} - {"", "#"}


def _print_check(
    queries: Sequence[Query],
    unknown: Mapping[str, int],
    hints: Mapping[str, list[str]],
    sheets: int,
) -> None:
    console = stdout()
    positives = {sheet for query in queries for sheet in query.positives}
    judged = sum(len(query.positives) + len(query.negatives) for query in queries)
    found = len(positives - set(unknown))
    console.print(
        f"[bold]{len(queries):,} {'query' if len(queries) == 1 else 'queries'}[/bold],",
        f"{counted(judged, 'label')};",
        f"{found:,} of the index's {counted(sheets, 'sheet')} asked for",
    )
    console.print()
    print_types(queries)
    console.print()
    if not unknown:
        console.print("all sheets named are in the index")
        return
    console.print(f"{counted(len(unknown), 'sheet')} not in the index", style="bold red")
    for sheet, count in list(unknown.items())[:_LISTED]:
        times = "1 query" if count == 1 else f"{count:,} queries"
        near = hints.get(sheet)
        hint = f"; did you mean {', '.join(map(repr, near))}?" if near else ""
        console.print(plain(f"{sheet!r} in {times}{hint}"))
    if len(unknown) > _LISTED:
        console.print(f"and {len(unknown) - _LISTED:,} more; --json names all", style="dim")
