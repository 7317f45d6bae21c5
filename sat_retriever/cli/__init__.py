"""The `sat` command, put together from one module per subcommand."""

from __future__ import annotations

import io
import sys

import typer

from sat_retriever.cli import (
    adapt,
    ask,
    bench,
    cells,
    graph,
    index,
    mcp,
    migrate,
    permissions,
    queries,
    reencode,
    search,
    serve,
    show,
    sql,
    status,
    synth,
    table,
    train,
    watch,
    why,
)
from sat_retriever.cli.terminal import examples, fail
from sat_retriever.errors import InputError, SatError

app = typer.Typer(
    name="sat",
    help="Find the right sheets in a folder of workbooks.",
    epilog=examples(
        "sat index ~/reports --index reports.sat",
        'sat search "monthly revenue by region" --index reports.sat',
        "sat graph --index reports.sat --out links.html",
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(no_args_is_help=True, epilog=index.EXAMPLES)(index.index)
quoted = {"allow_extra_args": True}  # `refuse_unquoted` explains the error better than typer
app.command(no_args_is_help=True, epilog=watch.EXAMPLES)(watch.watch)
app.command(no_args_is_help=True, epilog=search.EXAMPLES, context_settings=quoted)(search.search)
app.command(no_args_is_help=True, epilog=why.EXAMPLES, context_settings=quoted)(why.why)
app.command(no_args_is_help=True, epilog=show.EXAMPLES, context_settings=quoted)(show.show)
app.command(no_args_is_help=True, epilog=cells.EXAMPLES, context_settings=quoted)(cells.cells)
app.command(no_args_is_help=True, epilog=table.EXAMPLES, context_settings=quoted)(table.table)
app.command(no_args_is_help=True, epilog=sql.EXAMPLES)(sql.sql)
app.command(no_args_is_help=True, epilog=ask.EXAMPLES, context_settings=quoted)(ask.ask)
app.command(epilog=graph.EXAMPLES)(graph.graph)
app.command(epilog=serve.EXAMPLES)(serve.serve)
app.command(epilog=mcp.EXAMPLES)(mcp.mcp)
app.command(epilog=queries.EXAMPLES)(queries.queries)
app.command(no_args_is_help=True, epilog=bench.EXAMPLES)(bench.bench)
app.command(epilog=adapt.EXAMPLES)(adapt.adapt)
app.command(epilog=status.EXAMPLES)(status.status)
app.command(epilog=permissions.EXAMPLES)(permissions.permissions)
app.command(no_args_is_help=True, epilog=migrate.EXAMPLES)(migrate.migrate)
app.command(epilog=reencode.EXAMPLES)(reencode.reencode)
app.command(no_args_is_help=True, epilog=synth.EXAMPLES)(synth.synth)
app.add_typer(train.app)


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
    """Run the command line; exit code 0 = finished, 1 = failed, 2 = wrong usage."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # for terminals of any encoding
            stream.reconfigure(errors="replace")
    try:
        app(prog_name="sat")
    except InputError as error:
        sys.exit(fail(error, 2))
    except (SatError, OSError) as error:
        sys.exit(fail(error, 1))
