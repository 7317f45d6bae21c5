"""What all subcommands share: the terminal, JSON output, errors, the index option."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

IndexOption = Annotated[
    Path,
    typer.Option(
        "--index", "-i", envvar="SAT_INDEX", help="The index file.", metavar="FILE", dir_okay=False
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]
DEFAULT_INDEX = Path("sheets.sat")


def stdout() -> Console:
    """Where results go; as wide as the terminal, or 100 columns in a pipe."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=100)


def stderr() -> Console:
    """Where progress, notes and errors go."""
    return Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


def fail(error: Exception, code: int) -> int:
    """Say what went wrong; the exit code."""
    stderr().print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)
    return code


def plain(text: object) -> Text:
    """Text of untrusted origin: no markup, no control characters.

    >>> plain("[red]a\\x1b[31mb").plain
    '[red]a [31mb'
    """
    return Text("".join(char if char.isprintable() else " " for char in str(text)))
