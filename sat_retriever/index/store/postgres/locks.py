"""Advisory locks of an index: of the whole, of its rows, and of single workbooks.

A writer holds the lock of the whole index, shared with other writers; encoding anew or deleting
takes it alone. Each transaction first locks its workbooks and inserts vectors, which takes the
most time, beside other transactions. Then it takes the lock of the rows, alone, and holds it until
it ends: row ids must grow in the order in which transactions end. Under it are a few COPYs of rows
that were made before. The second pass, which links workbooks and groups copies, takes it for each
page, so that nothing comes or goes meanwhile.

Locks are always taken in this order, those of workbooks in the order of their numbers, so two
writers never wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from sat_retriever.index.store.postgres.session import PostgresSession

WRITER_WAIT_S = 10.0  # time that a writer waits for one that needs the index alone
ROWS_WAIT_S = 600.0  # time that a transaction waits for others, and for indexes in the making


def hold_index(session: PostgresSession, namespace: str, *, alone: bool) -> None:
    """Take the lock of the whole index until the connection ends or `release_index`."""
    wait(session, WRITER_WAIT_S)
    kind = "" if alone else "_shared"
    session.execute(f"SELECT pg_advisory_lock{kind}(?)", (_number(namespace, "index"),))


def release_index(session: PostgresSession, namespace: str, *, alone: bool) -> None:
    """Release what `hold_index` took."""
    kind = "" if alone else "_shared"
    session.execute(f"SELECT pg_advisory_unlock{kind}(?)", (_number(namespace, "index"),))


def lock_index(session: PostgresSession, namespace: str) -> None:
    """Take the lock of the whole index alone until the transaction ends."""
    wait(session, WRITER_WAIT_S)
    session.execute("SELECT pg_advisory_xact_lock(?)", (_number(namespace, "index"),))


def lock_extension(session: PostgresSession) -> None:
    """Take the lock of what all indexes of a database share until the transaction ends."""
    wait(session, WRITER_WAIT_S)
    session.execute("SELECT pg_advisory_xact_lock(?)", (_number("extension"),))


def lock_workbooks(
    session: PostgresSession, namespace: str, workbooks: Iterable[tuple[str, str]]
) -> None:
    """Take the locks of workbooks, given as (root, path), until the transaction ends."""
    wait(session, ROWS_WAIT_S)
    numbers = sorted({_number(namespace, "workbook", root, path) for root, path in workbooks})
    if numbers:
        session.execute(
            "SELECT pg_advisory_xact_lock(n) FROM (SELECT unnest(?::bigint[]) AS n) x", (numbers,)
        )


def lock_rows(session: PostgresSession, namespace: str) -> None:
    """Take the lock of what depends on all workbooks until the transaction ends."""
    session.execute("SELECT pg_advisory_xact_lock(?)", (_number(namespace, "rows"),))


def wait(session: PostgresSession, seconds: float) -> None:
    """Set the longest time that the next statements wait for a lock."""
    session.execute("SELECT set_config('lock_timeout', ?, false)", (f"{seconds:.3f}s",))


def _number(*names: str) -> int:
    digest = blake2b("\0".join(names).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
