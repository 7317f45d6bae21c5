"""Options of the commands that serve HTTP, and the serving itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sat_retriever.cli.terminal import plain, stderr
from sat_retriever.serve.access import SignInPage, read_token
from sat_retriever.serve.asgi import App
from sat_retriever.serve.guard import Guard

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
DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8765
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Where:
    """Where a command serves, and for whom.

    Attributes:
        host: Address.
        port: Port; 0 for a free one.
        names: Further host names that clients use.
        token_file: File with the token; None for no token.
        rate: Requests a second of one client; 0 for any.
    """

    host: str
    port: int
    names: tuple[str, ...]
    token_file: Path | None
    rate: float


def serve_until_stopped(
    app: App,
    where: Where,
    said: str,
    *,
    sign_in: SignInPage | None = None,
    started: Callable[[str], object] | None = None,
) -> None:
    """Serve an application until Ctrl-C.

    Args:
        app: The application.
        where: Where, and for whom.
        said: Line to print when connections are accepted, with `{url}`.
        sign_in: Page on which a browser gives the token.
        started: Called with the URL after that.

    Raises:
        InputError: If the address cannot be used, needs a token, or the token is not good.
        Exit: With exit code 130 after Ctrl-C.
    """
    from sat_retriever.serve.serving import check_private, known_names, listen, serve, url

    token = read_token(where.token_file) if where.token_file else None
    names = known_names(where.host, where.names)
    with listen(where.host, where.port) as listening:
        check_private(listening, token)
        guarded = Guard(names, token, where.rate).around(app, sign_in)
        stderr().print(plain(said.format(url=url(listening))), soft_wrap=True)
        if started:
            started(url(listening))
        try:
            serve(guarded, listening)
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
