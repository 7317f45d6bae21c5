"""A store that nobody was named for: it is read as long as it has no permissions."""

from __future__ import annotations

from typing import Any

from sat_retriever.errors import PermissionsError
from sat_retriever.index.store.restricted import reading_alone
from sat_retriever.index.store.store import Store

# Settings and state, which tell nothing of a sheet; blocks, in which nothing is read yet; and what
# ends the use of the store.
_ALWAYS = frozenset("path principals meta generation is_restricted reading answering close".split())
# What every change begins with, and what shows all sheets at once.
_OWNERS = frozenset(("sole_writer", "writing_beside_others", "copy_to"))


class Guarded:
    """A store that refuses to be read once its sheets are for their groups alone.

    Another process may have said so meanwhile, so each use looks anew.

    Args:
        store: The store of all sheets.
        read_only: True refuses every change as well.
    """

    def __init__(self, store: Store, *, read_only: bool = False) -> None:
        self._store = store
        self._read_only = read_only

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the store.

        Raises:
            PermissionsError: If there are permissions, or it is for a change that is refused.
        """
        if self._read_only and name in _OWNERS:
            raise reading_alone(self._store.path)
        if name not in _ALWAYS and self._store.is_restricted():
            raise PermissionsError(
                f"{self._store.path} has permissions: say who asks, by principals=['a group'], "
                "or --as GROUP in the shell; OWNER or --as-owner sees all"
            )
        return getattr(self._store, name)
