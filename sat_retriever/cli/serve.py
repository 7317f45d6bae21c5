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
    RateOption,
    TokenFileOption,
    Where,
    serve_until_stopped,
)
from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    IndexOption,
    RerankerOption,
    counted,
    examples,
)
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.load import AUTO
from sat_retriever.serve.limits import HTTP_PATH, RATE

EXAMPLES = examples(
    "sat serve --index reports.sat --open",
    "sat serve --index reports.sat --host 0.0.0.0 --token-file sat.token",
)


def serve(
    file: IndexOption = DEFAULT_INDEX,
    *,
    host: HostOption = DEFAULT_HOST,
    port: PortOption = DEFAULT_PORT,
    allow_host: AllowHostOption = None,
    token_file: TokenFileOption = None,
    rate: RateOption = RATE,
    reranker: RerankerOption = AUTO,
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
    from sat_retriever.retriever import SheetRetriever
    from sat_retriever.serve.app import web_app
    from sat_retriever.serve.render import sign_in_page
    from sat_retriever.tools import SheetTools

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    with SheetIndex.open(file) as opened:
        stage2 = None if reranker == "none" else reranker
        tools, retriever = SheetTools(opened, reranker=stage2), SheetRetriever(opened, stage2)
        opened.warm_up()
        said = (
            f"serving {counted(len(opened), 'sheet')} at {{url}}/ "
            f"(MCP at {HTTP_PATH}; Ctrl-C to stop)"
        )
        where = Where(host, port, tuple(allow_host or ()), token_file, rate)
        started = webbrowser.open if open_ else None
        app = web_app(tools, retriever)
        serve_until_stopped(app, where, said, sign_in=sign_in_page, started=started)
