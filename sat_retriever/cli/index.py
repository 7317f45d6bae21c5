"""`sat index`: read folders and files into an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from sat_retriever.cli.progress import At, progress, rate
from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    DeviceOption,
    IndexOption,
    JsonOption,
    counted,
    examples,
    fail,
    plain,
    print_json,
    skipped_table,
    stderr,
    stdout,
)
from sat_retriever.cli.trained import encoder_source
from sat_retriever.encoder import DEFAULT, SheetEncoder
from sat_retriever.errors import EmptyInputError, IndexBusyError, InputError, SatError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.sync import SyncReport
from sat_retriever.onnx.device import Device
from sat_retriever.records.contents import Kept
from sat_retriever.records.formats import FORMAT_NAMES
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.privacy import Privacy
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Limits

_LISTED = 8  # skipped files and sheets listed at the end; the rest are counted

Precision = Literal["fp32", "int8"]
Asked = tuple[Kept | None, str | None]
"""What is to be kept of cells, and the pattern of columns to skip; None where it is not said."""

EXAMPLES = examples(
    "sat index ~/reports --index reports.sat",
    "sat index q1.xlsx q2.csv --index small.sat --contents names",
    "sat index /data --index all.sat --encoder BAAI/bge-base-en-v1.5 --json",
)


def index(
    paths: Annotated[
        list[Path], typer.Argument(help="Folders and files.", metavar="PATHS", exists=True)
    ],
    file: IndexOption = DEFAULT_INDEX,
    *,
    contents: Annotated[
        Kept | None,
        typer.Option(
            help="What a new index keeps of the cells: all texts that identify (the default), one "
            "example for each column, or names only, with no cell value on disk.",
            show_default=False,
        ),
    ] = None,
    skip_columns: Annotated[
        str | None,
        typer.Option(
            help="Regular expression, such as salary|iban: of columns whose header matches, only "
            "the header is kept.",
            metavar="PATTERN",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--encoder", "--model", help="Sheet Encoder of a new index.", metavar="NAME|DIR|RUN"
        ),
    ] = None,
    precision: Annotated[
        Precision | None,
        typer.Option(
            help="fp32 or int8: precision of an encoder other than the default.", metavar="NAME"
        ),
    ] = None,
    password: Annotated[
        str | None,
        typer.Option(envvar="SAT_PASSWORD", help="Password for encrypted files.", metavar="TEXT"),
    ] = None,
    device: DeviceOption = "auto",
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Number of reading processes; all cores by default.", metavar="N"),
    ] = None,
    limits: Annotated[
        str | None,
        typer.Option(
            help="Limits per file: seconds of processor time, MiB of memory, cells per sheet; "
            "files that were cut at an earlier limit are read again.",
            metavar="seconds=S,memory=M,cells=N",
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Hash every file, whatever its time; repair damaged rows."),
    ] = False,
    follow_links: Annotated[
        bool,
        typer.Option("--follow-links", help="Also read links to files outside the folders."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read workbooks and make them searchable.

    Run it again to update the index: only new and changed workbooks are
    read. Folders are searched recursively. Files that are spreadsheets
    neither by content nor by name are counted and ignored. Files that
    cannot be read are listed with the reason, as are links to files outside
    the folders. If no workbook is found and there is no index yet, none is
    made, and the exit code is 1.
    """
    bounds = Limits.parse(limits) if limits is not None else None
    named = _Encoder(model, precision, device)
    with _index(file, named, (contents, skip_columns)) as (opened, is_new):
        with progress("index", "looking for workbooks") as shown:

            def tell(done: int, total: int, path: str) -> None:
                shown.at(At("reading", done, total, noun="workbook", path=path))

            try:
                report = opened.sync(
                    paths,
                    verify=verify,
                    follow_links=follow_links,
                    password=password,
                    workers=workers,
                    limits=bounds,
                    progress=tell,
                )
            except KeyboardInterrupt:
                # Sheets that were read but not encoded are lost, so only stored ones are counted.
                kept = len(opened.workbooks())
                holds = f"the index holds {counted(kept, 'workbook')}; run it again to continue"
                stderr().print(f"interrupted; {holds if kept else 'no workbook was stored yet'}")
                raise typer.Exit(130) from None
        sheets, left = len(opened), not is_new or bool(opened.workbooks())
    if as_json:
        written = str(file) if left else None
        print_json({"index": written, "sheets_in_index": sheets, **to_json(report)})
    else:
        _print_report(report, sheets, file if left else None)
    if not left:
        raise typer.Exit(fail(EmptyInputError(f"no index was made: {file} would hold nothing"), 1))


