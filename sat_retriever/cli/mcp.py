"""`sat mcp`: serve the tools of an index to MCP clients."""

from __future__ import annotations

import logging
import os
import signal
import sys
from enum import StrEnum
from types import FrameType
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
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.store.place import Place, opens
from sat_retriever.rank.load import AUTO
from sat_retriever.records.permissions import Principals
from sat_retriever.serve.limits import HTTP_PATH, RATE
from sat_retriever.serve.plan import STOP_S

EXAMPLES = examples(
    "sat mcp --index reports.sat",
    "sat mcp --index reports.sat --transport http --port 8765",
)


class Transport(StrEnum):
    """Transport between clients and the server."""

    STDIO = "stdio"
    HTTP = "http"


def mcp(
    file: IndexOption = DEFAULT_INDEX,
    *,
    reranker: RerankerOption = AUTO,
    transport: Annotated[
        Transport, typer.Option(help="stdio: started by its client. http: for many clients.")
    ] = Transport.STDIO,
    host: HostOption = DEFAULT_HOST,
    port: PortOption = DEFAULT_PORT,
    allow_host: AllowHostOption = None,
    token_file: TokenFileOption = None,
    rate: RateOption = RATE,
    proxy: ProxyOption = None,
    workers: WorkersOption = 1,
    stop_seconds: StopOption = STOP_S,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
    tokens: TokensOption = None,
) -> None:
    """Serve an index to AI agents over the Model Context Protocol.

    The agent gets read-only tools: find_sheets, describe_sheet, read_range,
    related_sheets, index_status, search_cells and, with the extra sql,
    query_tables. HTTP is for this machine; for others it needs a token. sat
    serve offers the same over HTTP, and a page for people.
    """
    require("mcp", "mcp")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    if transport is Transport.STDIO:
        _serve_client(file, reranker, asking(as_groups, as_owner=as_owner))
        return
    serve_until_stopped(
        What(opens(file), reranker, page=False, principals=asking(as_groups, as_owner=as_owner)),
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
        f"serving {{sheets}} at {{url}}{HTTP_PATH} (Ctrl-C to stop)",
    )


def _serve_client(file: Place, reranker: str, principals: Principals | None) -> None:
    """Serve one client over standard input and output."""
    from sat_retriever.tools import SheetTools
    from sat_retriever.tools.mcp.server import sheet_server
    from sat_retriever.tools.mcp.serving import serve_stdio

    with SheetIndex.open(file) as opened:
        chosen = None if reranker == "none" else reranker
        tools = SheetTools(opened, reranker=chosen, principals=principals)
        tools.index.warm_up()
        signal.signal(signal.SIGINT, _end_now)
        serve_stdio(sheet_server(tools))


def _end_now(_signal: int, _frame: FrameType | None) -> None:
    # A thread waits for a line on standard input, and a normal exit would wait for that thread.
    os._exit(130)
