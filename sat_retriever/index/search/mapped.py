"""The state of a large index in mapped files beside it, so that a new process need not read it.

All of it comes from the index file: deleting the folder is safe, and one that is damaged, of
another index or of a newer state is passed over. Writers replace it whole, by a rename. Readers
share its memory.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from sat_retriever.index.search.columns import Columns, is_large, take_columns
from sat_retriever.index.search.mapped_read import read_columns
from sat_retriever.index.search.mapped_write import write_columns
from sat_retriever.index.search.tokens import TokenTable
from sat_retriever.index.store.store import Store
from sat_retriever.records.files import forget_unused

_RENEWED = 8  # one sheet in so many has come or gone: the mapped state is written anew
_WAIT_S = 600.0  # time that a process waits for another one that writes the mapped state


def latest_mapped(store: Store, width: int) -> Columns | None:
    """The latest mapped state of a store, written first where readers keep it and it lacks much.

    One process of a host writes it while others wait: each would have to read as much.
    """
    known = read_columns(store, width)
    home = store.beside if store.kept_by_readers else None
    if home is None:
        return known
    if not _is_to_renew(store, known):
        with suppress(OSError):
            os.utime(home)  # it is in use
        return known
    from filelock import FileLock  # only a large index needs it

    with suppress(OSError), FileLock(home.with_name(f"{home.name}.lock"), _WAIT_S):
        known = read_columns(store, width)
        if _is_to_renew(store, known):
            known = take_columns(store, width, known)
            write_columns(home, store, known, width)
            forget_unused(home.parent)
            known = read_columns(store, width)
    return known


def renew_mapped(store: Store, width: int) -> bool:
    """Write the mapped state of a large index, unless the last one lacks little; True if written.

    The caller keeps others from writing. An index works without a mapped state, so that a folder
    that cannot be written to is no error. Of an index that is no longer large it is removed.
    """
    home = None if store.kept_by_readers else store.beside
    if home is None or store.principals is not None:
        return False
    if not is_large(store.counts()["sheets"]):
        shutil.rmtree(home, ignore_errors=True)
        return False
    with store.reading():
        known = read_columns(store, width)
        if not _is_to_renew(store, known):
            return False
        columns = take_columns(store, width, known)
    try:
        write_columns(home, store, columns, width)
    except OSError:
        return False
    return True


def _is_to_renew(store: Store, known: Columns | None) -> bool:
    return is_large(store.counts()["sheets"]) and (known is None or lacks_much(store, known))


def lacks_much(store: Store, known: Columns) -> bool:
    """True if many sheets of a large index came or went since a state was read."""
    sheets = store.counts()["sheets"]
    if not is_large(sheets):
        return False
    later = store.count_after(int(known.ids[-1]) if len(known.ids) else -1)
    gone = len(known.ids) + later - sheets
    return not isinstance(known.tokens, TokenTable) or (later + gone) * _RENEWED > sheets