@dataclass(frozen=True, slots=True)
class _Encoder:
    """What the options say of the encoder; None where they say nothing."""

    model: str | None
    precision: Precision | None
    device: Device

    def load(self, default: str) -> SheetEncoder:
        """The named encoder, or another one in this precision, on this device."""
        source = encoder_source(self.model or default)
        with stderr().status(
            "opening the Sheet Encoder; one from outside this package is exported once"
        ):
            return SheetEncoder.load(source, precision=self.precision, device=self.device)


@contextmanager
def _index(file: Path, named: _Encoder, kept: Asked) -> Iterator[tuple[SheetIndex, bool]]:
    """The open index, and True if this run made it; a new index that stays empty is deleted."""
    opened, is_new = _open(file, named, kept)
    with opened:
        try:
            yield opened, is_new
        except BaseException:
            if is_new:
                with suppress(SatError):  # the first error is the one to report
                    opened.delete_if_empty()
            raise
        if is_new:
            with suppress(IndexBusyError):  # another process is writing to it
                opened.delete_if_empty()


def _open(file: Path, named: _Encoder, kept: Asked) -> tuple[SheetIndex, bool]:
    """The index at `file`, and True if it is new; options must match an existing index."""
    contents, skip_columns = kept
    privacy = Privacy.of(contents or Kept.ALL, skip_columns)
    if not file.exists():
        encoder = named.load(DEFAULT)
        with suppress(InputError):  # another process may have made it meanwhile
            return SheetIndex.create(
                file,
                encoder,
                contents=privacy.contents,
                skip_columns=skip_columns,
                device=named.device,
            ), True
    opened = SheetIndex.open(file, device=named.device)
    if (other := _disagrees(opened.privacy, kept)) is not None:
        opened.close()
        raise InputError(
            f"{file} was made with {other}: index into a new file to keep more or less"
        )
    if named.model is None and named.precision is None:
        return opened, False
    own = opened.encoder_name.removesuffix(":int8")
    opened.close()
    return SheetIndex.open(file, named.load(own), device=named.device), False


def _disagrees(privacy: Privacy, kept: Asked) -> str | None:
    """What an index was made with, if it is not what is asked for now; None if it is."""
    contents, skip_columns = kept
    if contents not in (None, privacy.contents):
        return f"--contents {privacy.contents}"
    if skip_columns not in (None, privacy.skip_columns):
        made = privacy.skip_columns
        return f"--skip-columns {made!r}" if made else "no --skip-columns"
    return None


def _print_report(report: SyncReport, sheets: int, file: Path | None) -> None:
    out = stdout()
    read = report.added + report.changed
    if file is not None:
        _print_counts(report, sheets, file)
    if read:
        speed = rate(read, report.seconds, "workbook")
        out.print(f"{counted(report.sheets, 'sheet')} read in {report.seconds:.1f} s, {speed}")
    if report.repaired:
        out.print(f"{counted(report.repaired, 'workbook')} had damaged rows and were repaired")
    for lost in report.lost:
        out.print(plain(f"damaged rows are lost: {lost}"), style="bold")
    if report.skipped:
        _print_skipped(report, file)
    if not read + report.unchanged:
        ignored = counted(report.ignored, "other file")
        out.print(f"no workbook was found; looked for {', '.join(FORMAT_NAMES)}; {ignored} ignored")
        out.print("hidden folders and links to folders are left out", style="dim")


def _print_counts(report: SyncReport, sheets: int, file: Path) -> None:
    out = stdout()
    counts = ", ".join(
        f"{getattr(report, name):,} {name}" for name in ("added", "changed", "unchanged", "removed")
    )
    out.print(f"[bold]{counted(sheets, 'sheet')}[/bold] in", plain(file))
    out.print(f"workbooks: {counts}; other files ignored: {report.ignored:,}")


def _print_skipped(report: SyncReport, file: Path | None) -> None:
    skipped = report.skipped
    reasons = Counter(skip.reason.value for skip in skipped)
    listed = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    summary = ", ".join(f"{count:,} {reason}" for reason, count in listed)
    out = stdout()
    out.print()
    out.print(f"skipped, whole or in part: {summary}", style="bold")
    if report.known:
        out.print(f"{report.known:,} of them known from earlier runs, in unchanged files")
    # Empty sheets need no attention; whole files that failed need most.
    told = sorted(
        (skip for skip in skipped if skip.reason is not SkipReason.EMPTY_SHEET),
        key=lambda skip: (skip.sheet is not None, skip.path, skip.sheet or ""),
    )
    if told:
        out.print(skipped_table(told[:_LISTED]))
    if file is not None and len(skipped) > len(told[:_LISTED]):
        out.print(plain(f"all of them: sat status --skipped --index {file}"), style="dim")
