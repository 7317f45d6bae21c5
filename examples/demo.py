"""Index a folder of workbooks, ask it questions, and show the results with reasons.

python examples/demo.py                       made workbooks, and some unusual files
python examples/demo.py ~/reports             your own
python examples/demo.py ~/reports --ask "travel expenses by employee"
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from demo_console import bar, grid, name, plain, title
from demo_made import MadeCorpus, make, show_made
from demo_workbooks import write_workbooks
from rich.console import Console
from rich.text import Text

from sat_retriever import (
    Hit,
    Link,
    SatError,
    SheetEncoder,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
    SyncReport,
    Visibility,
)
from sat_retriever.encoder import DEFAULT

WIDTH = 100
HITS = 3
QUESTIONS = (
    "How much did we sell in the South in February?",
    "Where did actual cost exceed the budget in 2024?",
    "What does a ball valve cost, and how long is the delivery?",
    "Which assumptions does the budget rest on?",
    "bearing temperature of the pumps",
    "Resturlaub pro Mitarbeiter",
    "三月 出库 数量",
)


def main() -> None:
    """Run the demo; exit status 0 means finished, 1 failed."""
    options = _options()
    console = Console(width=WIDTH, highlight=False)
    try:
        _run(options, console)
    except SatError as error:
        sys.exit(f"demo: {error}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Index workbooks and ask them questions.")
    parser.add_argument("folder", nargs="?", type=Path, help="your workbooks")
    parser.add_argument("--ask", action="append", metavar="QUESTION", help="may be repeated")
    parser.add_argument("--model", default=DEFAULT, metavar="NAME|DIR", help="Sheet Encoder")
    parser.add_argument("--work", type=Path, default=Path("demo"), help="where files are written")
    return parser.parse_args()


def _run(options: argparse.Namespace, console: Console) -> None:
    options.work.mkdir(parents=True, exist_ok=True)
    folders, made = [options.folder and options.folder.expanduser()], None
    if options.folder is None:
        with console.status("making workbooks"):
            write_workbooks(options.work / "workbooks")
            made = make(options.work / "made")
        folders = [made.folder, options.work / "workbooks"]
    file = options.work / "demo.sat"
    for old in options.work.glob("demo.sat*"):
        old.unlink()
    with console.status("opening the Sheet Encoder"):
        encoder = SheetEncoder.load(options.model)
    with SheetIndex.create(file, encoder) as index:
        with console.status(f"reading {folders[0]}"):
            report = index.sync(folders)
        records = list(index.records(index.sheet_ids()).values())
        _show_reading(console, folders, report, len(records))
        _show_layouts(console, records)
        _show_skipped(console, report)
        _show_links(console, index)
        _show_questions(console, SheetRetriever(index), records, options.ask, made)
    _show_next(console, file, own=options.folder is not None)


def _show_reading(
    console: Console, folders: Sequence[Path], report: SyncReport, sheets: int
) -> None:
    console.print()
    console.print("[bold]sat-retriever[/bold]  plain words in, the right sheets out")
    console.print()
    console.print(
        f"[bold]{sheets} sheets[/bold] of {report.added} workbooks read, encoded and indexed "
        f"in [bold]{report.seconds:.1f} s[/bold]"
    )
    ignored = f"{report.ignored} file{'s' * (report.ignored != 1)} of other kinds ignored"
    console.print(Text(f"from {' and '.join(map(str, folders))}; {ignored}", style="dim"))


def _show_layouts(console: Console, records: Iterable[SheetRecord]) -> None:
    """Show sheets with anything but a plain table from A1, one of each kind."""
    found: dict[str, tuple[SheetRecord, str]] = {}
    for record in records:
        remark = _remark(record)
        kind = "".join(char for char in remark if not char.isdigit())
        if remark and (kind not in found or len(record.path) < len(found[kind][0].path)):
            found[kind] = (record, remark)
    if not found:
        return
    title(console, "What the reader noticed")
    table = grid(18, 34, 15, 30)
    for record, remark in sorted(found.values(), key=lambda item: item[1])[:9]:
        ranges = ", ".join(each.range for each in record.tables[:2])
        table.add_row(*name(record), Text(ranges, style="cyan"), Text(remark))
    console.print(table)


def _remark(record: SheetRecord) -> str:
    """Describe the unusual features of a sheet; empty if there are none."""
    parts = []
    if record.visibility is not Visibility.VISIBLE:
        parts.append("hidden sheet")
    if len(record.tables) > 1:
        parts.append(f"{len(record.tables)} tables")
    main = record.tables[0] if record.tables else None
    if main and main.transposed:
        parts.append("headers in the first column")
    elif main and main.header_height > 1 and main.header_row:
        last = main.header_row + main.header_height - 1
        parts.append(f"header in rows {main.header_row} to {last}")
    elif main and main.header_row and main.header_row > 1:
        parts.append(f"header in row {main.header_row}")
    return ", ".join(parts)


def _show_skipped(console: Console, report: SyncReport) -> None:
    if not report.skipped:
        return
    title(console, "Skipped, and why")
    table = grid(18, 34, 46)
    for skip in sorted(report.skipped, key=lambda skip: (skip.path, skip.sheet or ""))[:6]:
        where = f"{skip.path} {skip.sheet}" if skip.sheet else skip.path
        table.add_row(Text(skip.reason.value, style="yellow"), plain(where), plain(skip.message))
    console.print(table)
    if len(report.skipped) > 6:
        console.print(f"and {len(report.skipped) - 6} more", style="dim")


def _show_links(console: Console, index: SheetIndex) -> None:
    """Show the number of links, and the strongest one of each type."""
    surest: dict[str, Link] = {}
    count = 0
    for count, link in enumerate(index.all_links(), start=1):  # noqa: B007 - the last one counts
        if link.type not in surest or link.weight > surest[link.type].weight:
            surest[link.type] = link
    if not surest:
        return
    title(console, "Links between sheets", f"{count:,} found; the surest of each type")
    ends = index.records([end for link in surest.values() for end in (link.source, link.target)])
    table = grid(18, 34, 46)
    for link in surest.values():
        sheets = Text(f"{ends[link.source].sheet} → {ends[link.target].sheet}", style="bold")
        sheets.append_text(Text(f"\n{ends[link.source].path}", style="not bold"))
        table.add_row(Text(link.type, style="green"), sheets, plain(link.evidence))
    console.print(table)


def _show_questions(
    console: Console,
    retriever: SheetRetriever,
    records: Sequence[SheetRecord],
    own: Sequence[str] | None,
    made: MadeCorpus | None,
) -> None:
    """Ask the user's questions, or ours; for the user's workbooks some from their headers."""
    if made is None and not own:
        own = _own_questions(records)
        title(console, "Questions made from headers found here", 'yours: ASK="…"')
    _show_answers(console, retriever, own or QUESTIONS)
    if made is not None and own is None:
        show_made(console, retriever, made)


def _own_questions(records: Sequence[SheetRecord]) -> list[str]:
    """Make questions from two headers of up to five sheets."""
    named = [(r, [c.name for c in r.columns if len(c.name) > 3]) for r in records]
    usable = [(record, names) for record, names in named if len(names) > 1]
    step = max(1, len(usable) // 5)
    return [
        f"{names[0]} and {names[-1]} in {record.workbook_name}" for record, names in usable[::step]
    ][:5]


def _show_answers(console: Console, retriever: SheetRetriever, asked: Sequence[str]) -> None:
    retriever.retrieve("warm up")
    console.print()
    headings = ("score", "sheet", "workbook", "range", "words in common", "meaning")
    _print_rows(console, [[Text(heading, style="dim") for heading in headings]])
    for query in asked:
        start = time.perf_counter()
        hits = retriever.retrieve(query, top_k=HITS)
        elapsed_ms = 1000 * (time.perf_counter() - start)
        title(console, query, f"{elapsed_ms:.0f} ms")
        if hits.heading:
            console.print(hits.heading, style="yellow")
        _print_rows(console, [_cells(hit) for hit in hits])


def _print_rows(console: Console, rows: Iterable[Iterable[Text]]) -> None:
    table = grid(10, 18, 31, 9, 19, 7)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _cells(hit: Hit) -> list[Text]:
    record = hit.record
    area = record.tables[0].range if record.tables else record.range
    words = plain(", ".join(hit.why.words)) or Text("none", style="dim")
    meaning = Text(f"{hit.why.dense:.2f}")
    return [bar(hit.score), *name(record), Text(area or "", style="cyan"), words, meaning]


def _show_next(console: Console, file: Path, *, own: bool) -> None:
    title(console, "Ask your own")
    console.print(Text(f'  .venv/bin/sat search "your question" --index {file}'))
    console.print(Text(f"  .venv/bin/sat graph --index {file} --out links.html"))
    if not own:
        console.print(Text("  .venv/bin/sat synth --out more --scale 1000"))
        console.print(Text("  make demo FOLDER=path/to/your/workbooks"))
    console.print()


if __name__ == "__main__":
    main()
