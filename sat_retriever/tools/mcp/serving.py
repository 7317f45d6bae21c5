"""Transports of an MCP server: one client over standard input and output, many over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sat_retriever._extras import require
from sat_retriever.tools.mcp.server import SheetServer

try:
    import anyio
    from mcp.server.stdio import stdio_server
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse, Response
    from starlette.routing import Route
except ModuleNotFoundError:
    require("mcp", "mcp")  # names the extra to install
    raise

if TYPE_CHECKING:
    from starlette.applications import Starlette


def serve_stdio(server: SheetServer) -> None:
    """Serve one client over standard input and output until it disconnects."""

    async def serve() -> None:
        async with stdio_server() as (messages, answers):
            await server.run(messages, answers, server.create_initialization_options())

    try:
        anyio.run(serve)
    except* BrokenPipeError:  # the client disconnected before its answer
        pass


def http_app(server: SheetServer, path: str) -> Starlette:
    """The server as an application for streamable HTTP; its lifespan must run.

    It is stateless, so every request is independent. It checks no hosts: a guard must stand in
    front of it, whose check is stricter than the SDK's own.

    Args:
        server: The server.
        path: Path of its URL.
    """
    app = server.streamable_http_app(
        streamable_http_path=path,
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.router.routes.insert(0, Route(path, _no_stream, methods=["GET"]))
    return app


async def _no_stream(_request: Request) -> Response:
    """Refuse a stream of events: a stateless server has none, and an open one would never end."""
    return PlainTextResponse("This server sends no events; call it by POST.", 405)
