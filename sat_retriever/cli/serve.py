"""`sat serve` and `sat mcp`: an index as a page in the browser, and as tools over MCP."""

from __future__ import annotations

import os
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from sat_retriever._extras import require
from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    GroupsOption,
    IndexOption,
    LlmUrlOption,
    NumCtxOption,
    OwnerOption,
    RerankerOption,
    asking,
    chosen,
    examples,
    refuse_without_model,
)
from sat_retriever.cli.permissions import warn_of_idle
from sat_retriever.cli.signin import (
    CLAIM,
    SCOPE,
    AudienceOption,
    ClaimOption,
    ClientOption,
    HeaderGroupsOption,
    HeaderOption,
    IssuerOption,
    ProviderHostOption,
    ScopeOption,
    SecretOption,
    SignIn,
    TokenFileOption,
    TokensOption,
    TrustedFromOption,
)
from sat_retriever.cli.terminal import counted, plain, stderr
from sat_retriever.errors import InputError, PermissionsError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.store.place import Place, opens
from sat_retriever.rank.load import AUTO
from sat_retriever.records.permissions import OWNER, Principals
from sat_retriever.serve.limits import HTTP_PATH, OPENAPI, RATE
from sat_retriever.serve.plan import ANSWER_S, STOP_S, AuditFailure, OpenFiles, Plan, log_warnings

app = typer.Typer()


HostOption = Annotated[str, typer.Option(help="Address for HTTP.", metavar="HOST")]
PortOption = Annotated[
    int, typer.Option(min=0, max=65535, help="HTTP port; 0 selects a free one.", metavar="N")
]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(help="Another host name that HTTP clients use.", metavar="NAME"),
]
RateOption = Annotated[
    float,
    typer.Option(
        "--rate",
        min=0,
        help="Most HTTP requests a second of one client; 0 for no limit.",
        metavar="N",
    ),
]
WorkersOption = Annotated[
    int, typer.Option(min=1, max=64, help="Processes that serve HTTP.", metavar="N")
]
StopOption = Annotated[
    float,
    typer.Option(
        "--stop-seconds",
        min=0,
        max=3600,
        help="Seconds for running HTTP requests to finish.",
        metavar="N",
    ),
]
ProxyOption = Annotated[
    list[str] | None,
    typer.Option(help="Address of a proxy whose X-Forwarded-For is trusted.", metavar="ADDRESS"),
]
AuditOption = Annotated[
    Path | None,
    typer.Option(
        help="Audit log: a JSON line of who asked what over HTTP, and which sheets were shown.",
        metavar="FILE",
        dir_okay=False,
    ),
]
AuditQuestionsOption = Annotated[
    bool,
    typer.Option(
        "--audit-questions/--no-audit-questions",
        help="Keep the words of questions and SQL in the audit log.",
    ),
]
AuditFailureOption = Annotated[
    AuditFailure,
    typer.Option(help="What happens to a request that the audit log cannot take."),
]
AccessLogOption = Annotated[
    str | None,
    typer.Option(
        help="A JSON line for each HTTP request, without its words; - for standard error.",
        metavar="FILE",
    ),
]
DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8765


class Transport(StrEnum):
    """Transport between MCP clients and the server."""

    STDIO = "stdio"
    HTTP = "http"


