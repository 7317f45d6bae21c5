"""`sat tokens`: make, list and revoke the tokens that open a server."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from sat_retriever.cli.options import JsonOption, examples
from sat_retriever.cli.terminal import plain, print_json, stderr, stdout
from sat_retriever.errors import InputError
from sat_retriever.serve.tokens import Token, changing, made_token, read_tokens

_FOR = re.compile(r"(?P<number>[1-9][0-9]{0,4})(?P<unit>[hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}
_NEVER = "never"

FileOption = Annotated[
    Path,
    typer.Option("--tokens", help="The file of tokens.", metavar="FILE", dir_okay=False),
]
NameArgument = Annotated[
    str, typer.Argument(help="Name of the person or program, unlike any other.", metavar="NAME")
]
DEFAULT_FILE = Path("tokens.toml")

app = typer.Typer(no_args_is_help=True)
tokens = typer.Typer(
    no_args_is_help=True,
    help="Make, list and revoke the tokens of a server.\n\nsat serve and sat mcp take the file "
    "with --tokens; a running server follows it. It holds hashes of the tokens, and only its "
    "owner may read it.",
    epilog=examples("sat tokens add ada --groups sales --expires 90d", "sat tokens revoke ada"),
)
app.add_typer(tokens, name="tokens")


@tokens.command(
    epilog=examples(
        "sat tokens add ada --groups sales --groups board --expires 90d",
        "sat tokens add nightly-report --owner --expires 2027-12-31",
    )
)
def add(
    name: NameArgument,
    *,
    groups: Annotated[
        list[str] | None,
        typer.Option(help="A group of the person; may be repeated.", metavar="GROUP"),
    ] = None,
    owner: Annotated[
        bool, typer.Option("--owner", help="Let the token see every sheet, whatever the rules.")
    ] = False,
    expires: Annotated[
        str,
        typer.Option(
            help="When it ends: after hours, days or weeks (12h, 90d, 8w), at the end of a day "
            "(2027-12-31, UTC), or never.",
            metavar="TIME",
        ),
    ] = "90d",
    file: FileOption = DEFAULT_FILE,
) -> None:
    """Make a token and print it, once; the file keeps its hash.

    A person without groups sees the sheets of everyone. In an index without
    permissions every token sees every sheet.
    """
    if owner and groups:
        raise InputError("--owner and --groups exclude each other; leave out one")
    ends = _end(expires, datetime.now(UTC))
    secret, made = made_token(name, groups or (), ends, owner=owner)
    with changing(file) as found:
        if any(each.name == name for each in found):
            raise InputError(
                f"{file} has a token called {name!r} already; revoke it first, or choose another "
                "name, such as that of the device"
            )
        found.append(made)
    stdout().print(secret, markup=False, highlight=False, soft_wrap=True)
    until = _shown(made.expires) or "it is revoked"
    stderr().print(plain(f"for {name}, until {until}; it is not shown again"), soft_wrap=True)


@tokens.command(name="list", epilog=examples("sat tokens list --tokens tokens.toml"))
def list_(*, file: FileOption = DEFAULT_FILE, as_json: JsonOption = False) -> None:
    """List whose tokens there are, with their groups and when they end."""
    found = read_tokens(file)
    if as_json:
        print_json({"tokens": [_facts(each) for each in found]})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "token", "groups", "made", "ends"):
        table.add_column(heading, overflow="fold")
    for each in found:
        groups = "every sheet (owner)" if each.owner else ", ".join(each.groups or ())
        ends = f"{_shown(each.expires) or _NEVER}{', expired' * each.is_over()}"
        cells = (each.name, f"…{each.ends}", groups, _shown(each.made), ends)
        table.add_row(*map(plain, cells))
    stdout().print(table)


@tokens.command(epilog=examples("sat tokens revoke ada"))
def revoke(name: NameArgument, *, file: FileOption = DEFAULT_FILE) -> None:
    """Make a token worthless, with the sessions that began with it."""
    with changing(file) as found:
        left = [each for each in found if each.name != name]
        if len(left) == len(found):
            names = ", ".join(each.name for each in found[:20]) or "none"
            raise InputError(f"{file} has no token called {name!r}; there are: {names}")
        found[:] = left
    stderr().print(plain(f"revoked the token of {name}"), soft_wrap=True)


def _end(text: str, now: datetime) -> datetime | None:
    """Return when a token ends.

    >>> new_year = datetime(2027, 1, 1, 12, tzinfo=UTC)
    >>> _end("90d", new_year).isoformat(), _end("never", new_year)
    ('2027-04-01T12:00:00+00:00', None)
    """
    if text == _NEVER:
        return None
    if found := _FOR.fullmatch(text):
        return (now + timedelta(hours=int(found["number"]) * _HOURS[found["unit"]])).replace(
            microsecond=0
        )
    try:
        ends = datetime.strptime(text, "%Y-%m-%d").replace(
            hour=23, minute=59, second=59, tzinfo=UTC
        )
    except ValueError as error:
        raise InputError(
            f"--expires {text[:40]!r} is no time; give 12h, 90d, 8w, a day such as 2027-12-31, or "
            "never"
        ) from error
    if ends <= now:
        raise InputError(f"--expires {text} is over; give a day to come")
    return ends


def _shown(at: datetime | None) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if at else ""


def _facts(token: Token) -> dict[str, object]:
    return {
        "name": token.name,
        "ends_with": token.ends,
        "groups": list(token.groups or ()),
        "owner": token.owner,
        "made": token.made.isoformat() if token.made else None,
        "expires": token.expires.isoformat() if token.expires else None,
        "expired": token.is_over(),
    }
