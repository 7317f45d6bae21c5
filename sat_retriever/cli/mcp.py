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
from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    IndexOption,
    RerankerOption,
    counted,
    examples,
    plain,
    stderr,
)
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.load import AUTO

EXAMPLES = examples(
    "sat mcp --index reports.sat",
    "sat mcp --index reports.sat --transport http --port 8765",
)

_INTERRUPTED = 130


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
    host: Annotated[str, typer.Option(help="Address for HTTP.", metavar="HOST")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="HTTP port; 0 selects a free one.", metavar="N")
    ] = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Another host name that HTTP clients use.", metavar="NAME"),
    ] = None,
) -> None:
    """Serve an index to AI agents over the Model Context Protocol.

    The agent gets read-only tools: find_sheets, describe_sheet, read_range,
    related_sheets, index_status, search_cells and, with the extra sql,
    query_tables. HTTP has no password: keep the server on this machine, or
    put your own access control in front.
    """
    require("mcp", "mcp")
    from sat_retriever.tools import SheetTools
    from sat_retriever.tools.mcp.server import sheet_server
    from sat_retriever.tools.mcp.serving import listen, serve_http, serve_stdio, url

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    with SheetIndex.open(file) as opened:
        tools = SheetTools(opened, reranker=None if reranker == "none" else reranker)
        opened.warm_up()
        server = sheet_server(tools)
        if transport is Transport.STDIO:
            signal.signal(signal.SIGINT, _end_now)
            serve_stdio(server)
            return
        with listen(host, port) as listening:
            place = url(listening)
            console = stderr()
            console.print(
                plain(f"serving {counted(len(opened), 'sheet')} at {place} (Ctrl-C to stop)"),
                soft_wrap=True,
            )
            try:
                serve_http(server, listening, host=host, names=allow_host or ())
            except KeyboardInterrupt:
                raise typer.Exit(_INTERRUPTED) from None


def _end_now(_signal: int, _frame: FrameType | None) -> None:
    # A thread waits for a line on standard input, and a normal exit would wait for that thread.
    os._exit(_INTERRUPTED)
