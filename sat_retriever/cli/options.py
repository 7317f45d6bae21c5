"""Options of several subcommands, and the index, groups or encoder that they name."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import InputError
from sat_retriever.index.store.place import Place, place_of
from sat_retriever.records.permissions import OWNER, Principals

QUOTED = {"allow_extra_args": True}  # `refuse_unquoted` explains the error better than typer

if TYPE_CHECKING:
    from sat_retriever.index.index import SheetIndex

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
Precision = Literal["fp32", "int8"]
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
PasswordOption = Annotated[
    str | None,
    typer.Option(envvar="SAT_PASSWORD", help="Password for encrypted files.", metavar="TEXT"),
]
ReadersOption = Annotated[
    int | None,
    typer.Option(min=1, help="Number of reading processes; all cores by default.", metavar="N"),
]
TotalsOption = Annotated[
    bool, typer.Option("--totals", help="Keep totals and subtotals among the records.")
]
LlmUrlOption = Annotated[
    str | None,
    typer.Option(
        "--llm-url",
        help="Address of the model's server; OLLAMA_HOST or OPENAI_BASE_URL if not given.",
        metavar="URL",
    ),
]
NumCtxOption = Annotated[
    int,
    typer.Option(min=2048, max=1_000_000, help="Context of the model in tokens.", metavar="N"),
]
AnswerOutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Also write an Excel file: the answer, its rows, and the cells cited, with links.",
        metavar="FILE.xlsx",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
DEFAULT_INDEX = Path("sheets.sat")
GroupsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        help="A group of the person who asks, in an index with permissions; may be repeated.",
        metavar="GROUP",
    ),
]
OwnerOption = Annotated[
    bool, typer.Option("--as-owner", help="See every sheet of an index with permissions.")
]


def examples(*commands: str) -> str:
    """Example commands as the last part of a help page."""
    return "\n\n".join(("[bold]Examples[/bold]", *(f"$ {command}" for command in commands)))


def refuse_unquoted(
    context: typer.Context, first: str, whole: Callable[[Sequence[str]], str] = " ".join
) -> None:
    """Reject further words after the one argument that a command takes."""
    if context.args:
        words = whole([first, *context.args])
        raise InputError(
            f"{1 + len(context.args)} arguments instead of one; "
            f'put them in quotes: sat {context.info_name} "{words}"'
        )


def refuse_without_model(given: Mapping[str, object], models: Mapping[str, str | None]) -> None:
    """Reject options that are of use to a model alone, if none is named; `models` name theirs."""
    for option, value in given.items():
        if value is not None and value is not False and not any(models.values()):
            raise InputError(
                f"{option} needs a language model; name one with {' or '.join(models)}"
            )


def chosen(reranker: str) -> str | None:
    """The reranker that the option names; None for none."""
    return None if reranker == "none" else reranker


def asking(groups: Sequence[str] | None, *, as_owner: bool) -> Principals | None:
    """The groups of the person who asks; None if none were given."""
    if groups and as_owner:
        raise InputError("--as and --as-owner exclude each other; leave out one")
    return OWNER if as_owner else groups or None


@contextmanager
def opened_for(
    file: Place, groups: Sequence[str] | None, *, as_owner: bool, device: Device = "auto"
) -> Iterator[SheetIndex]:
    """Open an index as the one sees it who asks; it is closed after the block."""
    from sat_retriever.index.index import SheetIndex

    principals = asking(groups, as_owner=as_owner)
    with SheetIndex.open(file, device=device) as whole:
        yield whole if principals is None else whole.seen_by(principals)


@contextmanager
def opened_whole(file: Place, device: Device = "auto") -> Iterator[SheetIndex]:
    """Open an index as its owner, who keeps it in order, trains on it and measures it."""
    from sat_retriever.index.index import SheetIndex

    with SheetIndex.open(file, device=device) as whole:
        yield whole.seen_by(OWNER)


ENCODER = "encoder"  # folder of a run


def encoder_source(named: str) -> str:
    """The folder or name that loads the Sheet Encoder of a run, a folder or a name."""
    inside = Path(named) / ENCODER
    return str(inside) if inside.is_dir() else named
