"""The tools as JSON over HTTP: their addresses, requests and answers.

A tool's own arguments are those of its address, and its answer is the response; `openapi`
describes both.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any
from urllib.parse import parse_qsl

from sat_retriever._extras import install_command, require
from sat_retriever.errors import InputError, PathNotFoundError, UnknownSheetError
from sat_retriever.serve.asking import Asking
from sat_retriever.serve.limits import OPENAPI, client_of
from sat_retriever.serve.openapi import Endpoint, openapi
from sat_retriever.serve.request import PageError
from sat_retriever.serve.responses import answered, json_response
from sat_retriever.tools.sheettools import SheetTools
from sat_retriever.tools.tool import Tool
from sat_retriever.tools.work import Searches, Workers

try:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
except ModuleNotFoundError:
    require("starlette", "serve")  # names the extra to install
    raise

# What a URL holds may be written to a proxy's log, so queries, cells and questions to a language
# model are sent as a body. A search can be kept as an address, as on the page.
ENDPOINTS = (
    Endpoint("GET", "/api/search", "find_sheets"),
    Endpoint("GET", "/api/sheets/{sheet}", "describe_sheet"),
    Endpoint("GET", "/api/related", "related_sheets"),
    Endpoint("GET", "/api/status", "index_status"),
    Endpoint("POST", "/api/table", "read_range"),
    Endpoint("POST", "/api/cells", "search_cells"),
    Endpoint("POST", "/api/sql", "query_tables"),
    Endpoint("POST", "/api/ask", "ask"),
)
MAX_TOKENS = 50_000  # of the cells of one answer: a program reads more than a language model
_CALLS_AT_ONCE, _CALLS_WAITING = 4, 128
_MOST_DIGITS = 300  # of a number; a float has fewer
_ABSENT = {
    "query_tables": f"This server cannot run SQL; install it there: {install_command('sql')}",
    "ask": "This server has no language model; start it with --llm MODEL.",
}
_STATUS: Mapping[type[InputError], int] = {UnknownSheetError: 404, PathNotFoundError: 410}


class Api:
    """Answers the requests of programs.

    Args:
        searches: Threads that search the tools' index.
        asking: Answers questions in words; None without a language model.
        signed: True if programs need a token.
    """

    def __init__(
        self, tools: SheetTools, searches: Searches, asking: Asking | None, *, signed: bool
    ) -> None:
        own = SheetTools(
            tools.index, tools.reranker, max_tokens=MAX_TOKENS, today=tools.today
        ).tools()
        words = (Tool.of(asking.ask),) if asking else ()
        self._tools = {tool.name: tool for tool in (*own, *words)}
        self._searches = searches
        self._calls = Workers(_CALLS_AT_ONCE, _CALLS_WAITING)
        self._asking = asking
        self._signed = signed

    def routes(self) -> list[Route]:
        """Return the addresses; each takes one method alone."""
        found = [Route(OPENAPI, partial(answered, self._described), methods=["GET"])]
        for each in ENDPOINTS:
            path = each.path.replace("}", ":path}")  # a sheet's id has slashes
            answer = partial(answered, partial(self._called, each))
            found.append(Route(path, answer, methods=[each.method]))
        return found

    async def _described(self, _request: Request) -> Response:
        return json_response(self._openapi)

    @cached_property
    def _openapi(self) -> Mapping[str, Any]:
        there = [(each, self._tools[each.tool]) for each in ENDPOINTS if each.tool in self._tools]
        return openapi(there, signed=self._signed)

    async def _called(self, endpoint: Endpoint, request: Request) -> Response:
        tool = self._tools.get(endpoint.tool)
        if tool is None:
            raise PageError(501, _ABSENT[endpoint.tool])
        given = query_of(request) if endpoint.method == "GET" else await body_of(request)
        client = client_of(request.scope)
        if tool.name == "find_sheets":
            asked = given.get("question")
            return await self._searches.run(_run, tool, given, question=asked, client=client)
        asking = self._asking
        threads = asking.threads if asking and tool.name == "ask" else self._calls
        return await threads.run(_run, tool, given, client=client)


def _run(tool: Tool, given: Mapping[str, Any]) -> Response:
    try:
        return json_response(tool.run(**given).to_dict())
    except InputError as error:  # in the tool's words, which help to mend the request
        status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 422)
        raise PageError(status, str(error)) from error


def query_of(request: Request) -> dict[str, Any]:
    """Return the arguments in a request's address."""
    try:
        text = request.scope["query_string"].decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError as error:
        raise PageError(400, "The query string is not UTF-8.") from error
    return _once([*pairs, *request.path_params.items()])


async def body_of(request: Request) -> dict[str, Any]:
    """Return the arguments in a request's body, a JSON object."""
    kind, _, parameters = request.headers.get("content-type", "").lower().partition(";")
    charset = parameters.replace('"', "").replace(" ", "")
    if kind.strip() != "application/json" or charset not in ("", "charset=utf-8"):
        raise PageError(415, "Send JSON in UTF-8, with the header Content-Type: application/json.")
    if request.headers.get("content-encoding", "identity") != "identity":
        raise PageError(415, "Send the body as it is, without Content-Encoding.")
    try:
        found = json.loads(
            (await request.body()).decode("utf-8"),
            object_pairs_hook=_once,
            parse_constant=_no_number,
            parse_float=_float,
            parse_int=_int,
        )
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise PageError(400, "The body is not UTF-8.") from error
    except UnicodeEncodeError as error:
        raise PageError(400, "The body has half of a surrogate pair, which is no text.") from error
    except RecursionError as error:
        raise PageError(400, "The body's brackets are nested too deeply.") from error
    except ValueError as error:
        raise PageError(400, f"The body is not JSON: {error}.") from error
    if not isinstance(found, dict):
        raise PageError(400, "The body is no JSON object of arguments, such as {}.")
    return found


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise PageError(400, f"{twice[:80]!r} is given twice.")
    return found


def _no_number(text: str) -> float:
    raise PageError(400, f"{text} is no number in JSON.")


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise PageError(400, f"The number {text[:40]} is too large.")
    return number


def _int(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise PageError(400, f"The number {text[:40]}… is too large.")
    return int(text)
