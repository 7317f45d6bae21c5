"""The `sat` command; each module has one subcommand, or a few that belong together.

A module is loaded when its command is called or asked for help, so that `sat --help` is quick.
"""

from __future__ import annotations

import gc
import io
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, cast, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from sat_retriever.errors import InputError, SatError

_COMMANDS = {
    "Find and read sheets": {
        "search": ("search", "Find the sheets that answer a question."),
        "why": ("why", "Explain where a sheet stands for a question."),
        "ask": ("ask", "Answer a question in words, from the sheets found."),
        "sql": ("sql", "Ask the tables of some sheets in SQL."),
        "show": ("show", "Show what is known about a workbook or a sheet."),
        "cells": ("cells", "Print cells of a sheet."),
        "export": ("export", "Print or save tables: CSV, JSON, Markdown, Parquet, Excel."),
        "graph": ("graph", "Export sheets and links as a page, JSON or GraphML."),
    },
    "Keep an index": {
        "index": ("index", "Read workbooks and make them searchable."),
        "watch": ("watch", "Keep an index in step with its workbooks."),
        "status": ("maintenance", "Show what is in an index, and what could not be read."),
        "migrate": ("maintenance", "Copy an index file into PostgreSQL."),
        "reencode": ("maintenance", "Encode every sheet anew with another encoder."),
        "backup": ("backup", "Save an index while it is in use."),
        "restore": ("backup", "Bring an index back from a backup."),
    },
    "Serve a team": {
        "serve": ("serve", "Open an index as a page in the browser, and over MCP."),
        "mcp": ("serve", "Serve an index to AI agents over MCP."),
        "permissions": ("permissions", "Show or change who may see which sheets."),
        "tokens": ("tokens", "Make, list and revoke the tokens of a server."),
    },
    "Learn from questions": {
        "queries": ("queries", "Make labelled queries from an index, or check yours."),
        "bench": ("bench", "Measure how well the right sheets are found."),
        "adapt": ("adapt", "Train the models on the sheets of an index, without labels."),
        "train": ("train.commands", "Train an encoder or a reranker on labels."),
        "synth": ("synth", "Make a synthetic corpus of workbooks, with ground truth."),
    },
}
"""Headings of the help with their commands: the module of each, and its line."""
_KNOWN = {name: each for commands in _COMMANDS.values() for name, each in commands.items()}
_EXAMPLES = (
    "sat index ~/reports --index reports.sat",
    'sat search "monthly revenue by region" --index reports.sat',
    "sat --install-completion   # commands and options by the Tab key",
)


_HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
# New objects after which Python looks for unreachable ones. Its 700 cost a seventh of a search.
_OBJECTS = 50_000


class _Plain:
    """Takes the value of a parameter that needs no conversion; typer's own takes any other.

    Typer's own, which also says what is wrong, imports pydantic, a tenth of a second. A version of
    typer without the attributes used here keeps its own way.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of a command's parameter, as typer's own conversion gives it."""
        kind, info = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if info.parser is not None:
            with suppress(ValueError):
                return info.parser(value)
        elif kind == list[str]:
            return list(value)
        elif isinstance(value, str):
            if kind is str or value in get_args(kind):
                return value
            if kind is int and value.isascii() and value.isdecimal():
                number = int(value)
                if (info.min or 0) <= number and (info.max is None or number <= info.max):
                    return number
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param, ctx)


def _taken_plainly(params: Iterable[Any]) -> None:
    for each in params:
        each._runtime_param = _Plain()


class _Commands(Mapping[str, Any]):
    """The subcommands by name, each loaded when it is taken."""

    def __getitem__(self, name: str) -> Any:
        module, line = _KNOWN[name]
        group = typer.main.get_group(import_module(f"sat_retriever.cli.{module}").app)
        found = group if group.name == name else group.commands[name]
        found.short_help = line
        _taken_plainly(found.get_params(typer.Context(found, **_HELP)))
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_KNOWN)

    def __len__(self) -> int:
        return len(_KNOWN)


class _Group(TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = cast("Any", _Commands())

    def get_params(self, ctx: Any) -> Any:
        """The options of `sat` itself."""
        params = super().get_params(ctx)
        _taken_plainly(params)
        return params

    def list_commands(self, ctx: Any) -> list[str]:
        """Names alone; typer would load each command."""
        return list(_KNOWN)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete a name without loading the commands."""
        loadable = self.commands
        self.commands = {
            name: TyperCommand(name, short_help=line) for name, (_module, line) in _KNOWN.items()
        }
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self.commands = loadable

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help on one screen of 80 by 40, without loading a command or rich."""
        formatter.write(f"Usage: {ctx.command_path} [--version] [--help] COMMAND [ARGS]...\n")
        formatter.write(f"  {self.help} COMMAND --help tells more.\n")
        for heading, commands in _COMMANDS.items():
            formatter.write(f"\n{typer.style(heading, bold=True)}\n")
            for name, (_module, line) in commands.items():
                formatter.write(f"  {name:<11}  {line}\n")
        formatter.write(f"\n{typer.style('Examples', bold=True)}\n")
        formatter.write("".join(f"  $ {each}\n" for each in _EXAMPLES))


app = typer.Typer(
    name="sat",
    cls=_Group,
    help="Find the right sheets in a folder of workbooks.",
    epilog="\n\n".join(("[bold]Examples[/bold]", *(f"$ {each}" for each in _EXAMPLES))),
    pretty_exceptions_enable=False,
    context_settings=_HELP,
)


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    *,
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        from sat_retriever._version import __version__

        sys.stdout.write(f"sat {__version__}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def main() -> None:
    """Run the command line; exit code 0 = finished, 1 = failed, 2 = wrong usage."""
    gc.set_threshold(_OBJECTS)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # for terminals of any encoding
            stream.reconfigure(errors="replace")
    try:
        app(prog_name="sat")
    except (SatError, OSError) as error:
        from sat_retriever.cli.terminal import fail

        sys.exit(fail(error, 2 if isinstance(error, InputError) else 1))
    finally:
        gc.freeze()  # all ends with the process; looking through it takes a tenth of a search
