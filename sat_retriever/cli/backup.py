"""`sat backup` and `sat restore`: save a whole index with checksums, and bring it back."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from sat_retriever.backup.manifest import Manifest
from sat_retriever.cli.options import DEFAULT_INDEX, IndexOption, JsonOption, examples
from sat_retriever.cli.progress import At, Shown, progress
from sat_retriever.cli.terminal import counted, plain, print_json, stderr, stdout
from sat_retriever.index.store.place import resolved

app = typer.Typer()


@app.command(
    no_args_is_help=True,
    epilog=examples(
        "sat backup backups --index reports.sat",
        "sat backup /var/backups/sheets --keep 14 --index 'postgresql:///?service=sheets'",
    ),
)
def backup(
    into: Annotated[
        Path,
        typer.Argument(
            help="Folder of the backups; each becomes a new folder in it, named by its time.",
            metavar="FOLDER",
            file_okay=False,
        ),
    ],
    file: IndexOption = DEFAULT_INDEX,
    *,
    keep: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Then delete all backups of this index in FOLDER but the newest so many.",
            metavar="N",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Save an index with all that it needs, while others search it and write to it.

    A backup has the last complete state: the index as a file that can be
    opened, its permissions, the trained models that it names, and a checksum
    of each file. An index in PostgreSQL is read in one transaction and saved
    as a file as well. A file of an older version stays one. Workbooks are not
    saved. After an error or an interruption there is no backup.
    """
    from sat_retriever.backup.write import back_up, drop_oldest

    with progress("backup", "opening the index", path=str(file)) as shown:
        folder, made = back_up(file, into, told=_telling(shown))
        dropped = drop_oldest(file, into, keep) if keep is not None else []
    for name in made.missing:
        stderr().print(
            plain(f"not in the backup, since it is not there: the model {name}"), soft_wrap=True
        )
    if as_json:
        print_json({**_facts(folder, made), "dropped": [str(each) for each in dropped]})
        return
    stdout().print(plain(f"{_said(made)}, saved to {folder}"), soft_wrap=True)
    if dropped:
        stdout().print(f"deleted {counted(len(dropped), 'older backup')}")


@app.command(
    no_args_is_help=True,
    epilog=examples(
        "sat restore backups/reports-2026-11-28T031500Z --index reports.sat --replace",
        "sat restore backups/reports-2026-11-28T031500Z --check",
    ),
)
def restore(
    folder: Annotated[Path, typer.Argument(help="A backup.", metavar="BACKUP")],
    file: IndexOption = DEFAULT_INDEX,
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the index that is there.")
    ] = False,
    only_check: Annotated[
        bool, typer.Option("--check", help="Only compare the backup with its checksums.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring an index back from a backup, to a file or a URL, whole or not at all.

    Every file is compared with its checksum before anything changes. An index
    file gets the schema that it had, so an older version can use it again.
    Programs that have a replaced index open must open it again: reload or
    restart sat serve.
    """
    from sat_retriever.backup.restore import check
    from sat_retriever.backup.restore import restore as restored

    what = "checking the backup" if only_check else "opening the backup"
    with progress("restore", what, path=str(folder)) as shown:
        told = _telling(shown)
        made = check(folder, told) if only_check else restored(
            folder, file, replace=replace, told=told
        )  # fmt: skip
    if as_json:
        print_json(_facts(folder, made) | ({} if only_check else {"index": str(resolved(file))}))
    elif only_check:
        stdout().print(plain(f"{folder} is whole: {_said(made)}, of {made.made[:19]}Z"),
                       soft_wrap=True)  # fmt: skip
    else:
        stdout().print(plain(f"{_said(made)}, restored to {file}"), soft_wrap=True)


def _telling(shown: Shown) -> Any:
    return lambda what, done, total, noun: shown.at(At(what, done, total or None, noun))


def _said(made: Manifest) -> str:
    sheets, workbooks = counted(made.sheets, "sheet"), counted(made.workbooks, "workbook")
    return f"{sheets} of {workbooks}, {made.bytes / 1e6:,.1f} MB"


def _facts(folder: Path, made: Manifest) -> dict[str, object]:
    facts = asdict(made)
    del facts["files"]
    return {"backup": str(folder), **facts, "bytes": made.bytes, "files": len(made.files)}
