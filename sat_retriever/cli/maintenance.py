"""`sat status`, `sat migrate` and `sat reencode`: look after an index as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.table import Table

from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    DeviceOption,
    GroupsOption,
    IndexOption,
    JsonOption,
    OwnerOption,
    encoder_source,
    examples,
    opened_for,
    opened_whole,
)
from sat_retriever.cli.progress import At, progress
from sat_retriever.cli.terminal import counted, plain, print_json, skipped_table, stdout
from sat_retriever.encoder import DEFAULT
from sat_retriever.encoder.models.folder import is_packaged
from sat_retriever.errors import EncoderError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.store.opening import migrate_store
from sat_retriever.index.store.place import IndexUrl, place_of
from sat_retriever.rank.load import own_reranker_name
from sat_retriever.records.jsonform import to_json

app = typer.Typer()


@app.command(
    epilog=examples(
        "sat status --index reports.sat",
        "sat status --index reports.sat --skipped",
        "sat status --index reports.sat --json",
    )
)
def status(
    file: IndexOption = DEFAULT_INDEX,
    *,
    list_skipped: Annotated[
        bool, typer.Option("--skipped", help="List every file and sheet that was skipped.")
    ] = False,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show what is in an index: counts, encoder, reranker, and what could not be read."""
    with opened_for(file, as_groups, as_owner=as_owner) as opened:
        facts = dict(opened.status())
        facts["ranked_by"], in_words = _ranked_by(opened)
        skipped = [skip for state in opened.workbooks() for skip in state.skipped]
    facts["skipped"] = dict(Counter(skip.reason.value for skip in skipped).most_common())
    if as_json:
        listed = {"skipped_files": to_json(skipped)} if list_skipped else {}
        print_json({**facts, **listed})
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for key, value in _told(facts, in_words).items():
        table.add_row(key, plain(_text(value)))
    stdout().print(table)
    if list_skipped and skipped:
        stdout().print()
        stdout().print(skipped_table(skipped))


def _ranked_by(opened: SheetIndex) -> tuple[str | None, str]:
    """The reranker that a search uses by default, and the same in words."""
    try:
        name = own_reranker_name(opened)
    except EncoderError as error:
        return None, f"none that can be used: {error}"
    if is_packaged(name):
        return name, f"{name}, of this package"
    missing = name == opened.reranker_name and not Path(name).is_dir()
    return name, f"{name}, which does not exist" if missing else name


def _told(facts: Mapping[str, object], ranked_by: str) -> dict[str, object]:
    """The facts for a reader: one reranker, and plain words for settings."""
    told = {**facts, "reranker": ranked_by}
    del told["ranked_by"]
    texts = cast("dict[str, object]", told["serialization"])
    told["serialization"] = _renamed(texts, "examples", "examples encoded")
    told["skip_columns"] = told["skip_columns"] or "none"
    return _renamed(_renamed(told, "contents", "contents kept"), "skip_columns", "columns skipped")


def _renamed(facts: Mapping[str, object], key: str, name: str) -> dict[str, object]:
    return {name if each == key else each: value for each, value in facts.items()}


def _text(value: object) -> str:
    """A value in words.

    >>> _text({"xlsx": 1200, "": True}), _text({})
    ('xlsx: 1,200, none: yes', 'none')
    """
    if isinstance(value, dict):
        return ", ".join(f"{key or 'none'}: {_text(item)}" for key, item in value.items()) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


@app.command(
    no_args_is_help=True,
    epilog=examples(
        "sat migrate reports.sat 'postgresql://me@db.example/reports?schema=sheets'",
    ),
)
def migrate(
    file: Annotated[
        Path, typer.Argument(help="The index file; it stays as it is.", metavar="FILE")
    ],
    url: Annotated[
        str,
        typer.Argument(
            help="URL of the new index: postgresql://USER@HOST/DATABASE?schema=NAME, and "
            "&collection=NAME for one of several.",
            metavar="URL",
        ),
    ],
    *,
    hnsw: Annotated[
        bool,
        typer.Option(
            "--hnsw",
            help="Make an HNSW index of the tokens as well, for SQL of your own; search needs "
            "none, and it takes most of the time.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Copy an index file into PostgreSQL 16 or newer with pgvector.

    No workbook is read and nothing is encoded. Every row is checked, copied
    and read back in one transaction: after an error or an interruption
    there is nothing at the URL, and the command can be run again. Needs the
    extra postgres.
    """
    place = place_of(url)
    if not isinstance(place, IndexUrl):
        raise InputError(f"{url!r} is no URL of PostgreSQL; write postgresql://HOST/DATABASE")
    with progress("migrate", "connecting") as shown:
        counts = migrate_store(
            file,
            place,
            lambda done, total: shown.at(At("copying", done, total, noun="row")),
            hnsw=hnsw,
        )
    if as_json:
        print_json({"index": str(place), "rows": counts})
        return
    said = f"{counted(counts['sheets'], 'sheet')} of {counted(counts['workbooks'], 'workbook')}"
    stdout().print(plain(f"copied {said} to {place}"), soft_wrap=True)


@app.command(
    epilog=examples(
        "sat reencode --index reports.sat",
        "sat reencode --index reports.sat --encoder BAAI/bge-base-en-v1.5",
    )
)
def reencode(
    file: IndexOption = DEFAULT_INDEX,
    *,
    encoder: Annotated[
        str, typer.Option(help="Encoder of the new tokens.", metavar="NAME|DIR|RUN")
    ] = DEFAULT,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Encode every sheet of an index anew with another encoder.

    No workbook is read. The index changes only at the end, so an
    interruption leaves it as it was. Restart servers that have it open.
    Without --encoder, an index of an older "general" encoder gets the
    present one.
    """
    with progress("reencode", "opening the encoder") as shown, opened_whole(file, device) as index:
        before, sheets = index.encoder_name, len(index)
        index.reencode(
            encoder_source(encoder),
            progress=lambda done, total: shown.at(At("encoding", done, total, noun="sheet")),
        )
        after = index.encoder_name
    if as_json:
        print_json({"index": str(file), "sheets": sheets, "before": before, "encoder": after})
        return
    said = f"{counted(sheets, 'sheet')} of {file}: {before} before, {after} now"
    stdout().print(plain(said), soft_wrap=True)
