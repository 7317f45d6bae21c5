"""The web application over an index: its routes, its templates, and what an error looks like.

Every text in a template is escaped.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from sat_retriever._extras import require
from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.errors import (
    EncoderError,
    FingerprintMismatchError,
    IndexBusyError,
    SatError,
)
from sat_retriever.index.index import SheetIndex
from sat_retriever.serve.access import SIGN_IN
from sat_retriever.serve.blocks import BlockReader
from sat_retriever.serve.facets import LatestFacets
from sat_retriever.serve.limits import HTTP_PATH, client_of
from sat_retriever.serve.pieces import piece_of, preview_of, record_of
from sat_retriever.serve.request import PageError, sheet_url
from sat_retriever.serve.searchpage import ROLES, SearchForm, search_page
from sat_retriever.serve.sheetpage import sheet_page, table_file
from sat_retriever.tools.mcp import http_app, sheet_server
from sat_retriever.tools.sheettools import SheetTools
from sat_retriever.tools.work import BusyError, Searches, ShareError, Workers

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import RedirectResponse, Response, StreamingResponse
    from starlette.routing import Route
except ModuleNotFoundError:
    require("starlette", "serve")  # names the extra to install
    raise

try:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
except ModuleNotFoundError:
    require("jinja2", "serve")  # names the extra to install
    raise


SEARCHES_WAITING = 256
READS_AT_ONCE, READS_WAITING = 2, 64  # each opens a workbook in a process
_HTML = "text/html; charset=utf-8"
_CSV = "text/csv; charset=utf-8"
_TOLD: tuple[tuple[type[Exception], int, str], ...] = (  # the first kind that fits
    (ShareError, 429, "Too many of your requests wait already; try again in a moment."),
    (BusyError, 503, "The server is busy; try again in a moment."),
    (IndexBusyError, 503, "The index is being written to; try again in a moment."),
    (
        FingerprintMismatchError,
        503,
        "The index was encoded anew; the server has to be restarted.",
    ),
    (
        EncoderError,
        502,
        "The encoder of this index cannot be reached, or fails; try again in a moment. The "
        "server's log on stderr has the reason.",
    ),
)

Page = Callable[[Mapping[str, str]], Response]
Run = Callable[..., Awaitable[Response]]  # a page, in a thread

_logger = logging.getLogger(__name__)
_PAGES = Path(__file__).parent / "pages"
STATIC = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


class Pages:
    """Answers the requests for pages.

    Args:
        retriever: Finds sheets; its index must stay open as long as this is used.
        signed: True if people sign in, so that the pages have a button to sign out.
    """

    def __init__(
        self, retriever: SheetRetriever, *, processes: int = 1, signed: bool = False
    ) -> None:
        self._retriever = retriever
        self._index: SheetIndex = retriever.index
        self._facets = LatestFacets(self._index)
        self._reader = BlockReader(self._index)
        self._signed = signed
        # The form to sign out must be able to name its own origin.
        self._headers = {"referrer-policy": "same-origin"} if signed else {}
        self._searches = Searches(self._index, processes, SEARCHES_WAITING)
        self._reads = Workers(READS_AT_ONCE, READS_WAITING)

    def routes(self) -> list[Route]:
        """Return the addresses of the pages; each answers GET and HEAD alone."""
        pages: dict[str, tuple[Run, Page]] = {
            "/": (self._searching, self._search),
            "/sheet": (self._reads.run, self._sheet),
            "/rows": (self._reads.run, self._rows),
            "/preview": (self._reads.run, self._preview),
            "/table.csv": (self._reads.run, self._table),
        }
        return [Route(path, partial(_answered, *how)) for path, how in pages.items()]

    async def _searching(self, page: Page, given: Mapping[str, str], *, client: str) -> Response:
        question = given.get("q", "").strip()
        return await self._searches.run(page, given, question=question, client=client)

    def _search(self, given: Mapping[str, str]) -> Response:
        form = SearchForm.of(given)
        status, error = 200, None
        try:
            found = search_page(self._retriever, form)
        except PageError as raised:  # the form stays, so that it can be corrected
            found, status, error = search_page(self._retriever, SearchForm()), 400, raised.message
        shown = rendered(
            "search",
            page=found,
            form=form,
            facets=self._facets.get(),
            roles=ROLES,
            error=error,
            signed=self._signed,
        )
        return Response(shown, status, self._headers, media_type=_HTML)

    def _sheet(self, given: Mapping[str, str]) -> Response:
        found = sheet_page(self._index, self._reader, given)
        shown = rendered("sheet", page=found, signed=self._signed)
        return Response(shown, found.status, self._headers, media_type=_HTML)

    def _rows(self, given: Mapping[str, str]) -> Response:
        piece = piece_of(record_of(self._index, given), self._reader, given)
        return Response(rendered("rows", piece=piece), media_type=_HTML)

    def _preview(self, given: Mapping[str, str]) -> Response:
        grid = preview_of(self._index, self._reader, given)
        return Response(rendered("preview", grid=grid), media_type=_HTML)

    def _table(self, given: Mapping[str, str]) -> Response:
        lines, headers = table_file(self._index, given)
        return StreamingResponse(lines, media_type=_CSV, headers=headers)


def web_app(
    tools: SheetTools, retriever: SheetRetriever, *, processes: int = 1, signed: bool = False
) -> Starlette:
    """Return an application of the pages, and of the tools over MCP; its lifespan must run."""
    server = sheet_server(tools, processes=processes, client_of=client_of)
    programs = http_app(server, HTTP_PATH)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with programs.router.lifespan_context(programs):
            yield

    own = [
        *Pages(retriever, processes=processes, signed=signed).routes(),
        Route("/static/{name}", _static),
        Route(SIGN_IN, _start),
    ]
    return Starlette(
        routes=[*own, *programs.routes],
        lifespan=lifespan,
        exception_handlers={HTTPException: _http_error},
    )


async def _answered(run: Run, page: Page, request: Request) -> Response:
    try:
        return await run(page, request.query_params, client=client_of(request.scope))
    except PageError as error:
        return error_page(error.status, error.message, error.names)
    except (BusyError, SatError) as error:
        if isinstance(error, SatError):  # may name files of this machine
            _logger.warning("%s failed: %.500s", request.url.path, error)
        for kind, status, message in _TOLD:
            if isinstance(error, kind):
                return error_page(status, message)
    except Exception:
        _logger.exception("%s failed", request.url.path)
    return error_page(500, "The server failed; its log on stderr has the reason.")


def error_page(status: int, message: str, names: tuple[str, ...] = ()) -> Response:
    """Return the page of an error: a sentence, and names that may have been meant."""
    headers = {"retry-after": "1"} if status in (429, 502, 503) else {}
    shown = rendered("error", status=status, message=message, names=names)
    return Response(shown, status, headers, media_type=_HTML)


async def _http_error(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    says = {
        404: "There is no page at this address.",
        405: "This address takes GET and HEAD only.",
    }
    answer = error_page(status, says.get(status, "This request cannot be answered."))
    answer.headers.update(getattr(error, "headers", None) or {})
    return answer


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    return Response(static_file(name), media_type=STATIC[name])


async def _start(_request: Request) -> Response:
    """Lead a browser that is signed in, or need not be, to the start page."""
    return RedirectResponse("/", 303)


def rendered(template: str, **shown: Any) -> bytes:
    """Return a page in UTF-8; what is no Unicode in a name becomes a question mark."""
    text = _environment().get_template(f"{template}.html").render(**shown)
    return text.encode("utf-8", "replace")


def sign_in_page(target: str, wrong: bool) -> bytes:
    """Return the page on which a browser gives the token."""
    return rendered("signin", target=target, wrong=wrong)


@cache
def static_file(name: str) -> bytes:
    """Return one of the files in `STATIC`."""
    return (_PAGES / name).read_bytes()


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_PAGES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["number"] = lambda value: f"{value:,}"
    made.filters["sheet_url"] = sheet_url
    made.filters["search_url"] = lambda question: SearchForm(q=question).url()
    return made
