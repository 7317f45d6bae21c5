"""Wait for changes of workbooks under some paths and URLs, and have an index follow them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sat_retriever._extras import require
from sat_retriever.errors import IndexFormatError, MissingExtraError, SatError
from sat_retriever.index.scopes import is_passed_over
from sat_retriever.index.store.place import Place
from sat_retriever.remote.url import Named, is_url

EXTRA = "watch"
_TICK_S = 1.0  # how often a failed sync, or a poll, may become due
_RETRY_S = 10.0
_LONGEST_S = 60.0  # a burst that does not end is synced after this
# What editors, browsers and copying programs write before a file has its name.
_PARTIAL = ("~", ".tmp", ".temp", ".part", ".partial", ".crdownload", ".download", ".swp")
# Errors that waiting does not mend.
_LASTING = (MissingExtraError, IndexFormatError)

Sync = Callable[[Sequence[Named]], object]


@dataclass(frozen=True, slots=True)
class Waiting:
    """How changes are noticed.

    Attributes:
        quiet_s: Seconds without a further change after which a burst of changes is over.
        poll_s: Seconds between two looks at a URL, and at a path that is not watched.
        poll_all: Look at paths of this machine in the same way, where watching does not work, as on
            a network drive.
    """

    quiet_s: float = 2.0
    poll_s: float = 60.0
    poll_all: bool = False

    def watched(self, paths: Sequence[Named]) -> list[Named]:
        """The paths whose changes the system tells."""
        return [] if self.poll_all else [path for path in paths if not is_url(path)]


def follow(
    paths: Sequence[Named],
    index: Place,
    sync: Sync,
    waiting: Waiting,
    failed: Callable[[SatError | OSError], None],
) -> None:
    """Sync once, and again whenever something has changed, until an exception ends it.

    A sync that fails is tried again, with what has changed since.

    Args:
        paths: Folders, files and URLs.
        index: The index file; changes of it and of its side files do not count.
        sync: Called with the paths that may have changed.
        waiting: How changes are noticed.
        failed: Called with the error of a failed sync.

    Raises:
        MissingExtraError: If the extra for watching, or for a URL, is not installed.
        IndexFormatError: If the index file is none.
    """
    if waiting.watched(paths):
        require("watchfiles", EXTRA)
    pending = dict.fromkeys(paths)
    due_at = time.monotonic()
    changes = due_paths(paths, index, waiting)
    while True:
        if pending and time.monotonic() >= due_at:
            try:
                sync(list(pending))
            except _LASTING:
                raise
            except (SatError, OSError) as error:
                failed(error)
                due_at = time.monotonic() + _RETRY_S
            else:
                pending.clear()
        pending.update(dict.fromkeys(next(changes)))


def due_paths(
    paths: Sequence[Named], index: Place, waiting: Waiting
) -> Iterator[tuple[Named, ...]]:
    """Yield the paths that may have changed, about once a second; empty if there are none.

    Args:
        paths: Folders, files and URLs.
        index: The index file.
        waiting: How changes are noticed.
    """
    watched = waiting.watched(paths)
    polled = tuple(path for path in paths if path not in watched)
    last = time.monotonic()
    for changed in _changed(watched, index, waiting) if watched else _ticks(waiting):
        due: tuple[Named, ...] = tuple(watched) if changed else ()
        if polled and time.monotonic() - last >= waiting.poll_s:
            due += polled
            last = time.monotonic()
        yield due


def _ticks(waiting: Waiting) -> Iterator[bool]:
    """Yield False once a second, or more often if something is polled more often."""
    while True:
        time.sleep(min(_TICK_S, waiting.poll_s))
        yield False


def _changed(watched: Sequence[Named], index: Place, waiting: Waiting) -> Iterator[bool]:
    """Yield True when something has changed, and False once a second.

    Watching begins with True, for what changed before. It begins anew when a folder was away.
    """
    watchfiles = require("watchfiles", EXTRA)
    places = [Path(path).resolve() for path in watched]
    while True:
        if not all(place.exists() for place in places):
            time.sleep(_TICK_S)
            yield False
            continue
        folders = {place if place.is_dir() else place.parent for place in places}
        begun = False
        for changes in watchfiles.watch(
            *folders,
            watch_filter=None,
            step=max(1, int(waiting.quiet_s * 1000)),
            debounce=max(1, int(max(waiting.quiet_s, _LONGEST_S) * 1000)),
            rust_timeout=int(_TICK_S * 1000),
            yield_on_timeout=True,
            recursive=any(place.is_dir() for place in places),
            raise_interrupt=True,
        ):
            found = (Path(path) for _, path in changes)
            gone = not all(place.exists() for place in places)
            yield gone or not begun or any(counts(path, places, index) for path in found)
            begun = True
            if gone:
                break


def counts(path: Path, places: Sequence[Path], index: Place) -> bool:
    """True if a changed file may be a workbook of the places.

    Hidden files, lock files of open workbooks, files that are still being written under another
    name, and the index itself are none.
    """
    if isinstance(index, Path) and _is_beside(path, index.resolve()):
        return False
    place = next((each for each in places if path.is_relative_to(each)), None)
    if place is None:
        return False
    parts = path.relative_to(place).parts or (path.name,)
    hidden = any(part.startswith(".") for part in parts)
    return not (hidden or is_passed_over(path.name) or path.name.lower().endswith(_PARTIAL))


def _is_beside(path: Path, file: Path) -> bool:
    """True for a file, and for files and folders beside it whose names begin with its own."""
    if not path.is_relative_to(file.parent) or path == file.parent:
        return False
    return path.relative_to(file.parent).parts[0].startswith(file.name)
