"""Store workbooks as they come, many in one transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from sat_retriever.errors import InputError
from sat_retriever.index.store.rows import NewWorkbook
from sat_retriever.index.store.store import Store
from sat_retriever.index.sync.batches import BATCH_SHEETS
from sat_retriever.records.sheets import Skipped

_MOST = 64  # workbooks of a transaction
_BATCH_SECONDS = 2.0

Told = Callable[[tuple[Skipped, ...]], None]  # is given the sheets that were left out


class Storing:
    """Workbooks on their way into a store; none is told as stored before its transaction ends.

    The result is that of storing one after the other: a transaction never has two workbooks whose
    order matters.

    Args:
        store: The store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: list[tuple[NewWorkbook, Told]] = []
        self._names: set[str] = set()  # paths and sheet ids of those that are held
        self._sheets = 0
        self._since = 0.0

    def add(self, book: NewWorkbook, told: Told) -> None:
        """Store a workbook now or with those that follow, and tell when it is stored."""
        names = {book.state.path, *(row.record.sheet_id for row in book.rows)}
        if not self._names.isdisjoint(names):
            self.flush()
        if not self._held:
            self._since = time.monotonic()
        self._held.append((book, told))
        self._names |= names
        self._sheets += len(book.rows)
        late = time.monotonic() - self._since > _BATCH_SECONDS
        if late or self._sheets >= BATCH_SHEETS or len(self._held) == _MOST:
            self.flush()

    def flush(self) -> None:
        """Store what is held."""
        held, self._held, self._sheets = self._held, [], 0
        self._names.clear()
        self._write(held)

    def _write(self, held: Sequence[tuple[NewWorkbook, Told]]) -> None:
        """Store workbooks together, or in halves if one of them cannot be stored."""
        if not held:
            return
        try:
            clashes = self._store.replace_workbooks([book for book, _told in held])
        except InputError:
            if len(held) == 1:
                raise
            half = len(held) // 2
            self._write(held[:half])
            self._write(held[half:])
            return
        for (_book, told), left_out in zip(held, clashes, strict=True):
            told(left_out)
