"""The plan of one serving process, and the application made of it."""

from __future__ import annotations

import logging
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.store.place import place_of
from sat_retriever.records.permissions import OWNER
from sat_retriever.serve.access import Audience, SignInPage
from sat_retriever.serve.asgi import App
from sat_retriever.serve.guard import Guard
from sat_retriever.serve.limits import HTTP_PATH, RATE, Counts, client_of

if TYPE_CHECKING:
    from sat_retriever.serve.metrics import Place
    from sat_retriever.serve.service import Service
    from sat_retriever.tools import SheetTools

STOP_S = 10.0
ANSWER_S = 300.0


def log_warnings() -> None:
    """Write warnings of a server to standard error, each with its time."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING,
        format="%(asctime)s %(levelname)s:%(name)s:%(message)s",
        datefmt="%Y-%m-%dT%H:%M:%S%z",
    )


class OpenFiles(StrEnum):
    """What a server does with whole workbooks; each allows what the one before it does."""

    OFF = "off"
    DOWNLOAD = "download"
    DESKTOP = "desktop"


class AuditFailure(StrEnum):
    """What a server does with a request whose line the audit log does not take."""

    REFUSE = "refuse"
    CONTINUE = "continue"


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a process needs to know to serve an index.

    Attributes:
        index: Path or URL of the index, which may hold a password.
        page: True serves the page and MCP; False serves MCP alone.
        proxies: Addresses of proxies whose word on their clients counts.
        audiences: Each with its token, in an index with permissions; none is all who have `token`.
        salt: Secret that the processes count clients by.
        open_files: What may be done with whole workbooks; None is what fits the address.
        llm: Language model that answers in words; None for none.
        num_ctx: Its context in tokens.
        answer_s: Most seconds of one answer in words.
        audit: File of the audit log; None for none.
        audit_questions: True if it has the words of questions and SQL.
        access_log: File of the access log, "-" for standard error; None for none.
    """

    index: str = field(repr=False)
    reranker: str | None
    page: bool
    names: Sequence[str]
    token: str | None = field(default=None, repr=False)
    rate: float = RATE
    proxies: Sequence[str] = ()
    workers: int = 1
    stop_s: float = STOP_S
    audiences: Sequence[Audience] = field(default=(), repr=False)
    salt: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    open_files: OpenFiles | None = None
    llm: str | None = None
    llm_url: str | None = field(default=None, repr=False)
    num_ctx: int = 8192
    answer_s: float = ANSWER_S
    audit: str | None = None
    audit_questions: bool = True
    audit_failure: AuditFailure = AuditFailure.REFUSE
    access_log: str | None = None

    @property
    def a_token(self) -> str | None:
        """A token that requests need; None if they need none."""
        return self.audiences[0][0] if self.audiences else self.token


@contextmanager
def service_of(
    plan: Plan, counts: int = -1, place: Place | None = None
) -> Iterator[tuple[Service, int]]:
    """Open a plan's index and load its models; give the application and the number of sheets.

    Args:
        counts: See `Counts`.
        place: Where one of several processes counts what `/metrics` shows.
    """
    from sat_retriever.serve.service import Service
    from sat_retriever.serve.watching import watching
    from sat_retriever.tools import SheetTools

    with SheetIndex.open(plan.index) as index, watching(plan, index, place) as seen:
        audiences = plan.audiences or ((plan.token, None, False),)
        if index.is_restricted and any((each[1], each[2]) == (None, False) for each in audiences):
            raise InputError(
                f"{place_of(plan.index)} has permissions: name the groups of each token in a file "
                "and add --tokens FILE; or --as GROUP, or --as-owner, for all who reach the server"
            )
        tools = SheetTools(index, reranker=plan.reranker)
        apps: dict[str | None, App] = {}
        sheets = 0
        for token, groups, owner in audiences:
            principals = OWNER if owner else groups
            own = tools if principals is None else tools.seen_by(principals)
            app, sign_in = _app(own, plan)
            apps[token] = seen.of_one(app, token, principals)
            own.index.warm_up()
            sheets = max(sheets, len(own.index))
        guard = Guard(plan.names, plan.rate)
        shared = Counts(counts, plan.salt)
        guarded = guard.around(apps, shared, sign_in, seen.of_this_machine)
        yield Service(seen.of_all(guarded, app), own.index.warm_up), sheets


def _app(tools: SheetTools, plan: Plan) -> tuple[App, SignInPage | None]:
    if not plan.page:
        from sat_retriever.tools.mcp import http_app, sheet_server

        server = sheet_server(tools, processes=plan.workers, client_of=client_of)
        return http_app(server, HTTP_PATH), None
    from sat_retriever.answer.retriever import SheetRetriever
    from sat_retriever.llm.chat import Chat
    from sat_retriever.serve.app import web_app
    from sat_retriever.serve.asking import Asking
    from sat_retriever.serve.responses import sign_in_page

    retriever = SheetRetriever(tools.index, plan.reranker)
    asking = None
    if plan.llm is not None:
        chat = Chat(plan.llm, plan.llm_url, timeout_s=plan.answer_s, num_ctx=plan.num_ctx)
        asking = Asking(retriever, chat, max_tokens=plan.num_ctx // 2, seconds=plan.answer_s)
    signed = plan.a_token is not None
    app = web_app(
        tools,
        retriever,
        processes=plan.workers,
        signed=signed,
        open_files=OpenFiles(plan.open_files or OpenFiles.OFF),
        asking=asking,
    )
    return app, sign_in_page
