"""The plan of one serving process, and the application made of it."""

from __future__ import annotations

import logging
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.store.place import place_of
from sat_retriever.records.permissions import OWNER, Principals
from sat_retriever.serve.access import Access, SignInPages, SignInWays, Tokens
from sat_retriever.serve.asgi import App
from sat_retriever.serve.guard import Guard
from sat_retriever.serve.limits import HTTP_PATH, RATE, Counts, client_of
from sat_retriever.serve.oidc import Oidc, Provider
from sat_retriever.serve.sessions import Sessions
from sat_retriever.serve.tokens import OneToken, Token, TokenFile
from sat_retriever.serve.trusted import HeaderWay, TrustedHeader
from sat_retriever.text.oneline import escaped

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from sat_retriever.serve.audiences import Seeing
    from sat_retriever.serve.metrics import Place
    from sat_retriever.serve.service import Service
    from sat_retriever.tools import SheetTools

STOP_S = 10.0
ANSWER_S = 300.0
_PREPARED = 8  # applications for tokens that are made before the first request

_logger = logging.getLogger(__name__)


class _OneLine(logging.Formatter):
    """Writes a message on one line, whatever a request put into it; a traceback follows."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        return escaped(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802
        return "\n".join(map(escaped, super().formatException(ei).split("\n")))


def log_warnings() -> None:
    """Write warnings of a server to standard error, each with its time."""
    handler = logging.StreamHandler(sys.stderr)
    form = "%(asctime)s %(levelname)s:%(name)s:%(message)s"
    handler.setFormatter(_OneLine(form, "%Y-%m-%dT%H:%M:%S%z"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)


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
        token: The one token of all who may in.
        tokens: File with a token for each who may in.
        oidc: Sign-in at a provider.
        header: Sign-in by a proxy.
        groups: Of those who have `token`, or of all where nobody signs in; None if none are named.
        owner: True if these see all sheets.
        secret: Signs the sessions of browsers.
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
    tokens: str | None = None
    oidc: Oidc | None = None
    header: TrustedHeader | None = None
    groups: Sequence[str] | None = None
    owner: bool = False
    secret: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)
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

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Plan:
        """Return a plan from its plain values."""
        oidc, header = data["oidc"], data["header"]
        return cls(
            **{**data, "oidc": oidc and Oidc(**oidc), "header": header and TrustedHeader(**header)}
        )

    @property
    def signs_in(self) -> bool:
        """True if requests are answered only for those who have signed in."""
        return any((self.token, self.tokens, self.oidc, self.header))

    @property
    def principals(self) -> Principals | None:
        """Those who have the one token, or all where nobody signs in."""
        return OWNER if self.owner else self.groups


@contextmanager
def service_of(
    plan: Plan, counts: int = -1, place: Place | None = None
) -> Iterator[tuple[Service, int]]:
    """Open a plan's index and load its models; give the application and the number of sheets.

    Args:
        counts: See `Counts`.
        place: Where one of several processes counts what `/metrics` shows.
    """
    from starlette.routing import Mount, Route

    from sat_retriever.serve.audiences import Audiences
    from sat_retriever.serve.service import Service
    from sat_retriever.serve.watching import watching
    from sat_retriever.tools import SheetTools

    with SheetIndex.open(plan.index) as index, watching(plan, index, place) as seen:
        ways = _ways(plan)
        nobody = plan.principals is None and (plan.token or not plan.signs_in)
        if index.is_restricted and nobody:
            raise InputError(
                f"{place_of(plan.index)} has permissions: name the groups of each token in a file "
                "and add --tokens FILE; or --as GROUP, or --as-owner, for all who reach the server"
            )
        tools = SheetTools(index, reranker=plan.reranker)
        routes: list[str] = []

        def made(seeing: Seeing) -> App:
            own = tools if seeing is None else tools.seen_by(seeing)
            own.index.warm_up()
            app = _app(own, plan)
            routes[:] = [route.path for route in app.routes if isinstance(route, Route | Mount)]
            return app

        audiences = Audiences(index, made, () if plan.signs_in else plan.principals)
        sheets = 0
        for each in _expected(plan, ways):
            audiences.prepare(each)
            view = index if each is None else index.seen_by(each)
            sheets = max(sheets, len(view))
        within = Counts(counts, plan.salt)
        app: App = seen.of_owners(audiences)
        if plan.signs_in:
            app = Access(app, ways, Sessions(plan.secret), within, _pages(plan, ways))
        guarded = Guard(plan.names, plan.rate).around(seen.of_this_machine(app), within)
        yield Service(seen.of_all(guarded, routes), view.warm_up), sheets


def _ways(plan: Plan) -> SignInWays:
    tokens: Tokens | None = None
    if plan.token is not None:
        groups = None if plan.groups is None else tuple(plan.groups)
        tokens = OneToken(Token.of(plan.token, "the token", groups, owner=plan.owner))
    elif plan.tokens is not None:
        tokens = TokenFile(Path(plan.tokens), partial(_logger.warning, "%.500s"))
    provider = Provider(plan.oidc) if plan.oidc else None
    if provider is not None:
        provider.warn_if_away()
    return SignInWays(tokens, provider, HeaderWay(plan.header) if plan.header else None)


def _expected(plan: Plan, ways: SignInWays) -> list[Principals | None]:
    """Return for whom an application is made before the first request."""
    if not plan.signs_in:
        return [plan.principals]
    tokens = [each.identity().principals for each in ways.tokens.tokens()] if ways.tokens else []
    return tokens[:_PREPARED] or [()]


def _pages(plan: Plan, ways: SignInWays) -> SignInPages | None:
    if not plan.page:
        return None
    from sat_retriever.serve.signinpages import HtmlPages

    host = ways.provider.host if ways.provider else ""
    return HtmlPages(ways.tokens is not None, host, ways.header is not None)


def _app(tools: SheetTools, plan: Plan) -> Starlette:
    if not plan.page:
        from sat_retriever.tools.mcp import http_app, sheet_server

        server = sheet_server(tools, processes=plan.workers, client_of=client_of)
        return http_app(server, HTTP_PATH)
    from sat_retriever.answer.retriever import SheetRetriever
    from sat_retriever.llm.chat import Chat
    from sat_retriever.serve.app import web_app
    from sat_retriever.serve.asking import Asking

    retriever = SheetRetriever(tools.index, plan.reranker)
    asking = None
    if plan.llm is not None:
        chat = Chat(plan.llm, plan.llm_url, timeout_s=plan.answer_s, num_ctx=plan.num_ctx)
        asking = Asking(retriever, chat, max_tokens=plan.num_ctx // 2, seconds=plan.answer_s)
    return web_app(
        tools,
        retriever,
        processes=plan.workers,
        signed=plan.signs_in,
        open_files=OpenFiles(plan.open_files or OpenFiles.OFF),
        asking=asking,
    )
