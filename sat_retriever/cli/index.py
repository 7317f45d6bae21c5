"""`sat index`: folders and files into an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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

from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    IndexOption,
    JsonOption,
    counted,
    examples,
    plain,
    print_json,
    skipped_table,
    stderr,
    stdout,
)
from sat_retriever.cli.trained import encoder_source
from sat_retriever.encoder import DEFAULT, SheetEncoder
from sat_retriever.errors import InputError
from sat_retriever.index import SheetIndex
from sat_retriever.jsonform import to_json
from sat_retriever.sync import SyncReport
from sat_retriever.types import FORMATS, SkipReason
from sat_retriever.workbook.limits import Limits

_LISTED = 8  # skipped files and sheets named at the end; the rest is counted
_PATH_CHARS = 60

Precision = Literal["fp32", "int8"]

EXAMPLES = examples(
    "sat index ~/reports --index reports.sat",
    "sat index q1.xlsx q2.csv --index small.sat --no-examples",
    "sat index /data --index all.sat --encoder BAAI/bge-base-en-v1.5 --json",
)


def index(
    paths: Annotated[
        list[Path], typer.Argument(help="Folders and files.", metavar="PATHS", exists=True)
    ],
    file: IndexOption = DEFAULT_INDEX,
    *,
    no_examples: Annotated[
        bool,
        typer.Option("--no-examples", help="Metadata only: keep every cell value off the disk."),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            "--encoder", "--model", help="Sheet Encoder of a new index.", metavar="NAME|DIR|RUN"
        ),
    ] = None,
    precision: Annotated[
        Precision | None,
        typer.Option(
            help="fp32 or int8: precision of another encoder than the default.", metavar="NAME"
        ),
    ] = None,
    password: Annotated[
        str | None,
        typer.Option(envvar="SAT_PASSWORD", help="Opens encrypted workbooks.", metavar="TEXT"),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Reading processes; all cores by default.", metavar="N"),
    ] = None,
    limits: Annotated[
        str | None,
        typer.Option(
            help="Bounds on one file: seconds of processor time, MiB of memory, cells of a sheet; "
            "what was cut at a limit before is read again.",
            metavar="seconds=S,memory=M,cells=N",
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Hash every file instead of trusting its time.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read workbooks and make them searchable.

    Run it again to bring the index up to date: only new and changed
    workbooks are read. Folders are walked; what is no spreadsheet, and
    not called like one, is counted and ignored; what cannot be read is
    named with the reason.
    """
    bounds = Limits.parse(limits) if limits is not None else None
    with _open(file, model, precision, no_examples=no_examples) as opened, _bar() as progress:
        try:
            report = opened.sync(
                paths,
                verify=verify,
                password=password,
                workers=workers,
                limits=bounds,
                progress=progress,
            )
        except KeyboardInterrupt:
            # What was read and not encoded yet is lost, so nothing is said of what was read.
            kept = counted(len(opened.workbooks()), "workbook")
            stderr().print(f"interrupted; the index holds {kept}, run it again to go on")
            raise typer.Exit(130) from None
        sheets = len(opened)
    if as_json:
        print_json({"index": str(file), "sheets_in_index": sheets, **to_json(report)})
    else:
        _print_report(report, file, sheets)


def _open(
    file: Path, model: str | None, precision: Precision | None, *, no_examples: bool
) -> SheetIndex:
    """The index at `file`, made if there is none; options must agree with an existing one."""
    if not file.exists():
        encoder = _load(model or DEFAULT, precision)
        with suppress(InputError):  # another process may have made it meanwhile
            return SheetIndex.create(file, encoder, examples=not no_examples)
    opened = SheetIndex.open(file)
    if no_examples and opened.examples:
        opened.close()
        raise InputError(
            f"{file} holds example values already: index into a new file for --no-examples"
        )
    if model is None and precision is None:
        return opened
    name = model or opened.encoder_name.removesuffix(":int8")
    opened.close()
    return SheetIndex.open(file, _load(name, precision))


def _load(name: str, precision: Precision | None) -> SheetEncoder:
    with stderr().status(
        "opening the Sheet Encoder; one that is not in this package is exported once"
    ):
        return SheetEncoder.load(encoder_source(name), precision=precision)


@contextmanager
def _bar() -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar on standard error, shown in a terminal only."""
    console = stderr()
    columns = (
        SpinnerColumn(),
        TextColumn("reading"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[path]}", markup=False),
    )
    off = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=off) as bar:
        task = bar.add_task("reading", total=None, path="looking for workbooks")

        def advance(done: int, total: int, path: str) -> None:
            bar.update(task, completed=done, total=total, path=_shortened(path))

        yield advance


def _shortened(path: str) -> str:
    """The end of a path that fits beside the bar.

    >>> _shortened("a" * 100 + "/2024/Sales.xlsx")[:4]
    '…aaa'
    """
    text = plain(path).plain
    return text if len(text) <= _PATH_CHARS else f"…{text[1 - _PATH_CHARS :]}"


def _print_report(report: SyncReport, file: Path, sheets: int) -> None:
    out = stdout()
    counts = ", ".join(
        f"{getattr(report, name):,} {name}" for name in ("added", "changed", "unchanged", "removed")
    )
    read = report.added + report.changed
    out.print(f"[bold]{counted(sheets, 'sheet')}[/bold] in", plain(file))
    out.print(f"workbooks: {counts}; other files ignored: {report.ignored:,}")
    if read:
        rate = read / report.seconds if report.seconds else 0.0
        speed = f"{report.seconds:.1f} s, {rate:.0f} workbooks/s"
        out.print(f"{counted(report.sheets, 'sheet')} read in {speed}")
    if report.skipped:
        _print_skipped(report, file)
    elif not read + report.unchanged:
        out.print(f"no workbook was found; looked for {', '.join(FORMATS)}")
        out.print("hidden folders and links to folders are left out", style="dim")


def _print_skipped(report: SyncReport, file: Path) -> None:
    skipped = report.skipped
    reasons = Counter(skip.reason.value for skip in skipped)
    listed = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    summary = ", ".join(f"{count:,} {reason}" for reason, count in listed)
    out = stdout()
    out.print()
    out.print(f"skipped, whole or in part: {summary}", style="bold")
    if report.known:
        out.print(f"{report.known:,} of them known from earlier runs, in unchanged files")
    # An empty sheet is nothing to look into; a whole file that failed is, most of all.
    told = sorted(
        (skip for skip in skipped if skip.reason is not SkipReason.EMPTY_SHEET),
        key=lambda skip: (skip.sheet is not None, skip.path, skip.sheet or ""),
    )
    if told:
        out.print(skipped_table(told[:_LISTED]))
    if len(skipped) > len(told[:_LISTED]):
        out.print(plain(f"all of them: sat status --skipped --index {file}"), style="dim")
