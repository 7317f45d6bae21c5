"""Responses: pages of templates, values as JSON, and errors as one sentence in either form.

Every text in a template is escaped.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

from sat_retriever._extras import require
from sat_retriever.errors import (
    EncoderError,
    FingerprintMismatchError,
    IndexBusyError,
    LanguageModelError,
    SatError,
)
from sat_retriever.pages.onepage import unturned
from sat_retriever.serve.asgi import PROBLEM, problem, wants_json
from sat_retriever.serve.request import PageError, graph_url, sheet_url, workbook_url
from sat_retriever.serve.searchform import SearchForm
from sat_retriever.tools.cells import cell_text
from sat_retriever.tools.work import BusyError, ShareError

try:
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import Response
except ModuleNotFoundError:
    require("starlette", "serve")  # names the extra to install
    raise

try:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
except ModuleNotFoundError:
    require("jinja2", "serve")  # names the extra to install
    raise

HTML = "text/html; charset=utf-8"
STATIC = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "answer.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_PAGES = Path(__file__).parent / "pages"
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
    (
        LanguageModelError,
        502,
        "The language model cannot be reached, or fails; try again in a moment. The server's log "
        "on stderr has the reason.",
    ),
)

_BETWEEN_TAGS = re.compile(">[^<]*[\u202a-\u202e\u2066-\u2069][^<]*")

_logger = logging.getLogger(__name__)


async def answered(answer: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
    """Return the response to a request, or that of its failure, which tells nothing of the machine.

    A program gets an error as JSON, a person as a page.
    """
    path = request.url.path
    try:
        return await answer(request)
    except PageError as error:
        return error_response(path, error.status, error.message, error.names)
    except (BusyError, SatError) as error:
        if isinstance(error, SatError):  # may name files of this machine
            _logger.warning("%s failed: %.500s", path, error)
        for kind, status, message in _TOLD:
            if isinstance(error, kind):
                return error_response(path, status, message)
    except Exception:
        _logger.exception("%s failed", path)
    return error_response(path, 500, "The server failed; its log on stderr has the reason.")


def error_response(path: str, status: int, message: str, names: tuple[str, ...] = ()) -> Response:
    """Return an error: a sentence, and names that may have been meant."""
    headers = {"retry-after": "1"} if status in (429, 502, 503) else {}
    if wants_json(path):
        more = {"names": names} if names else {}
        return Response(problem(status, message, **more), status, headers, media_type=PROBLEM)
    shown = rendered("error", status=status, message=message, names=names)
    return Response(shown, status, headers, media_type=HTML)


async def http_error(request: Request, error: Exception) -> Response:
    """Return the response to a request that no route takes."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = getattr(error, "headers", None) or {}
    taken = " and ".join(sorted(headers.get("Allow", "").split(", ")))
    says = {
        404: "There is no page at this address.",
        405: f"This address takes {taken} only.",
    }
    message = says.get(status, "This request cannot be answered.")
    answer = error_response(request.url.path, status, message)
    answer.headers.update(headers)
    return answer


def json_response(value: object) -> Response:
    """Return plain JSON values; what is no Unicode in a name becomes a question mark."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), media_type="application/json")


def rendered(template: str, **shown: Any) -> bytes:
    """Return a page in UTF-8; what is no Unicode in a name becomes a question mark.

    No text in it turns the direction of writing. Attributes keep what they hold: forms send it.
    """
    text = _environment().get_template(f"{template}.html").render(**shown)
    text = _BETWEEN_TAGS.sub(lambda found: unturned(found[0]), text)
    return text.encode("utf-8", "replace")


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
    made.filters["cell_text"] = cell_text
    made.filters["sheet_url"] = sheet_url
    made.filters["workbook_url"] = workbook_url
    made.filters["graph_url"] = graph_url
    made.filters["search_url"] = lambda question: SearchForm(q=question).url()
    return made
