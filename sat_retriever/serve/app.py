"""The web application over an index: its pages, the API, and the tools over MCP."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial

from sat_retriever._extras import require
from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.errors import SatError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.jsonform import to_json
from sat_retriever.serve.access import SIGN_IN
from sat_retriever.serve.answerpage import AnswerPage
from sat_retriever.serve.api import Api
from sat_retriever.serve.asking import Asking
from sat_retriever.serve.blocks import BlockReader
from sat_retriever.serve.facets import Facets, LatestFacets
from sat_retriever.serve.foundlists import FoundList, FoundLists
from sat_retriever.serve.graphpage import graph_page
from sat_retriever.serve.grid import Grid
from sat_retriever.serve.limits import HTTP_PATH, client_of
from sat_retriever.serve.pieces import Piece, piece_of, preview_of, record_of
from sat_retriever.serve.plan import OpenFiles
from sat_retriever.serve.request import PageError
from sat_retriever.serve.responses import (
    HTML,
    answered,
    http_error,
    json_response,
    rendered,
)
from sat_retriever.serve.searchform import SearchForm
from sat_retriever.serve.searchpage import search_page
from sat_retriever.serve.sheetpage import Steps, sheet_page, steps_in, table_file
from sat_retriever.serve.signinpages import STATIC_ROUTE
from sat_retriever.serve.workbookfile import Ways, given_out, open_here
from sat_retriever.text.period.spans import asked_on
from sat_retriever.tools.mcp import http_app, sheet_server
from sat_retriever.tools.sheettools import SheetTools
from sat_retriever.tools.work import BusyError, Searches, Workers
from sat_retriever.workbook.typed import TableFormat

try:
    from markupsafe import Markup
except ModuleNotFoundError:
    require("jinja2", "serve")  # names the extra to install
    raise

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import RedirectResponse, Response, StreamingResponse
    from starlette.routing import Route
except ModuleNotFoundError:
    require("starlette", "serve")  # names the extra to install
    raise

SEARCHES_WAITING = 256
READS_AT_ONCE, READS_WAITING = 2, 64  # each opens a workbook in a process
_logger = logging.getLogger(__name__)
_KINDS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
Page = Callable[..., Response]  # of a query string, and what was found before
Run = Callable[..., Awaitable[Response]]  # a page, in a thread


class Pages:
    """Answers the requests for pages.

    Args:
        retriever: Finds sheets; its index must stay open as long as this is used.
        searches: Threads that search its index.
        signed: True if people sign in, so that the pages have a button to sign out.
        asks: True if a language model answers, so that the page has a button to ask it.
        open_files: What may be done with whole workbooks.
    """

    def __init__(
        self,
        retriever: SheetRetriever,
        searches: Searches,
        *,
        signed: bool = False,
        asks: bool = False,
        open_files: OpenFiles = OpenFiles.OFF,
    ) -> None:
        self._lists = FoundLists(retriever)
        self._index: SheetIndex = retriever.index
        self._facets = LatestFacets(self._index)
        self._folders: tuple[Facets | None, Markup] = (None, Markup())
        self._reader = BlockReader(self._index)
        self._signed = signed
        self._asks = asks
        self._open_files = open_files
        # Forms to sign out, and to open files, must be able to name their own origin.
        forms = signed or self._ways().desktop
        self._headers = {"referrer-policy": "same-origin"} if forms else {}
        self._searches = searches
        self._reads = Workers(READS_AT_ONCE, READS_WAITING)

    def routes(self) -> list[Route]:
        """Return the addresses of the pages; each answers GET and HEAD alone, `/open` POST.

        With `.json` a page is what its template would show, as JSON.
        """
        pages: dict[str, tuple[Run, Page]] = {
            "/": (self._searching, self._search),
            "/search.json": (self._searching, self._search_json),
            "/sheet": (self._reading, self._sheet),
            "/sheet.json": (self._reading, self._sheet_json),
            "/rows": (self._reads.run, self._rows),
            "/rows.json": (self._reads.run, lambda given: _json(self._piece(given))),
            "/preview": (self._reads.run, self._preview),
            "/preview.json": (self._reads.run, lambda given: _json(self._grid(given))),
            "/table.csv": (self._reads.run, partial(self._table, "csv")),
            "/table.json": (self._reads.run, partial(self._table, "json")),
            "/workbook": (self._reads.run, self._workbook),
            "/graph": (self._reads.run, self._graph),
        }
        return [
            *(
                Route(path, partial(answered, partial(_called, *how)))
                for path, how in pages.items()
            ),
            Route("/open", partial(answered, self._opened), methods=["POST"]),
        ]

    async def _searching(self, page: Page, given: Mapping[str, str], *, client: str) -> Response:
        question = given.get("q", "").strip()
        return await self._searches.run(page, given, question=question, client=client)

    async def _reading(self, page: Page, given: Mapping[str, str], *, client: str) -> Response:
        """Answer with a sheet, and its place among those that the search before it found."""
        steps, form = None, SearchForm.of(given)
        if form.q:
            try:
                steps = steps_in(await self._found(form, client), given.get("id", ""), form.asked)
            except (SatError, BusyError) as error:  # the sheet can be read without it
                _logger.warning("the search before a sheet failed: %.500s", error)
        return await self._reads.run(page, given, steps, client=client)

    async def _found(self, form: SearchForm, client: str) -> FoundList:
        """Return what a search finds: as it was found before, or by a search."""
        known = await self._reads.run(self._lists.known, form, client=client)
        if known is not None:
            return known
        _hits, found = await self._searches.run(
            self._lists.search, form, asked_on(None), question=form.q, client=client
        )
        return found

    def _search(self, given: Mapping[str, str]) -> Response:
        form = SearchForm.of(given)
        status, error = 200, None
        try:
            found = search_page(self._lists, form)
        except PageError as raised:  # the form stays, so that it can be corrected
            found, status, error = search_page(self._lists, SearchForm()), 400, raised.message
        facets = self._facets.get()
        shown = rendered(
            "search",
            page=found,
            form=form,
            facets=facets,
            folders=self._folders_in(facets),
            error=error,
            signed=self._signed,
            asks=self._asks,
            ways=self._ways(),
        )
        return Response(shown, status, self._headers, media_type=HTML)

    def _folders_in(self, facets: Facets) -> Markup:
        """Return the folders to choose from, written anew only after a change."""
        if self._folders[0] is not facets:
            self._folders = facets, Markup(rendered("folders", facets=facets).decode())  # noqa: S704 - of a template
        return self._folders[1]

    def _search_json(self, given: Mapping[str, str]) -> Response:
        return _json(search_page(self._lists, SearchForm.of(given)))

    def _sheet(self, given: Mapping[str, str], steps: Steps | None) -> Response:
        found = sheet_page(self._index, self._reader, given, steps)
        shown = rendered("sheet", page=found, signed=self._signed, ways=self._ways())
        return Response(shown, found.status, self._headers, media_type=HTML)

    def _sheet_json(self, given: Mapping[str, str], steps: Steps | None) -> Response:
        found = sheet_page(self._index, self._reader, given, steps)
        if found.problem:
            raise PageError(found.status, found.problem)
        return _json(found)

    def _piece(self, given: Mapping[str, str]) -> Piece:
        return piece_of(record_of(self._index, given), self._reader, given)

    def _rows(self, given: Mapping[str, str]) -> Response:
        return Response(rendered("rows", piece=self._piece(given)), media_type=HTML)

    def _grid(self, given: Mapping[str, str]) -> Grid:
        return preview_of(self._index, self._reader, given)

    def _preview(self, given: Mapping[str, str]) -> Response:
        return Response(rendered("preview", grid=self._grid(given)), media_type=HTML)

    def _table(self, form: TableFormat, given: Mapping[str, str]) -> Response:
        lines, headers = table_file(self._index, given, form)
        return StreamingResponse(lines, media_type=_KINDS[form], headers=headers)

    def _graph(self, given: Mapping[str, str]) -> Response:
        page, headers = graph_page(self._index, given)
        return Response(page.encode("utf-8", "replace"), headers=headers, media_type=HTML)

    def _ways(self) -> Ways:
        return Ways.of(self._index, self._open_files)

    def _workbook(self, given: Mapping[str, str]) -> Response:
        data, headers = given_out(self._index, self._ways(), given)
        return StreamingResponse(data, media_type="application/octet-stream", headers=headers)

    async def _opened(self, request: Request) -> Response:
        """Answer without a page, so that the browser stays on the one that it shows."""
        form, client = await request.body(), client_of(request.scope)
        ways = self._ways()
        await self._reads.run(open_here, self._index, ways, form, request.scope, client=client)
        return Response(status_code=204)


def web_app(
    tools: SheetTools,
    retriever: SheetRetriever,
    *,
    processes: int = 1,
    signed: bool = False,
    open_files: OpenFiles = OpenFiles.OFF,
    asking: Asking | None = None,
) -> Starlette:
    """Return an application of the pages, the API and MCP; its lifespan must run.

    Args:
        signed: True if people and programs need a token.
        open_files: What may be done with whole workbooks.
        asking: Answers questions in words; None without a language model.
    """
    server = sheet_server(tools, processes=processes, client_of=client_of)
    programs = http_app(server, HTTP_PATH)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with programs.router.lifespan_context(programs):
            yield

    searches = Searches(tools.index, processes, SEARCHES_WAITING)
    own = [
        *Pages(
            retriever, searches, signed=signed, asks=asking is not None, open_files=open_files
        ).routes(),
        *([AnswerPage(asking).route()] if asking else []),
        *Api(tools, searches, asking, signed=signed).routes(),
        STATIC_ROUTE,
        Route(SIGN_IN, _start),
    ]
    return Starlette(
        routes=[*own, *programs.routes],
        lifespan=lifespan,
        exception_handlers={HTTPException: http_error},
    )


async def _called(run: Run, page: Page, request: Request) -> Response:
    return await run(page, request.query_params, client=client_of(request.scope))


def _json(shown: object) -> Response:
    return json_response(to_json(shown))


async def _start(_request: Request) -> Response:
    """Lead a browser that is signed in, or need not be, to the start page."""
    return RedirectResponse("/", 303)
