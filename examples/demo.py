"""Index a folder of workbooks, ask it questions, and show what was found and why.

python examples/demo.py                       a dozen generated workbooks
python examples/demo.py ~/reports             your own
python examples/demo.py ~/reports --ask "travel expenses by employee"
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from demo_workbooks import write_workbooks
from rich.console import Console
from rich.table import Table
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

WIDTH = 100
HITS = 3
QUESTIONS = (
    "How much did we sell in the South in February?",
    "Which departments spent more than their budget?",
    "What does a ball valve cost, and how long is the delivery?",
    "Which assumptions does the budget rest on?",
    "bearing temperature of the pumps",
    "Resturlaub pro Mitarbeiter",
    "三月 出库 数量",
)


def main() -> None:
    """Run the demo; exit 0 = finished, 1 = failed."""
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
    parser.add_argument("--model", default="minilm", metavar="NAME|DIR", help="Sheet Encoder")
    parser.add_argument("--work", type=Path, default=Path(".demo"), help="where files are written")
    return parser.parse_args()


def _run(options: argparse.Namespace, console: Console) -> None:
    folder: Path = options.folder.expanduser() if options.folder else options.work / "workbooks"
    if options.folder is None:
        write_workbooks(folder)
    file = options.work / "demo.sat"
    options.work.mkdir(parents=True, exist_ok=True)
    for old in options.work.glob("demo.sat*"):
        old.unlink()
    with console.status("opening the Sheet Encoder; the first time takes half a minute"):
        encoder = SheetEncoder.load(options.model)
    with SheetIndex.create(file, encoder) as index:
        with console.status(f"reading {folder}"):
            report = index.sync(folder)
        records = list(index.records(index.sheet_ids()).values())
        _show_reading(console, folder, report, len(records))
        _show_layouts(console, records)
        _show_skipped(console, report)
        _show_links(console, index)
        asked = options.ask or QUESTIONS
        if options.folder and not options.ask:
            asked = _own_questions(records)
            _title(console, "Questions made from headers found here", 'yours: ASK="…"')
        _show_answers(console, SheetRetriever(index), asked)
    _show_next(console, folder, file)


def _show_reading(console: Console, folder: Path, report: SyncReport, sheets: int) -> None:
    console.print()
    console.print("[bold]sat-retriever[/bold]  plain words in, the right sheets out")
    console.print()
    console.print(
        f"[bold]{sheets} sheets[/bold] of {report.added} workbooks read, encoded and indexed "
        f"in [bold]{report.seconds:.1f} s[/bold]"
    )
    ignored = f"{report.ignored} file{'s' * (report.ignored != 1)} of other kinds ignored"
    console.print(Text(f"from {folder}; {ignored}", style="dim"))


def _show_layouts(console: Console, records: Iterable[SheetRecord]) -> None:
    """Sheets that are no plain table from A1 on; one of each kind and workbook."""
    found: dict[str, tuple[SheetRecord, str]] = {}
    for record in records:
        remark = _remark(record)
        if remark:
            found.setdefault(f"{record.path} {remark}", (record, remark))
    if not found:
        return
    _title(console, "What the reader noticed")
    grid = _grid(18, 34, 15, 30)
    for record, remark in list(found.values())[:9]:
        ranges = ", ".join(table.range for table in record.tables[:2])
        grid.add_row(*_name(record), Text(ranges, style="cyan"), Text(remark))
    console.print(grid)


def _remark(record: SheetRecord) -> str:
    """What is unusual about a sheet; empty if nothing is."""
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
    _title(console, "Skipped, and why")
    grid = _grid(18, 34, 46)
    for skip in sorted(report.skipped, key=lambda skip: (skip.path, skip.sheet or ""))[:6]:
        name = f"{skip.path} {skip.sheet}" if skip.sheet else skip.path
        grid.add_row(Text(skip.reason.value, style="yellow"), _plain(name), _plain(skip.message))
    console.print(grid)
    if len(report.skipped) > 6:
        console.print(f"and {len(report.skipped) - 6} more", style="dim")


def _show_links(console: Console, index: SheetIndex) -> None:
    """How many links there are, and the surest one of each type."""
    surest: dict[str, Link] = {}
    count = 0
    for count, link in enumerate(index.all_links(), start=1):  # noqa: B007 - the last one counts
        if link.type not in surest or link.weight > surest[link.type].weight:
            surest[link.type] = link
    if not surest:
        return
    _title(console, "Links between sheets", f"{count} found; the surest of each type")
    ends = index.records([end for link in surest.values() for end in (link.source, link.target)])
    grid = _grid(18, 34, 46)
    for link in surest.values():
        sheets = Text(f"{ends[link.source].sheet} → {ends[link.target].sheet}", style="bold")
        sheets.append_text(Text(f"\n{ends[link.source].path}", style="not bold"))
        grid.add_row(Text(link.type, style="green"), sheets, _plain(link.evidence))
    console.print(grid)


def _own_questions(records: Sequence[SheetRecord]) -> list[str]:
    """Questions made from what is there: two headers of up to five sheets."""
    named = [(r, [c.name for c in r.columns if len(c.name) > 3]) for r in records]
    usable = [(record, names) for record, names in named if len(names) > 1]
    step = max(1, len(usable) // 5)
    return [
        f"{names[0]} and {names[-1]} in {record.workbook_name}" for record, names in usable[::step]
    ][:5]


def _show_answers(console: Console, retriever: SheetRetriever, asked: Sequence[str]) -> None:
    retriever.retrieve("warm up")
    console.print()
    names = ("score", "sheet", "workbook", "range", "words in common", "meaning")
    _print_rows(console, [[Text(name, style="dim") for name in names]])
    for query in asked:
        start = time.perf_counter()
        hits = retriever.retrieve(query, top_k=HITS)
        elapsed_ms = 1000 * (time.perf_counter() - start)
        _title(console, query, f"{elapsed_ms:.0f} ms")
        _print_rows(console, [_cells(hit) for hit in hits])


def _print_rows(console: Console, rows: Iterable[Iterable[Text]]) -> None:
    grid = _grid(10, 18, 31, 9, 19, 7)
    for row in rows:
        grid.add_row(*row)
    console.print(grid)


def _cells(hit: Hit) -> list[Text]:
    record = hit.record
    area = record.tables[0].range if record.tables else record.range
    words = _plain(", ".join(hit.why.words)) or Text("none", style="dim")
    meaning = Text(f"{hit.why.dense:.2f}")
    return [_bar(hit.score), *_name(record), Text(area or "", style="cyan"), words, meaning]


def _title(console: Console, text: str, note: str = "") -> None:
    console.print()
    title = Text(text, style="bold magenta")
    if note:
        title.append(f"  {note}", style="dim not bold")
    console.print(title)


def _grid(*widths: int) -> Table:
    """A table without lines; its columns keep their width from question to question."""
    grid = Table.grid(padding=(0, 1))
    for width in widths:
        grid.add_column(width=width, overflow="fold")
    return grid


def _bar(score: float) -> Text:
    """A score in [0, 1] as a number and up to five blocks."""
    blocks = max(0, min(5, round(5 * score)))
    return Text.assemble((f"{score:.2f} ", "bold"), ("━" * blocks, "green"))


def _name(record: SheetRecord) -> tuple[Text, Text]:
    sheet = _plain(record.sheet)
    sheet.stylize("bold")
    return sheet, _plain(record.path)


def _plain(text: str) -> Text:
    """Text of a file: no markup, no control characters."""
    return Text("".join(char if char.isprintable() else " " for char in text))


def _show_next(console: Console, folder: Path, file: Path) -> None:
    _title(console, "Ask your own")
    console.print(Text(f'  .venv/bin/sat search "your question" --index {file}'))
    console.print(Text(f"  .venv/bin/sat graph --index {file} --out links.html"))
    if folder.is_relative_to(".demo"):
        console.print(Text("  make demo FOLDER=path/to/your/workbooks"))
    console.print()


if __name__ == "__main__":
    main()
