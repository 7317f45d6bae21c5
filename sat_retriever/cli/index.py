"""`sat index`: folders and files into an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    IndexOption,
    JsonOption,
    plain,
    print_json,
    stderr,
    stdout,
)
from sat_retriever.encoder import MINILM, SheetEncoder
from sat_retriever.errors import InputError
from sat_retriever.index import SheetIndex
from sat_retriever.sync import SyncReport
from sat_retriever.types import Skipped, to_json

_SHOWN = 12  # skipped files listed at the end; the rest are counted

EXAMPLES = """Read workbooks and make them searchable; run it again to bring the index up to date.

Only new and changed workbooks are read. Files that cannot be read are named and counted, never
fatal. Folders are walked; what is no spreadsheet is ignored and counted.

[bold]Examples[/bold]

  sat index ~/reports --index reports.sat

  sat index q1.xlsx q2.csv --index small.sat --no-examples

  sat index /data --index all.sat --model BAAI/bge-base-en-v1.5 --json
"""


def index(
    paths: Annotated[list[Path], typer.Argument(help="Folders and files.", metavar="PATHS...")],
    file: IndexOption = DEFAULT_INDEX,
    *,
    no_examples: Annotated[
        bool,
        typer.Option("--no-examples", help="Metadata only: keep every cell value off the disk."),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(help="Sheet Encoder of a new index: a folder or a name.", metavar="NAME|DIR"),
    ] = None,
    precision: Annotated[
        Literal["fp32", "int8"] | None, typer.Option(help="Precision of a new index.")
    ] = None,
    password: Annotated[
        str | None,
        typer.Option(envvar="SAT_PASSWORD", help="Opens encrypted workbooks.", metavar="TEXT"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Reading processes; all cores by default.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Hash every file instead of trusting its time.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read workbooks and make them searchable."""
    with _open(file, model, precision, no_examples=no_examples) as opened, _bar() as progress:
        try:
            report = opened.sync(
                paths, verify=verify, password=password, workers=workers, progress=progress
            )
        except KeyboardInterrupt:
            stderr().print("interrupted; what was read so far is kept, run it again to go on")
            raise typer.Exit(130) from None
        sheets = len(opened)
    if as_json:
        print_json({"index": str(file), "sheets_in_index": sheets, **to_json(report)})
    else:
        _print_report(report, file, sheets)


index.__doc__ = EXAMPLES


def _open(
    file: Path, model: str | None, precision: Literal["fp32", "int8"] | None, *, no_examples: bool
) -> SheetIndex:
    """The index at `file`, made if there is none; options must agree with an existing one."""
    if not file.exists():
        encoder = SheetEncoder.load(model or MINILM, precision=precision)
        return SheetIndex.create(file, encoder, examples=not no_examples)
    named = SheetEncoder.load(model or MINILM, precision=precision) if model or precision else None
    opened = SheetIndex.open(file, named)
    if no_examples and opened.examples:
        opened.close()
        raise InputError(
            f"{file} holds example values already: index into a new file for --no-examples"
        )
    return opened


@contextmanager
def _bar() -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar on standard error, shown in a terminal only."""
    columns = (
        SpinnerColumn(),
        TextColumn("reading"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[path]}", markup=False),
    )
    with Progress(*columns, console=stderr(), transient=True) as bar:
        task = bar.add_task("reading", total=None, path="looking for workbooks")

        def advance(done: int, total: int, path: str) -> None:
            bar.update(task, completed=done, total=total, path=plain(path).plain[-60:])

        yield advance


def _print_report(report: SyncReport, file: Path, sheets: int) -> None:
    out = stdout()
    counts = ", ".join(
        f"{getattr(report, name)} {name}" for name in ("added", "changed", "unchanged", "removed")
    )
    rate = (report.added + report.changed) / report.seconds if report.seconds else 0.0
    out.print(f"[bold]{sheets:,}[/bold] sheets in [bold]{file}[/bold]")
    out.print(f"workbooks: {counts}; {report.ignored} other files ignored")
    out.print(
        f"{report.sheets:,} sheets written in {report.seconds:.1f} s ({rate:.1f} workbooks/s)"
    )
    if report.skipped:
        _print_skipped(report.skipped)


def _print_skipped(skipped: tuple[Skipped, ...]) -> None:
    reasons = Counter(skip.reason.value for skip in skipped)
    listed = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    summary = ", ".join(f"{count} {reason}" for reason, count in listed)
    table = Table(title=f"{len(skipped)} skipped: {summary}", title_justify="left", box=None)
    table.add_column("file or sheet", overflow="fold")
    table.add_column("reason", style="yellow")
    table.add_column("what it means", overflow="fold")
    for skip in skipped[:_SHOWN]:
        name = f"{skip.path}#{skip.sheet}" if skip.sheet else skip.path
        table.add_row(plain(name), skip.reason.value, plain(skip.message))
    stdout().print(table)
    if len(skipped) > _SHOWN:
        stdout().print(f"… and {len(skipped) - _SHOWN} more: sat status --skipped")
