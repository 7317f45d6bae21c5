"""Shared parts of all subcommands: the terminal, JSON output, errors, the index option."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import InputError
from sat_retriever.index.store.place import Place, place_of
from sat_retriever.records.sheets import Skipped

_PIPE_WIDTH = 100
_LEAST_WIDTH = 40
_PADDING = re.compile(r" +$", re.MULTILINE)

if TYPE_CHECKING:
    IndexPlace = Place
else:
    IndexPlace = Any  # typer knows no unions


def index_place(named: str | Path) -> Place:
    """The place of an index that an option names; a folder is none."""
    place = place_of(named)
    if isinstance(place, Path) and place.is_dir():
        raise typer.BadParameter(f"File '{place}' is a directory.")
    return place


IndexOption = Annotated[
    IndexPlace,
    typer.Option(
        "--index",
        "-i",
        envvar="SAT_INDEX",
        help="The index file, or the URL of an index in PostgreSQL.",
        metavar="FILE|URL",
        parser=index_place,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]
RerankerOption = Annotated[
    str,
    typer.Option(
        help="Stage 2: auto (the index's own), links, none, or a trained one.",
        metavar="NAME|DIR|RUN",
    ),
]
DeviceOption = Annotated[
    Device,
    typer.Option(
        envvar="SAT_DEVICE",
        help="Device of the models: auto (CUDA where it can be used), cuda or cpu.",
        metavar="NAME",
    ),
]
WorkbookOption = Annotated[
    str | None, typer.Option(help="Only this workbook's file name.", metavar="NAME")
]
PathOption = Annotated[
    str | None, typer.Option(help="Only paths that match, e.g. 'hr/*'.", metavar="GLOB")
]
PathsArgument = Annotated[
    list[str],
    typer.Argument(help="Folders and files, or URLs such as s3://bucket/folder.", metavar="PATHS"),
]
TodayOption = Annotated[
    dt.datetime | None,
    typer.Option(
        formats=["%Y-%m-%d"],
        help="Reference day for 'last year'; today if not given.",
        metavar="YYYY-MM-DD",
    ),
]
DEFAULT_INDEX = Path("sheets.sat")


class _Console(Console):
    """A console that exits quietly when the reader closes the pipe (`sat … | head -1`)."""

    def on_broken_pipe(self) -> NoReturn:
        _end_quietly()


class _Unpadded:
    """Standard output without trailing blanks, which pad the lines of a table."""

    def write(self, text: str) -> int:
        return sys.stdout.write(_PADDING.sub("", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stdout, name)


def stdout() -> Console:
    """The console for results; as wide as the terminal, or 100 columns in a pipe.

    A terminal of fewer than 40 columns breaks lines of 40: in less room the columns of a table
    would be left out.
    """
    console = _Console(highlight=False)
    if console.is_terminal:
        console.width = max(console.width, _LEAST_WIDTH)
        return console
    return _Console(highlight=False, width=_PIPE_WIDTH, file=cast("IO[str]", _Unpadded()))


def stderr() -> Console:
    """The console for progress, notes and errors."""
    return _Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """Print one JSON object on standard output, in any encoding of the terminal."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # also for a file name that is not valid text
        text = json.dumps(value, indent=2)
    with broken_pipe_is_the_end():
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


@contextmanager
def broken_pipe_is_the_end() -> Iterator[None]:
    """End the command quietly if the reader closes the pipe."""
    try:
        yield
    except BrokenPipeError:
        _end_quietly()


def _end_quietly() -> NoReturn:
    # Buffered output must go somewhere, or Python complains at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(0)


def fail(error: Exception, code: int) -> int:
    """Print an error and return the exit code."""
    message = Text.assemble(("error: ", "bold red"), plain(error))
    stderr().print(message, soft_wrap=True)
    return code


def refuse_unquoted(
    context: typer.Context, first: str, whole: Callable[[Sequence[str]], str] = " ".join
) -> None:
    """Reject further words after the one argument that a command takes.

    Args:
        context: What was typed.
        first: The argument.
        whole: Makes one argument of all words.

    Raises:
        InputError: If there are any; the message shows them all in quotes.
    """
    if context.args:
        words = whole([first, *context.args])
        raise InputError(
            f"{1 + len(context.args)} arguments instead of one; "
            f'put them in quotes: sat {context.info_name} "{words}"'
        )


def examples(*commands: str) -> str:
    """Example commands as the last part of a help page."""
    return "\n\n".join(("[bold]Examples[/bold]", *(f"$ {command}" for command in commands)))


def plain(text: object) -> Text:
    """Text of untrusted origin: no markup, no control characters.

    >>> plain("[red]a\\x1b[31mb").plain
    '[red]a [31mb'
    """
    return Text("".join(char if char.isprintable() else " " for char in str(text)))


def counted(number: int, noun: str) -> str:
    """A number with its noun in the singular or plural.

    >>> counted(1, "sheet"), counted(1200, "sheet")
    ('1 sheet', '1,200 sheets')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def grid(*columns: str | Text, title: str | Text = "") -> Table:
    """An empty table with a header line; long cells are wrapped, never cut."""
    table = Table(
        title=title or None, title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    for column in columns:
        table.add_column(column, overflow="fold", header_style="dim")
    return table


def skipped_table(skipped: list[Skipped]) -> Table:
    """A table of skipped files and sheets, one per row."""
    table = grid("reason", "file or sheet", "what it means")
    table.columns[0].no_wrap = True
    for skip in skipped:
        name = f"{skip.path}#{skip.sheet}" if skip.sheet else skip.path
        reason = Text(skip.reason.value, style="yellow")
        table.add_row(reason, plain(name), plain(skip.message))
    return table
