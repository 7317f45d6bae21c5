"""`sat permissions`: show or change who may see which sheet of an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from sat_retriever.cli.options import DEFAULT_INDEX, IndexOption, JsonOption, examples, opened_whole
from sat_retriever.cli.terminal import counted, plain, print_json, stderr, stdout
from sat_retriever.errors import InputError
from sat_retriever.index.permissions import Change
from sat_retriever.records.permissions import EVERYONE

_LISTED = 20  # sheets that are listed of one kind of change

app = typer.Typer()


@app.command(
    epilog=examples(
        "sat permissions --index reports.sat",
        "sat permissions --index reports.sat --rules rules.toml --dry-run",
        "sat permissions --index reports.sat --rules files",
    )
)
def permissions(
    file: IndexOption = DEFAULT_INDEX,
    *,
    rules: Annotated[
        str | None,
        typer.Option(
            help="New rules: a TOML file, or files for the rights of the workbook files.",
            metavar="RULES.toml|files",
        ),
    ] = None,
    open_to_all: Annotated[
        bool, typer.Option("--open-to-all", help="Show every sheet to everyone again.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list the sheets that --rules would change.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show how many sheets each group may see, or apply other rules.

    No workbook is read. New rules take effect in one step, also for
    programs that have the index open, and later runs of sat index keep
    using them.
    """
    if open_to_all and (rules is not None or dry_run):
        raise InputError("--open-to-all excludes --rules and --dry-run; leave them out")
    if dry_run and rules is None:
        raise InputError("--dry-run needs --rules; name the rules to try")
    with opened_whole(file) as opened:
        changes: Sequence[Change] = ()
        if dry_run and rules is not None:
            changes = opened.permitting(rules)
        elif rules is not None or open_to_all:
            changes = opened.permit(rules)
        idle = opened.idle_rules(rules)
        restricted, groups, sheets = opened.is_restricted, opened.groups(), len(opened)
    if as_json:
        print_json(
            {
                "restricted": restricted,
                "sheets": sheets,
                "groups": groups,
                "dry_run": dry_run,
                "idle_rules": idle,
                "changed": [
                    {"sheet": x.sheet_id, "before": list(x.before), "after": list(x.after)}
                    for x in changes
                ],
            }
        )
        return
    if rules is not None or open_to_all:
        _print_changes(changes, dry_run=dry_run)
    warn_of_idle(idle)
    if not restricted:
        stdout().print(f"no permissions: everyone sees {counted(sheets, 'sheet')}")
    elif not dry_run:
        _print_groups(groups, sheets)


def warn_of_idle(rules: Sequence[str]) -> None:
    """Warn of rules that decide for no sheet: those below decide in their place."""
    for each in rules:
        line = (
            f"warning: {each}; later rules decide. Paths are below the indexed folder; case matters"
        )
        stderr().print(plain(line), soft_wrap=True)


def _print_changes(changes: Sequence[Change], *, dry_run: bool) -> None:
    would = "would get" if dry_run else "got"
    stdout().print(f"{counted(len(changes), 'sheet')} {would} other groups")
    if dry_run:
        _print_kinds(changes)


def _print_kinds(changes: Sequence[Change]) -> None:
    """Print changes by what they do: kinds of few sheets first, which many would hide."""
    kinds: dict[str, list[str]] = {}
    for each in changes:
        kind = f"{_named(each.before)} -> {_named(each.after)}"
        kinds.setdefault(kind, []).append(each.sheet_id)
    for kind, ids in sorted(kinds.items(), key=lambda item: (len(item[1]), item[0])):
        stdout().print(Text.assemble("\n", (plain(kind).plain, "bold"), f"  {len(ids):,}"))
        for sheet_id in ids[:_LISTED]:
            stdout().print(plain(f"  {sheet_id}"), soft_wrap=True)
        if len(ids) > _LISTED:
            stdout().print(f"  and {len(ids) - _LISTED:,} more; --json lists all")


def _named(groups: Sequence[str]) -> str:
    return ", ".join("everyone" if each == EVERYONE else each for each in groups) or "nobody"


def _print_groups(groups: Mapping[str, int], sheets: int) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("group", overflow="fold")
    table.add_column("sheets", justify="right")
    for name, number in groups.items():
        table.add_row(plain(_named([name])), f"{number:,}")
    stdout().print(table)
    stdout().print(f"of {counted(sheets, 'sheet')}; every group also sees the sheets of everyone")
