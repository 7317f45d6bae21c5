"""`sat migrate`: copy an index file into PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sat_retriever.cli.progress import At, progress
from sat_retriever.cli.terminal import JsonOption, counted, examples, plain, print_json, stdout
from sat_retriever.errors import InputError
from sat_retriever.index.store.opening import migrate_store
from sat_retriever.index.store.place import IndexUrl, place_of

EXAMPLES = examples(
    "sat migrate reports.sat 'postgresql://me@db.example/reports?schema=sheets'",
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
    as_json: JsonOption = False,
) -> None:
    """Copy an index file into PostgreSQL 16 or newer with pgvector.

    No workbook is read and nothing is encoded. Every row is checked, copied
    and read back in one transaction: after an error or an interruption
    there is nothing at the URL, and the command can be run again. Needs the
    extra [postgres].
    """
    place = place_of(url)
    if not isinstance(place, IndexUrl):
        raise InputError(f"{url!r} is no URL of PostgreSQL; write postgresql://HOST/DATABASE")
    with progress("migrate", "connecting") as shown:
        counts = migrate_store(
            file, place, lambda done, total: shown.at(At("copying", done, total, noun="row"))
        )
    if as_json:
        print_json({"index": str(place), "rows": counts})
        return
    said = f"{counted(counts['sheets'], 'sheet')} of {counted(counts['workbooks'], 'workbook')}"
    stdout().print(plain(f"copied {said} to {place}"), soft_wrap=True)