@app.command(
    epilog=examples(
        "sat serve --index reports.sat --open",
        "sat serve --index reports.sat --host 0.0.0.0 --token-file sat.token --workers 2",
    )
)
def serve(
    context: typer.Context,
    file: IndexOption = DEFAULT_INDEX,
    *,
    host: HostOption = DEFAULT_HOST,
    port: PortOption = DEFAULT_PORT,
    allow_host: AllowHostOption = None,
    rate: RateOption = RATE,
    proxy: ProxyOption = None,
    workers: WorkersOption = 1,
    stop_seconds: StopOption = STOP_S,
    reranker: RerankerOption = AUTO,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
    token_file: TokenFileOption = None,
    tokens: TokensOption = None,
    oidc_issuer: IssuerOption = None,
    oidc_client: ClientOption = None,
    oidc_secret_file: SecretOption = None,
    oidc_groups_claim: ClaimOption = CLAIM,
    oidc_scope: ScopeOption = SCOPE,
    oidc_audience: AudienceOption = None,
    oidc_host: ProviderHostOption = None,
    trusted_header: HeaderOption = None,
    trusted_groups: HeaderGroupsOption = None,
    trusted_from: TrustedFromOption = None,
    llm: Annotated[
        str | None,
        typer.Option(
            help="Model that answers questions in words: ollama:qwen3:8b, or openai:MODEL of any "
            "server of that form.",
            metavar="MODEL",
        ),
    ] = None,
    llm_url: LlmUrlOption = None,
    num_ctx: NumCtxOption = 8192,
    answer_seconds: Annotated[
        float, typer.Option(min=1, max=3600, help="Most seconds of one answer.", metavar="S")
    ] = ANSWER_S,
    audit: AuditOption = None,
    audit_questions: AuditQuestionsOption = True,
    audit_failure: AuditFailureOption = AuditFailure.REFUSE,
    access_log: AccessLogOption = None,
    open_files: Annotated[
        OpenFiles | None,
        typer.Option(
            help="What the page does with whole workbooks: off, download, or desktop, which also "
            "opens them here. By default desktop, but off if others can reach the server.",
        ),
    ] = None,
    open_: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = False,
) -> None:
    """Open an index as a page, as JSON for programs, and to agents over MCP.

    The page searches, shows why a sheet was found, its cells and its links,
    opens its workbook, and gives tables as CSV. /api/openapi.json describes the JSON. Nothing is
    ever written. On this machine no token is needed; at an address that
    others reach, one is.
    """
    refuse_without_model({"--llm-url": llm_url}, {"--llm": llm})
    for module in ("mcp", "jinja2", "starlette", "uvicorn", "prometheus_client"):
        require(module, "serve")

    log_warnings()
    plan = Plan(
        opens(file), chosen(reranker), page=True, names=allow_host or (), rate=rate,
        proxies=proxy or (), workers=workers, stop_s=stop_seconds, open_files=open_files,
        llm=llm, llm_url=llm_url, num_ctx=num_ctx, answer_s=answer_seconds,
    )  # fmt: skip
    _serve(
        _with_logs(plan, audit, access_log, audit_failure, questions=audit_questions),
        host,
        port,
        SignIn.of(context.params).within,
        f"serving {{sheets}} at {{url}}/ (JSON at {OPENAPI}, MCP at {HTTP_PATH}; Ctrl-C to stop)",
        started=webbrowser.open if open_ else None,
    )


@app.command(
    epilog=examples(
        "sat mcp --index reports.sat",
        "sat mcp --index reports.sat --transport http --port 8765",
    )
)
def mcp(
    context: typer.Context,
    file: IndexOption = DEFAULT_INDEX,
    *,
    reranker: RerankerOption = AUTO,
    transport: Annotated[
        Transport, typer.Option(help="stdio: started by its client. http: for many clients.")
    ] = Transport.STDIO,
    host: HostOption = DEFAULT_HOST,
    port: PortOption = DEFAULT_PORT,
    allow_host: AllowHostOption = None,
    rate: RateOption = RATE,
    proxy: ProxyOption = None,
    workers: WorkersOption = 1,
    stop_seconds: StopOption = STOP_S,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
    token_file: TokenFileOption = None,
    tokens: TokensOption = None,
    audit: AuditOption = None,
    audit_questions: AuditQuestionsOption = True,
    audit_failure: AuditFailureOption = AuditFailure.REFUSE,
    access_log: AccessLogOption = None,
    oidc_issuer: IssuerOption = None,
    oidc_client: ClientOption = None,
    oidc_secret_file: SecretOption = None,
    oidc_groups_claim: ClaimOption = CLAIM,
    oidc_scope: ScopeOption = SCOPE,
    oidc_audience: AudienceOption = None,
    oidc_host: ProviderHostOption = None,
    trusted_header: HeaderOption = None,
    trusted_groups: HeaderGroupsOption = None,
    trusted_from: TrustedFromOption = None,
) -> None:
    """Serve an index to AI agents over the Model Context Protocol.

    The agent gets read-only tools: find_sheets, describe_sheet, read_range,
    related_sheets, index_status, search_cells and, with the extra sql,
    query_tables. HTTP is for this machine; for others it needs a token. sat
    serve offers the same over HTTP, and a page for people.
    """
    require("mcp", "mcp")
    log_warnings()
    if transport is Transport.STDIO:
        if audit or access_log:
            raise InputError("--audit and --access-log are for HTTP; add --transport http")
        _serve_client(file, reranker, asking(as_groups, as_owner=as_owner))
        return
    require("prometheus_client", "mcp")
    plan = Plan(
        opens(file), chosen(reranker), page=False, names=allow_host or (), rate=rate,
        proxies=proxy or (), workers=workers, stop_s=stop_seconds,
    )  # fmt: skip
    _serve(
        _with_logs(plan, audit, access_log, audit_failure, questions=audit_questions),
        host,
        port,
        SignIn.of(context.params).within,
        f"serving {{sheets}} at {{url}}{HTTP_PATH} (Ctrl-C to stop)",
    )


