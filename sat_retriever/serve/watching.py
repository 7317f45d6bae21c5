"""What a serving process lets its operator see: counts, logs, and who asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial

from sat_retriever.index.index import SheetIndex
from sat_retriever.records.permissions import OWNER
from sat_retriever.serve.access import CALLBACK, PROVIDER, SIGN_IN, SIGN_OUT
from sat_retriever.serve.asgi import App, Message
from sat_retriever.serve.guard import is_local
from sat_retriever.serve.identity import identity_of
from sat_retriever.serve.indexstate import IndexState
from sat_retriever.serve.journal import log_at
from sat_retriever.serve.metrics import METRICS, Metrics, Place, Routes, WithMetrics
from sat_retriever.serve.plan import AuditFailure, Plan
from sat_retriever.serve.recorder import Logs, Recorder


@dataclass(frozen=True, slots=True)
class Watching:
    """Puts what an operator sees around the applications of a process."""

    metrics: Metrics
    logs: Logs
    passed_on: Sequence[bytes] = ()  # headers of a proxy that signs people in

    def of_owners(self, app: App) -> App:
        """Wrap an application; whoever signed in and sees all sheets sees the counts too."""
        return WithMetrics(app, self.metrics, _sees_all)

    def of_this_machine(self, app: App) -> App:
        """Wrap what asks for tokens, so that programs of this machine need none for the counts."""
        return WithMetrics(app, self.metrics, partial(is_local, passed_on=self.passed_on))

    def of_all(self, app: App, routes: Sequence[str]) -> App:
        """Wrap what all requests pass through; they take some routes, or sign in."""
        known = Routes([*routes, SIGN_IN, SIGN_OUT, PROVIDER, CALLBACK, METRICS])
        return Recorder(app, known, self.metrics, self.logs)


def _sees_all(scope: Message) -> bool:
    identity = identity_of(scope)
    return identity is not None and identity.principals in (None, OWNER)


@contextmanager
def watching(plan: Plan, index: SheetIndex, place: Place | None = None) -> Iterator[Watching]:
    """Open the logs of a plan and begin to count, until the block ends.

    Raises:
        InputError: If a log cannot be written to, or everyone can read it.
    """
    with ExitStack() as opened:
        audit, access = (
            None if name is None else opened.enter_context(closing(log_at(name)))
            for name in (plan.audit, plan.access_log)
        )
        metrics = opened.enter_context(closing(Metrics(IndexState.of(index), place)))
        logs = Logs(audit, access, plan.audit_questions, AuditFailure(plan.audit_failure))
        yield Watching(metrics, logs, plan.header.names if plan.header else ())
