"""Find the files below the paths that a user names."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from sat_retriever.errors import PathNotFoundError
from sat_retriever.index.store.rows import WorkbookState
from sat_retriever.workbook.opening.regular import printable, real_path
from sat_retriever.workbook.remote.url import is_lost_url, is_url, joined, under


@dataclass(frozen=True, slots=True)
class Scope:
    """One path that the user named.

    Attributes:
        root: Folder that the paths of its workbooks are relative to.
        path: The named folder or file itself: the root or a path below it.
        explicit: False for a file that was not named but met in a folder.
    """

    root: Path
    path: Path
    explicit: bool = True


def scopes(paths: Sequence[Path], known_roots: Iterable[str]) -> list[Scope]:
    """Return the named paths with the root of each, without paths inside others.

    A path inside a folder that was indexed before keeps that folder as its root, so sheet ids stay
    the same.

    Raises:
        PathNotFoundError: If a path does not exist: an unmounted disk must not look like a folder
            whose workbooks were all deleted.
    """
    found: list[Scope] = []
    known = [Path(root) for root in known_roots]
    for path in sorted({_absolute(path) for path in paths}):
        if any(path.is_relative_to(scope.path) for scope in found):
            continue
        own = path if path.is_dir() else path.parent
        above = [root for root in known if own.is_relative_to(root)]
        # The nearest one, so that a file indexed from a folder above does not rename everything.
        found.append(Scope(max(above, key=lambda root: len(root.parts), default=own), path))
    return found


def files_of(named: Sequence[Scope], closed: list[str]) -> Iterator[tuple[Scope, Path, bool]]:
    """Yield the files of the scopes in order, with scope, and True if the user named the file.

    Hidden folders and links to folders are skipped; a link to a file counts as that file.

    Args:
        named: The scopes.
        closed: Receives folders that cannot be listed.
    """

    def note(error: OSError) -> None:
        closed.append(printable(Path(error.filename)))

    for scope in named:
        if not scope.path.is_dir():
            yield scope, scope.path, scope.explicit
            continue
        for folder, subfolders, names in os.walk(scope.path, onerror=note):
            subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
            for name in sorted(names):
                if not is_passed_over(name):
                    yield scope, Path(folder, name), False


def is_passed_over(name: str) -> bool:
    """True for hidden files and the lock files that Office writes beside an open workbook.

    >>> is_passed_over("~$Budget.xlsx"), is_passed_over(".~lock.Budget.ods#")
    (True, True)
    """
    return name.startswith((".", "~$"))


def bounds_of(named: Sequence[Scope], states: Sequence[WorkbookState]) -> set[Path]:
    """Return the folders and files that a user named, now or before.

    Roots do not count, since the user may have named only a file in one of them.
    """
    # A followed link lies outside its target's folder, and nobody named that folder.
    before = {s.within for s in states if s.within and is_in(joined(s.root, s.path), [s.within])}
    return {scope.path for scope in named if scope.explicit} | {Path(place) for place in before}


def within_of(scope: Scope, file: Path, bounds: Set[Path], *, follow_links: bool) -> Path | None:
    """Return the widest named place that a file really lies in, links followed; None without one.

    If `follow_links` allows a link out of all named places, the place is its target file.
    """
    linked = file.is_symlink()
    real = real_path(file) if linked else scope.path  # every other file lies below its scope
    found = [place for place in (real, *real.parents) if place in bounds]
    if found:
        return found[-1]
    return real if follow_links or not linked else None


def is_in(file: str, places: Sequence[str]) -> bool:
    """True if a file is one of the places or lies below one of them."""
    return any(file == place or file.startswith(f"{place.rstrip('/')}/") for place in places)


def below(root: str, file: Path) -> str:
    """Return the printable path of a file relative to a printable root above it."""
    return under(root, printable(file))


def is_gone(root: str) -> bool:
    """True if a root is no longer a folder; False if that is unknown, as of a URL."""
    if "\\" in root or is_url(root):  # escaped bytes that are not Unicode: not the real name
        return False
    try:
        return not stat.S_ISDIR(Path(root).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _absolute(path: Path) -> Path:
    if not path.exists():
        hint = "give a URL as text, not as a Path" if is_lost_url(path) else "check the spelling"
        raise PathNotFoundError(f"there is no file or folder {str(path)!r}; {hint}")
    return path.resolve()