def _with_logs(
    plan: Plan, audit: Path | None, access: str | None, failing: AuditFailure, *, questions: bool
) -> Plan:
    if audit is None and not (questions and failing is AuditFailure.REFUSE):
        raise InputError(
            "--no-audit-questions and --audit-failure are for an audit log; add --audit FILE"
        )
    return replace(
        plan,
        audit=None if audit is None else str(audit.absolute()),
        audit_questions=questions,
        audit_failure=failing,
        access_log=access if access in (None, "-") else str(Path(access).absolute()),
    )


def _serve_client(file: Place, reranker: str, principals: Principals | None) -> None:
    from sat_retriever.tools import SheetTools
    from sat_retriever.tools.mcp import serve_stdio, sheet_server

    with SheetIndex.open(file) as opened:
        tools = SheetTools(opened, reranker=chosen(reranker), principals=principals)
        tools.index.warm_up()
        signal.signal(signal.SIGINT, _end_now)
        serve_stdio(sheet_server(tools))


def _end_now(_signal: int, _frame: FrameType | None) -> None:
    # A thread waits for a line on standard input, and a normal exit would wait for that thread.
    os._exit(130)


def _serve(
    plan: Plan,
    host: str,
    port: int,
    signing_in: Callable[[Plan], Plan],
    said: str,
    started: Callable[[str], object] | None = None,
) -> None:
    """Serve over HTTP until SIGTERM or Ctrl-C, after which the exit code is 130.

    Args:
        plan: Its names and proxies are still as they were typed.
        signing_in: Reads the files of tokens and secrets; called at the start, and when workers
            are replaced.
        said: Line to print when connections are accepted, with `{sheets}` and `{url}`.
        started: Called with the URL after that.
    """
    from sat_retriever.serve.serving import (
        INTERRUPTED,
        check_private,
        known_names,
        listen,
        networks,
        open_files_at,
        url,
    )

    with listen(host, port) as listening:
        signed = signing_in(plan)
        check_private(listening, signs_in=signed.signs_in)
        named = replace(
            plan,
            names=known_names(host, plan.names),
            proxies=networks(plan.proxies),
            open_files=open_files_at(listening, signed),
        )
        _warn_of_idle_rules(plan.index)

        def tell(sheets: int) -> None:
            line = said.format(sheets=counted(sheets, "sheet"), url=url(listening))
            stderr().print(plain(line), soft_wrap=True)
            if started:
                started(url(listening))

        serving = _serve_here if plan.workers == 1 else _supervise
        try:
            code = serving(partial(signing_in, named), listening, tell)
        except KeyboardInterrupt:  # before it served
            code = INTERRUPTED
    if code:
        raise typer.Exit(code)


def _warn_of_idle_rules(index: str) -> None:
    """Warn of rules that decide for no sheet: those below may show its sheets to others."""
    with suppress(PermissionsError), SheetIndex.open(index) as whole:  # only its owner has them
        warn_of_idle(whole.seen_by(OWNER).idle_rules())


def _serve_here(
    plan_of: Callable[[], Plan], listening: socket.socket, tell: Callable[[int], None]
) -> int:
    from sat_retriever.serve.plan import service_of
    from sat_retriever.serve.serving import Serving

    plan = plan_of()
    if (plan.audit or plan.access_log) and hasattr(signal, "SIGHUP"):
        # Sent when logs are rotated. They go on in a new file by themselves; it must not end us.
        signal.signal(signal.SIGHUP, lambda _signal, _frame: None)
    with service_of(plan) as (service, sheets):
        serving = Serving(service, plan.proxies, plan.stop_s, partial(tell, sheets), hurry=True)
        return serving.serve_until_stopped(listening)


def _supervise(
    plan_of: Callable[[], Plan], listening: socket.socket, tell: Callable[[int], None]
) -> int:
    if sys.platform != "win32":
        from sat_retriever.serve.supervisor import supervise

        return supervise(plan_of, listening, tell)
    raise InputError("several workers need Linux or macOS; leave out --workers")
