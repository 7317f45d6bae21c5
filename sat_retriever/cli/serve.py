"""`sat serve`: an index as a page in the browser, and as MCP over HTTP."""

from __future__ import annotations

import logging
import sys
import webbrowser
from typing import Annotated

import typer

from sat_retriever._extras import require
from sat_retriever.cli.http import (
    DEFAULT_HOST,
    DEFAULT_PORT,
    AllowHostOption,
    HostOption,
    PortOption,
    ProxyOption,
    RateOption,
    StopOption,
    TokenFileOption,
    TokensOption,
    What,
    Where,
    WorkersOption,
    serve_until_stopped,
)
from sat_retriever.cli.principals import GroupsOption, OwnerOption, asking
from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    IndexOption,
    RerankerOption,
    examples,
)
from sat_retriever.index.store.place import opens
from sat_retriever.rank.load import AUTO
from sat_retriever.serve.limits import HTTP_PATH, RATE
from sat_retriever.serve.plan import STOP_S

EXAMPLES = examples(
    "sat serve --index reports.sat --open",
    "sat serve --index reports.sat --host 0.0.0.0 --token-file sat.token --workers 2",
)


def serve(
    file: IndexOption = DEFAULT_INDEX,
    *,
    host: HostOption = DEFAULT_HOST,
    port: PortOption = DEFAULT_PORT,
    allow_host: AllowHostOption = None,
    token_file: TokenFileOption = None,
    rate: RateOption = RATE,
    proxy: ProxyOption = None,
    workers: WorkersOption = 1,
    stop_seconds: StopOption = STOP_S,
    reranker: RerankerOption = AUTO,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
    tokens: TokensOption = None,
    open_: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = False,
) -> None:
    """Open an index as a page in the browser, and to AI agents over MCP.

    The page searches, shows why a sheet was found, its cells and its links,
    and gives tables as CSV. Nothing is ever written. On this machine no
    token is needed; at an address that others reach, it is.
    """
    for module in ("mcp", "jinja2", "starlette", "uvicorn"):
        require(module, "serve")

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    serve_until_stopped(
        What(opens(file), reranker, page=True, principals=asking(as_groups, as_owner=as_owner)),
        Where(
            host,
            port,
            allow_host or (),
            token_file,
            rate,
            proxy or (),
            workers,
            stop_seconds,
            tokens,
        ),
        f"serving {{sheets}} at {{url}}/ (MCP at {HTTP_PATH}; Ctrl-C to stop)",
        started=webbrowser.open if open_ else None,
    )
