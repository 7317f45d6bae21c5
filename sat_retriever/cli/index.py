"""`sat index`: read folders and files into an index."""

from __future__ import annotations

from typing import Annotated

import typer

from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    DeviceOption,
    IndexOption,
    JsonOption,
    PasswordOption,
    PathsArgument,
    Precision,
    ReadersOption,
    examples,
)
from sat_retriever.cli.permissions import warn_of_idle
from sat_retriever.cli.progress import progress
from sat_retriever.cli.terminal import fail, plain, print_json, stdout
from sat_retriever.errors import (
    ClusterError,
    EmptyInputError,
    EncoderError,
)
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.permissions import OWNER
from sat_retriever.workbook.limits import Limits

app = typer.Typer()


@app.command(
    no_args_is_help=True,
    epilog=examples(
        "sat index ~/reports --index reports.sat",
        "sat index q1.xlsx q2.csv --index small.sat --contents names",
        "sat index /data --index all.sat --encoder BAAI/bge-base-en-v1.5 --json",
        "sat index /data --index many.sat --encoder ollama:bge-m3",
        "sat index s3://bucket/reports --index reports.sat",
        "sat index /shared/reports --index reports.sat --ray-address 10.0.0.5:6379",
    ),
)
def index(
    paths: PathsArgument,
    file: IndexOption = DEFAULT_INDEX,
    *,
    contents: Annotated[
        ContentsPolicy | None,
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
            "--encoder",
            "--model",
            help="Encoder of a new index; ollama:MODEL and openai:MODEL are models on servers.",
            metavar="NAME|DIR|RUN",
        ),
    ] = None,
    precision: Annotated[
        Precision | None,
        typer.Option(
            help="fp32 or int8: precision of an encoder other than the default.", metavar="NAME"
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            min=1, help="Texts in a request to an encoder on a server; 32 by default.", metavar="N"
        ),
    ] = None,
    permissions: Annotated[
        str | None,
        typer.Option(
            help="Who may see which sheet: a TOML file of rules, or files for the rights of the "
            "workbook files. Later runs keep using it.",
            metavar="RULES.toml|files",
        ),
    ] = None,
    password: PasswordOption = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            help="Encoding of delimited files, such as cp1252, in place of the one found in each; "
            "those under the paths are read again. Repeat it when they change.",
            metavar="NAME",
        ),
    ] = None,
    device: DeviceOption = "auto",
    workers: ReadersOption = None,
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
        typer.Option(
            "--verify", help="Hash every file, even if its time is unchanged; repair damaged rows."
        ),
    ] = False,
    follow_links: Annotated[
        bool,
        typer.Option("--follow-links", help="Also read links to files outside the folders."),
    ] = False,
    ray: Annotated[
        bool, typer.Option("--ray", help="Read and encode in a Ray cluster of this machine.")
    ] = False,
    ray_address: Annotated[
        str | None,
        typer.Option(
            help="Read and encode on the nodes of a running Ray cluster that this machine belongs "
            "to; auto is the one that runs here.",
            metavar="HOST:PORT|auto",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read workbooks and make them searchable.

    Run it again to update the index: only new and changed workbooks are
    read. Folders are searched recursively. Files that are spreadsheets
    neither by content nor by name are counted and ignored. Files that
    cannot be read are listed with the reason, as are links to files outside
    the folders. A folder at a URL needs the extra remote, or drives for
    SharePoint, OneDrive and Google Drive; unchanged workbooks are not
    downloaded again. --ray and --ray-address need the extra ray. If no
    workbook is found and there is no index yet, none is made, and the exit
    code is 1.
    """
    with progress("index", "looking for workbooks", path=str(paths[0])) as shown:
        # A third of a second that is shown.
        from sat_retriever.cli.indexreport import encoder_lines, print_report
        from sat_retriever.cli.indexrun import EncoderChoice, executor, kept, opened_index, synced
        from sat_retriever.index.sync.indexing import check_named

        check_named(paths)
        bounds = Limits.parse(limits) if limits is not None else None
        named = EncoderChoice(model, precision, batch_size, device)
        with (
            executor(ray_address, workers, shown, ray=ray) as machines,
            opened_index(file, named, (contents, skip_columns), shown) as (opened, is_new),
        ):
            if permissions is not None:
                opened.permit(permissions)
            try:
                report = synced(
                    shown,
                    opened,
                    paths,
                    verify=verify,
                    follow_links=follow_links,
                    password=password,
                    encoding=encoding,
                    workers=workers,
                    limits=bounds,
                    executor=machines,
                )
            except KeyboardInterrupt:
                shown.say(f"interrupted; {kept(opened)}")
                raise typer.Exit(130) from None
            except (EncoderError, ClusterError):
                shown.say(kept(opened))
                raise
            whole = opened.seen_by(OWNER)
            sheets, left = len(whole), not is_new or bool(whole.workbooks())
            encoded = encoder_lines(whole, report)
            idle = opened.idle_rules()
    warn_of_idle(idle)
    if as_json:
        written = str(file) if left else None
        print_json({"index": written, "sheets_in_index": sheets, **to_json(report)})
    else:
        print_report(report, sheets, file if left else None)
        for line in encoded:
            stdout().print(plain(line), soft_wrap=True)
    if not left:
        raise typer.Exit(fail(EmptyInputError(f"no index was made: {file} would be empty"), 1))
