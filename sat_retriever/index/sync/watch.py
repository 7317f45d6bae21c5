"""Wait for changes of workbooks under some paths and URLs, and have an index follow them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sat_retriever._extras import require
from sat_retriever.errors import IndexFormatError, InputError, MissingExtraError, SatError
from sat_retriever.index.store.place import Place
from sat_retriever.index.sync.local_plan import is_passed_over
from sat_retriever.workbook.remote.url import Named, is_url

EXTRA = "watch"
_TICK_S = 1.0  # how often a failed sync, or a poll, may become due
_STEP_MS = 100  # how long the system's news are gathered; a signal is met after it
_RETRY_S = 10.0
_LONGEST_S = 60.0  # a burst that does not end is synced after this
# What editors, browsers and copying programs write before a file has its name.
_PARTIAL = ("~", ".tmp", ".temp", ".part", ".partial", ".crdownload", ".download", ".swp")
# Errors that waiting does not mend.
_LASTING = (MissingExtraError, IndexFormatError)

Sync = Callable[[Sequence[Named]], object]


@dataclass(frozen=True, slots=True)
class Waiting:
    """How changes are noticed."""

    quiet_s: float = 2.0  # seconds without a further change after which a burst of changes is over
    poll_s: float = 60.0  # seconds between two looks at a URL, and at a path that is not watched
    # Look at paths of this machine in the same way, where watching does not work, as on a network
    # drive.
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

    A sync that fails is tried again, with what has changed since; `failed` gets the error. One path
    that is away or refuses does not hold up the others. Changes of the index file and of its side
    files do not count. `sync` gets the paths that may have changed. Raises `MissingExtraError` if
    the extra for watching, or for a URL, is not installed, `IndexFormatError` if the index file is
    none, `InputError` if the system cannot watch so much.
    """
    if waiting.watched(paths):
        require("watchfiles", EXTRA)
    pending = dict.fromkeys(paths)
    failing: Sequence[Named] = ()
    due_at = 0.0
    changes = due_paths(paths, index, waiting)
    while True:
        if pending.keys() - failing or (failing and time.monotonic() >= due_at):
            failing = _left(list(pending), sync, failed)
            pending = dict.fromkeys(failing)
            due_at = time.monotonic() + _RETRY_S
        pending.update(dict.fromkeys(next(changes)))


def _left(
    due: Sequence[Named], sync: Sync, failed: Callable[[SatError | OSError], None]
) -> list[Named]:
    """Sync paths, and return those that failed: one that is away does not hold up the others."""
    try:
        sync(due)
    except _LASTING:
        raise
    except (SatError, OSError) as error:
        if isinstance(error, InputError) and len(due) > 1:
            return [path for each in due for path in _left([each], sync, failed)]
        failed(error)
        return list(due)
    return []


def due_paths(
    paths: Sequence[Named], index: Place, waiting: Waiting
) -> Iterator[tuple[Named, ...]]:
    """Yield the paths that may have changed, once a second or more often; empty if none has."""
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
    """Yield True when a burst of changes is over, and False several times a second.

    Watching begins with True, for what changed before. It begins anew when a place comes or goes.
    """
    watchfiles = require("watchfiles", EXTRA)
    places = [Path(path).resolve() for path in watched]
    while True:
        here = _existing(places)
        if not here:
            time.sleep(_TICK_S)
            yield False
            continue
        burst, begun = _Burst(waiting.quiet_s), False
        try:
            for changes in watchfiles.watch(
                *{place if place.is_dir() else place.parent for place in here},
                watch_filter=None,
                step=_STEP_MS,
                debounce=_STEP_MS,
                rust_timeout=_STEP_MS,
                yield_on_timeout=True,
                recursive=any(place.is_dir() for place in here),
                raise_interrupt=True,
                ignore_permission_denied=True,
            ):
                over = burst.is_over(any(counts(Path(path), here, index) for _, path in changes))
                moved = here != _existing(places)
                yield over or moved or not begun
                begun = True
                if moved:
                    break
        except FileNotFoundError:  # it went just now
            time.sleep(_TICK_S)
            yield False
        except OSError as error:
            raise InputError(
                f"the system cannot watch these folders ({error}); look at them every so many "
                "seconds with --poll"
            ) from error


def _existing(places: Sequence[Path]) -> list[Path]:
    return [place for place in places if place.exists()]


class _Burst:
    """Changes that follow each other, until `quiet_s` seconds pass without one."""

    def __init__(self, quiet_s: float) -> None:
        self._quiet_s, self._longest_s = quiet_s, max(quiet_s, _LONGEST_S)
        self._first: float | None = None
        self._last = 0.0

    def is_over(self, changed: bool) -> bool:
        now = time.monotonic()
        if changed:
            self._last = now
            self._first = now if self._first is None else self._first
        if self._first is None:
            return False
        over = now - self._last >= self._quiet_s or now - self._first >= self._longest_s
        if over:
            self._first = None
        return over


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
