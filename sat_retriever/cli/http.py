"""Options of the commands that serve HTTP, and the serving itself."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sat_retriever.cli.terminal import counted, plain, stderr
from sat_retriever.errors import InputError
from sat_retriever.records.permissions import Owner, Principals
from sat_retriever.serve.access import read_token
from sat_retriever.serve.plan import Audience, Plan

HostOption = Annotated[str, typer.Option(help="Address for HTTP.", metavar="HOST")]
PortOption = Annotated[
    int, typer.Option(min=0, max=65535, help="HTTP port; 0 selects a free one.", metavar="N")
]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(help="Another host name that HTTP clients use.", metavar="NAME"),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(
        help="File with the token that HTTP clients need; required off this machine.",
        metavar="FILE",
        dir_okay=False,
    ),
]
RateOption = Annotated[
    float,
    typer.Option(
        "--rate", min=0, help="HTTP requests a second of one client; 0 for any.", metavar="N"
    ),
]
WorkersOption = Annotated[
    int, typer.Option(min=1, max=64, help="Processes that serve HTTP.", metavar="N")
]
StopOption = Annotated[
    float,
    typer.Option(
        "--stop-seconds",
        min=0,
        max=3600,
        help="Seconds that running HTTP requests have to end.",
        metavar="N",
    ),
]
ProxyOption = Annotated[
    list[str] | None,
    typer.Option(help="A proxy's address, whose X-Forwarded-For is believed.", metavar="ADDRESS"),
]
TokensOption = Annotated[
    Path | None,
    typer.Option(
        "--tokens",
        help="TOML file with tokens and the groups of each, for an index with permissions.",
        metavar="FILE",
        dir_okay=False,
    ),
]
DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8765


@dataclass(frozen=True, slots=True)
class Where:
    """Where a command serves, for whom, and from how many processes.

    Attributes:
        host: Address.
        port: Port; 0 for a free one.
        names: Further host names that clients use.
        token_file: File with the token; None for no token.
        rate: Requests a second of one client; 0 for any.
        proxies: Addresses of proxies whose word on their clients counts.
        workers: Number of processes.
        stop_s: Seconds that running requests have to end.
        tokens: File with tokens and their groups; None without one.
    """

    host: str
    port: int
    names: Sequence[str]
    token_file: Path | None
    rate: float
    proxies: Sequence[str]
    workers: int
    stop_s: float
    tokens: Path | None = None


@dataclass(frozen=True, slots=True)
class What:
    """What a command serves.

    Attributes:
        index: Path or URL of the index, which may hold a password.
        reranker: The option `--reranker`.
        page: True serves the page and MCP; False serves MCP alone.
        principals: Those for whom it is served; None without permissions, or by tokens.
    """

    index: str = field(repr=False)
    reranker: str
    page: bool
    principals: Principals | None = None


def serve_until_stopped(
    what: What, where: Where, said: str, *, started: Callable[[str], object] | None = None
) -> None:
    """Serve an index until SIGTERM or Ctrl-C.

    Args:
        what: What is served.
        where: Where, for whom, and from how many processes.
        said: Line to print when connections are accepted, with `{sheets}` and `{url}`.
        started: Called with the URL after that.

    Raises:
        InputError: If the address cannot be used, needs a token, or the token is not good.
        SatError: If the index cannot be used, or the processes die again and again.
        Exit: With exit code 130 after Ctrl-C.
    """
    from sat_retriever.serve.serving import (
        INTERRUPTED,
        check_private,
        known_names,
        listen,
        networks,
        url,
    )

    names, proxies = known_names(where.host, where.names), networks(where.proxies)

    def plan() -> Plan:
        token = read_token(where.token_file) if where.token_file else None
        reranker = None if what.reranker == "none" else what.reranker
        return Plan(
            what.index, reranker, what.page, names, token, where.rate, proxies, where.workers,
            where.stop_s, _audiences(what, where, token),
        )  # fmt: skip

    with listen(where.host, where.port) as listening:
        check_private(listening, plan().a_token)

        def tell(sheets: int) -> None:
            line = said.format(sheets=counted(sheets, "sheet"), url=url(listening))
            stderr().print(plain(line), soft_wrap=True)
            if started:
                started(url(listening))

        try:
            code = (_serve_here if where.workers == 1 else _supervise)(plan, listening, tell)
        except KeyboardInterrupt:  # before it served
            code = INTERRUPTED
    if code:
        raise typer.Exit(code)


def _audiences(what: What, where: Where, token: str | None) -> list[Audience]:
    """The audiences that the options name; none without any."""
    from sat_retriever.serve.audiences import read_audiences

    if where.tokens is not None:
        if token is not None or what.principals is not None:
            raise InputError("--tokens excludes --token-file, --as and --as-owner; leave them out")
        return read_audiences(where.tokens)
    if what.principals is None:
        return []
    if isinstance(what.principals, Owner):
        return [(token, None, True)]
    return [(token, list(what.principals), False)]


def _serve_here(
    plan_of: Callable[[], Plan], listening: socket.socket, tell: Callable[[int], None]
) -> int:
    from sat_retriever.serve.plan import service_of
    from sat_retriever.serve.serving import Serving

    plan = plan_of()
    with service_of(plan) as (service, sheets):
        serving = Serving(service, plan.proxies, plan.stop_s, partial(tell, sheets), hurry=True)
        return serving.serve_until_stopped(listening)


def _supervise(
    plan_of: Callable[[], Plan], listening: socket.socket, tell: Callable[[int], None]
) -> int:
    if sys.platform != "win32":
        from sat_retriever.serve.supervisor import supervise

        return supervise(plan_of, listening, tell)
    raise InputError("several workers need Linux or macOS; leave out --workers")
