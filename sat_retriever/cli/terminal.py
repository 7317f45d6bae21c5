"""Output of all subcommands: consoles, JSON, tables, errors, and files that are exported."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sat_retriever.errors import InputError
from sat_retriever.index.store.place import Place
from sat_retriever.records.files import draft_of
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord, Skipped

_PIPE_WIDTH = 100
_LEAST_WIDTH = 40
_PADDING = re.compile(r" +$", re.MULTILINE)
_READABLE = 14  # least characters of a column that is folded; a shorter one is as wide as its cells
_GAP = 2  # blanks between columns


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


def ending(path: str, width: int) -> str:
    """A path, or its end if it does not fit.

    >>> ending("reports/2024/Sales.xlsx", 12), ending("a.csv", 12)
    ('…/Sales.xlsx', 'a.csv')
    """
    if cell_len(path) <= width:
        return path
    end = path[-width:]
    while end and cell_len(end) > width - 1:
        end = end[1:]
    return f"…{end}"


def other_end(record: SheetRecord, link: Link) -> str:
    """The other sheet of a link: its name if it is in the same workbook, else its id.

    >>> other_end(SheetRecord("a.xlsx#x", "x", path="a.xlsx"), Link("a.xlsx#x", "a.xlsx#y", "t"))
    'y'
    """
    other = link.target if link.source == record.sheet_id else link.source
    own = f"{record.path}#"
    return other.removeprefix(own) if record.path else other


def skipped_table(skipped: list[Skipped]) -> Table:
    """A table of skipped files and sheets, one per row."""
    table = grid("reason", "file or sheet", "what it means")
    table.columns[0].no_wrap = True
    for skip in skipped:
        name = f"{skip.path}#{skip.sheet}" if skip.sheet else skip.path
        reason = Text(skip.reason.value, style="yellow")
        table.add_row(reason, plain(name), plain(skip.message))
    return table


def print_rows(
    names: Sequence[str], rows: Sequence[Sequence[object]], labels: Sequence[str] = ()
) -> None:
    """Print rows under the names of their columns; None is an empty cell.

    Columns that do not fit beside each other are printed below each other, in parts that each
    have all rows. Long cells are folded. So nothing is cut or left out.

    Args:
        labels: What stands before each row; in parts its number, if there are none.
    """
    heads = [plain(name) for name in names]
    cells = [[plain("" if cell is None else cell) for cell in row] for row in rows]
    widths = [
        max(cell_len(text.plain) for text in (head, *(row[place] for row in cells)))
        for place, head in enumerate(heads)
    ]
    out = stdout()
    whole = _parts(widths, out.width - _room(labels))
    if not labels and len(whole) > 1:
        labels = [str(number) for number in range(1, len(rows) + 1)]
        whole = _parts(widths, out.width - _room(labels))
    for part in whole:
        if len(whole) > 1:
            out.print(f"columns {part.start + 1} to {part.stop} of {len(heads)}:", style="dim")
        table = grid(*[""] * bool(labels), *heads[part.start : part.stop])
        for number, row in enumerate(cells):
            table.add_row(*labels[number : number + 1], *row[part.start : part.stop])
        out.print(table)
        if part is not whole[-1]:
            out.print()


def _room(labels: Sequence[str]) -> int:
    return max(map(len, labels)) + _GAP if labels else 0


def _parts(widths: Sequence[int], room: int) -> list[range]:
    parts: list[range] = []
    start, used = 0, 0
    for place, width in enumerate(widths):
        needed = min(width, max(_READABLE, room // 3)) + _GAP
        if place > start and used + needed - _GAP > room:
            parts.append(range(start, place))
            start, used = place, 0
        used += needed
    return [*parts, range(start, len(widths))]


def to_stdout(out: Path | None) -> bool:
    """True if the target is standard output: no file, or "-"."""
    return out is None or str(out) == "-"


def to_terminal(out: Path | None) -> bool:
    """True if the export would be shown on a screen."""
    return to_stdout(out) and sys.stdout.isatty()


def check_target(out: Path | None, index: Place, *, force: bool) -> None:
    """Reject a file that an export cannot or must not be written to.

    Raises:
        InputError: If it is a folder, its folder does not exist, it is the index, or it exists and
            `force` is False.
    """
    if out is None or to_stdout(out):
        return
    if out.is_dir():
        raise InputError(f"{out} is a folder; name a file in it")
    if not out.absolute().parent.is_dir():
        raise InputError(f"the folder {out.absolute().parent} does not exist")
    if isinstance(index, Path) and out.exists() and index.exists() and out.samefile(index):
        raise InputError(f"{out} is the index itself; choose another name")
    if out.is_file() and not force:
        raise InputError(f"{out} already exists; replace it with --force, or choose another name")


def check_excel(out: Path | None, index: Place, *, force: bool) -> None:
    """Reject a file that an answer cannot or must not be written to, as `check_target` does."""
    if out and out.suffix.lower() != ".xlsx":
        raise InputError(f"{out} is no Excel file; choose a name that ends in .xlsx")
    check_target(out, index, force=force)


def write_parts(parts: Iterable[str], out: Path | None) -> None:
    """Write texts in UTF-8, one after another."""
    if out is None or to_stdout(out):
        with broken_pipe_is_the_end():
            sys.stdout.flush()
            sys.stdout.buffer.writelines(map(_bytes, parts))
            sys.stdout.flush()
    elif out.exists() and not out.is_file():  # a pipe or a device
        with out.open("wb") as stream:
            stream.writelines(map(_bytes, parts))
    else:
        with draft_of(out.resolve()) as draft, draft.open("wb") as stream:
            stream.writelines(map(_bytes, parts))


def _bytes(text: str) -> bytes:
    # Only JSON texts can have characters that UTF-8 cannot encode, and JSON reads these escapes.
    return text.encode("utf-8", "backslashreplace")
