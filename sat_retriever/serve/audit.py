"""What a request asked and was shown, and its line in the audit log."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from threading import Lock

from sat_retriever.serve.access import CALLBACK, SIGN_IN, SIGN_OUT
from sat_retriever.serve.asgi import Message, header_values
from sat_retriever.serve.identity import found_in
from sat_retriever.serve.metrics import Metrics
from sat_retriever.stages import Cache, Stage, Told

MOST = 200  # names of each kind in a line
LONGEST = 10_000  # characters of a name, a question, a query


class Event(StrEnum):
    """What a line tells of."""

    REQUEST = "request"
    SIGN_IN = "sign_in"
    SIGN_IN_DENIED = "sign_in_denied"
    SIGN_OUT = "sign_out"
    DENIED = "denied"
    """A request without a token or session that counts, or for what it may not have."""


class Record:
    """Takes what one request does: times and caches are counted, what it was told is kept.

    Threads of one request may tell at the same time.

    Args:
        keeps: True if there is an audit log.
    """

    def __init__(self, metrics: Metrics, *, keeps: bool) -> None:
        self._metrics = metrics
        self._keeps = keeps
        self._told: dict[Told, dict[str, None]] = {}
        self._left_out = 0
        self._lock = Lock()

    def took(self, stage: Stage, seconds: float) -> None:
        """Count the time of a stage."""
        self._metrics.stage_s(stage).observe(seconds)

    def looked_up(self, cache: Cache, *, found: bool) -> None:
        """Count a look into a cache."""
        self._metrics.caches(cache, "hit" if found else "miss").inc()

    def told(self, what: Told, names: tuple[str, ...]) -> None:
        """Keep what was asked or shown, each name once."""
        if not self._keeps:
            return
        with self._lock:
            kept = self._told.setdefault(what, {})
            for name in names:
                text = name[:LONGEST]
                if text not in kept and len(kept) == MOST:
                    self._left_out += 1
                else:
                    kept[text] = None

    def told_of(self, *, questions: bool) -> dict[str, object]:
        """Return what is kept; `questions` False leaves out the words of questions and SQL."""
        with self._lock:
            told = {what: list(self._told[what]) for what in Told if self._told.get(what)}
            said: dict[str, object] = {"queries": len(told[Told.SQL])} if Told.SQL in told else {}
            if not questions:
                told = {k: v for k, v in told.items() if k not in (Told.QUESTION, Told.SQL)}
            left_out = {"left_out": self._left_out} if self._left_out else {}
            return {**said, **{what.value: names for what, names in told.items()}, **left_out}


def event_of(scope: Message, status: int) -> Event:
    """Return what an answered request is called."""
    form = scope["path"] if scope["method"] == "POST" else ""
    if form == SIGN_IN:
        return Event.SIGN_IN if status == 303 else Event.SIGN_IN_DENIED
    if scope["path"] == CALLBACK and scope["method"] == "GET":
        return Event.SIGN_IN if status == 200 else Event.SIGN_IN_DENIED
    if form == SIGN_OUT and status == 303:
        return Event.SIGN_OUT
    return Event.DENIED if status in (401, 403) else Event.REQUEST


def sign_in_of(scope: Message, status: int) -> str:
    """Return "accepted" or "denied" if a request tried to sign in, else ""."""
    event = event_of(scope, status)
    given = event is Event.DENIED and status == 401 and header_values(scope, b"authorization")
    if given or event is Event.SIGN_IN_DENIED:
        return "denied"
    return "accepted" if event is Event.SIGN_IN else ""


def audit_entry(
    scope: Message, route: str, status: int, told: dict[str, object], trace: str
) -> dict[str, object]:
    """Return the line of a request."""
    known = found_in(scope)
    who: dict[str, object] = {}
    if known is not None:
        groups = None if known.owner or known.groups is None else list(known.groups)
        who = {"user": known.name, "way": known.way, "id": known.token_id, "groups": groups}
    return {
        "time": now(),
        "event": event_of(scope, status).value,
        **who,
        **came_as(scope, route, status),
        **told,
        **({"trace": trace} if trace else {}),
    }


def came_as(scope: Message, route: str, status: int) -> dict[str, object]:
    """Return what both logs say of a request; its address is not there, as it may name a sheet."""
    client = (scope.get("client") or ("",))[0]
    return {"client": client, "method": scope["method"], "route": route, "status": status}


def now() -> str:
    """Return the time of a line, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
