"""The answer in words above the sheets found, which the page asks for when they are shown."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from urllib.parse import parse_qsl

from sat_retriever._extras import require
from sat_retriever.errors import InputError
from sat_retriever.records.area import area_of, column_letters
from sat_retriever.records.sheetanswer import SheetAnswer
from sat_retriever.serve.asking import Asking
from sat_retriever.serve.limits import client_of
from sat_retriever.serve.request import PageError, sheet_url
from sat_retriever.serve.responses import HTML, answered, rendered
from sat_retriever.serve.searchform import SearchForm

try:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
except ModuleNotFoundError:
    require("starlette", "serve")  # names the extra to install
    raise

ANSWER = "/answer"
_ROWS = 20  # of a result that are shown


class AnswerPage:
    """Answers the question of a search page in words, as a piece of that page."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    def route(self) -> Route:
        """Return its address; a question to a language model is sent as a body."""
        return Route(ANSWER, partial(answered, self._answered), methods=["POST"])

    async def _answered(self, request: Request) -> Response:
        try:
            given = dict(parse_qsl((await request.body()).decode("ascii"), errors="strict"))
        except UnicodeDecodeError as error:
            raise PageError(400, "The form is not UTF-8.") from error
        form = SearchForm.of(given)
        return await self._asking.threads.run(self._piece, form, client=client_of(request.scope))

    def _piece(self, form: SearchForm) -> Response:
        try:
            found = self._asking.answer(form.q, form.filters())
        except InputError as error:
            raise PageError(400, f"{error}.") from error
        result = found.result
        rows = result.rows[:_ROWS] if result else ()
        shown = rendered(
            "answer",
            answer=found,
            result=result,
            rows=rows,
            more=len(result.rows) - len(rows) if result else 0,
            citations=list(_links(found)),
        )
        return Response(shown, media_type=HTML)


def _links(found: SheetAnswer) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each sheet that is cited, with the ranges of it and their addresses."""
    ids = {hit.record.cited: hit.sheet_id for hit in found.hits}
    for citation in found.citations:
        sheet, _mark, ranges = citation.rpartition("!")
        if sheet not in ids:
            yield citation, []
            continue
        links = []
        for each in ranges.split(","):
            if area := area_of(each):
                first = f"{column_letters(area.left)}{area.top}"
                url = sheet_url(ids[sheet], row=area.top, column=area.left, cells=[first])
                links.append((each, url))
        yield sheet, links
