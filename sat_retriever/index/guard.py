"""A store that nobody was named for: it is read as long as it has no permissions."""

from __future__ import annotations

from typing import Any

from sat_retriever.errors import PermissionsError
from sat_retriever.index.store.opening import Store

# Settings and state, which tell nothing of a sheet; and what ends the use of the store.
_ALWAYS = frozenset(("path", "principals", "meta", "generation", "is_restricted", "close"))


class Guarded:
    """A store that refuses to be read once its sheets are for their groups alone.

    Another process may have said so meanwhile: a search notices when it looks at the generation.

    Args:
        store: The store of all sheets.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        store.is_restricted()

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the store.

        Raises:
            PermissionsError: If there are permissions.
        """
        if self._store.was_restricted and name not in _ALWAYS:
            raise PermissionsError(
                f"{self._store.path} has permissions: say who asks, by principals=['a group'], "
                "or --as GROUP in the shell; OWNER or --as-owner sees all"
            )
        return getattr(self._store, name)
