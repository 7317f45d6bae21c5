"""Pages of signing in: the ways that a server has, and the page that goes on after a provider's."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sat_retriever.serve.access import OPEN_PATHS, provider_url
from sat_retriever.serve.asgi import Message, Receive, Send
from sat_retriever.serve.responses import STATIC, http_error, rendered, static_file


@dataclass(frozen=True, slots=True)
class HtmlPages:
    """Pages of signing in.

    Attributes:
        tokens: True if people may give a token.
        provider: Host of the provider at which they may sign in; "" for none.
        proxy: True if a proxy signs them in.
    """

    tokens: bool
    provider: str
    proxy: bool

    def sign_in(self, target: str, problem: str) -> bytes:
        """Return the page to sign in."""
        return rendered(
            "signin",
            target=target,
            problem=problem,
            ways=self,
            provider_url=provider_url(target),
        )

    def go_on(self, target: str) -> bytes:
        """Return the page that goes on by itself to another page of this server."""
        return rendered("goon", target=target)

    async def static(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer with the style of these pages."""
        await _STATIC(scope, receive, send)


async def static(request: Request) -> Response:
    """Answer with one of the files in `STATIC`."""
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    return Response(static_file(name), media_type=STATIC[name])


STATIC_ROUTE = Route(f"{OPEN_PATHS[0]}{{name}}", static)
_STATIC = Starlette(routes=[STATIC_ROUTE], exception_handlers={HTTPException: http_error})
