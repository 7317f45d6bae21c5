"""`sat watch`: keep an index in step with folders and URLs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated

import typer

from sat_retriever.cli.indexrun import EncoderChoice, opened_index, synced
from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    DeviceOption,
    IndexOption,
    PasswordOption,
    PathsArgument,
    ReadersOption,
    examples,
    opened_whole,
)
from sat_retriever.cli.permissions import warn_of_idle
from sat_retriever.cli.progress import progress
from sat_retriever.cli.terminal import counted, plain, stderr, stdout
from sat_retriever.errors import IndexBusyError, SatError
from sat_retriever.index.store.opening import store_exists
from sat_retriever.index.sync.indexing import check_named
from sat_retriever.index.sync.sync import SyncReport
from sat_retriever.index.sync.watch import Waiting, follow
from sat_retriever.records.permissions import OWNER
from sat_retriever.workbook.remote.url import Named

_POLL_S = 60.0

app = typer.Typer()


@app.command(
    no_args_is_help=True,
    epilog=examples(
        "sat watch ~/reports --index reports.sat",
        "sat watch s3://bucket/reports --index reports.sat --poll 300",
    ),
)
def watch(
    paths: PathsArgument,
    file: IndexOption = DEFAULT_INDEX,
    *,
    quiet: Annotated[
        float,
        typer.Option(
            "--debounce",
            min=0.0,
            help="Seconds without a further change before a sync begins.",
            metavar="SECONDS",
        ),
    ] = 2.0,
    poll: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            help="Check for changes every so many seconds, as network drives need; URLs are "
            "always polled, every 60 seconds by default.",
            metavar="SECONDS",
            show_default=False,
        ),
    ] = None,
    password: PasswordOption = None,
    device: DeviceOption = "auto",
    workers: ReadersOption = None,
) -> None:
    """Keep an index in step with its workbooks, until Ctrl-C.

    The index is brought up to date once, and again whenever a workbook is
    added, changed or removed; a line reports each update. Lock files of
    open workbooks are ignored. A failed attempt is reported and repeated. An
    index with other settings than the default ones is first made with sat
    index. Needs the extra watch, except with --poll or for URLs.
    """
    check_named(paths)
    told: dict[Named, str] = {}  # of each path, the error that was printed last
    trying: Sequence[Named] = ()
    begun = False
    warned: Sequence[str] = ()

    def sync(due: Sequence[Named]) -> None:
        nonlocal begun, trying, warned
        trying = due
        named = EncoderChoice(None, None, None, device)
        with (
            progress("watch", "looking for workbooks", path=str(due[0])) as shown,
            opened_index(file, named, (None, None), shown) as (index, _),
        ):
            report = synced(shown, index, due, password=password, workers=workers)
            sheets, idle = len(index.seen_by(OWNER)), index.idle_rules()
        if idle != warned:
            warn_of_idle(idle)
        warned = idle
        if not begun or report.added or report.changed or report.removed:
            stdout().print(
                plain(f"{time.strftime('%H:%M:%S')} {_line(report, sheets)}"), soft_wrap=True
            )
        begun = True
        for path in due:
            told.pop(path, None)

    def failed(error: SatError | OSError) -> None:
        again = "waiting for it" if isinstance(error, IndexBusyError) else "trying again"
        if any(told.get(path) != str(error) for path in trying):  # once, however often it is tried
            stderr().print(plain(f"{error}; {again}"), soft_wrap=True)
        told.update(dict.fromkeys(trying, str(error)))

    waiting = Waiting(quiet, poll or _POLL_S, poll_all=poll is not None)
    try:
        follow(paths, file, sync, waiting, failed)
    except KeyboardInterrupt:
        kept = "no index was made yet"
        if store_exists(file):
            with opened_whole(file) as index:
                kept = f"the index holds {counted(len(index.workbooks()), 'workbook')}"
        stderr().print(f"stopped; {kept}")
        raise typer.Exit(130) from None


def _line(report: SyncReport, sheets: int) -> str:
    counts = ", ".join(
        f"{getattr(report, name):,} {name}" for name in ("added", "changed", "removed")
    )
    new = len(report.skipped) - report.known
    skipped = f"; {counted(new, 'part')} skipped, see sat status --skipped" if new else ""
    return f"{counts}; {counted(sheets, 'sheet')}{skipped}"
