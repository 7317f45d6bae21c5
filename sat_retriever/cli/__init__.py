"""The `sat` command: one module a subcommand, this one puts them together."""

from __future__ import annotations

import os
import sys

import typer

from sat_retriever.cli.index import index
from sat_retriever.cli.search import search
from sat_retriever.cli.show import show
from sat_retriever.cli.status import status
from sat_retriever.cli.terminal import fail
from sat_retriever.errors import InputError, SatError

app = typer.Typer(
    name="sat",
    help="Find the right sheets in a folder of workbooks.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)
for command in (index, search, show, status):
    app.command(no_args_is_help=command is not status)(command)


@app.callback(invoke_without_command=True)
def _options(
    *,
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        from sat_retriever._version import __version__

        sys.stdout.write(f"sat {__version__}\n")
        raise typer.Exit


def main() -> None:
    """Run the command line; exit 0 = finished, 1 = failed, 2 = wrong usage."""
    try:
        app(standalone_mode=True)
    except InputError as error:
        sys.exit(fail(error, 2))
    except SatError as error:
        sys.exit(fail(error, 1))
    except BrokenPipeError:
        # The reader has seen enough (`sat search … | head -1`): no error, no noise.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
