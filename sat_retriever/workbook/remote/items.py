"""Folders and files of a service that knows them by ids: by path, bounded, each name once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Any

from sat_retriever.workbook.remote.rest import Rest
from sat_retriever.workbook.remote.systems import ReasonError

MOST_FOLDERS = 500_000  # of one walk
MOST_ITEMS = 1_000_000  # of one folder

_NAME = 1025  # characters of a name: one more than a usable one may have
_ID = 500  # characters of an id
_SIZE = 1 << 62


class Kind(Enum):
    """What an item is."""

    FOLDER = "folder"
    FILE = "file"
    EXPORTED = "exported"  # without bytes of its own: the service makes a file of it


@dataclass(frozen=True, slots=True)
class Item:
    """A folder or a file.

    Attributes:
        id: Its id in the service.
        name: Its name in its folder, which others may share.
        kind: What it is.
        address: Path of the item below the API's address.
        size: Its bytes; None if they are not known.
        version: A text that changes with its content; empty if there is none.
        modified: Time of its last change as the service writes it; empty if there is none.
    """

    id: str
    name: str
    kind: Kind
    address: str
    size: int | None = None
    version: str = ""
    modified: str = ""


Items = tuple[Item, ...]
"""What one path names: a file, or folders that share a name, which are one folder here."""


class ItemTree(ABC):
    """A service's folders and files by path, read by those calls of fsspec that this package makes.

    Subclasses know how the service names and lists its items.

    Args:
        rest: The service.
    """

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    def info(self, path: str) -> dict[str, Any]:
        """What is known of a folder or a file as it is now; `FileNotFoundError` if it is gone."""
        with self._understood():
            return _told(path, self._find(path)[0])

    def walk(
        self, path: str, *, maxdepth: int, **_: object
    ) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
        """Yield a folder and those below it, each with its folders and its files by name.

        Folders are followed by id and once each, so that no name leads elsewhere and no loop is
        walked. A folder that the caller takes out of the yielded ones is not followed.
        """
        with self._understood():
            top, seen = self._find(path), set[str]()
        if top[0].kind is not Kind.FOLDER:
            raise ReasonError("it is a file; name the folder that it lies in")
        waiting = [(path, top, 1)]
        while waiting:
            here, same, depth = waiting.pop()
            new = tuple(each for each in same if each.id not in seen)
            seen.update(each.id for each in new)
            items = self._named(here, new)
            told = {name: _told(f"{here}/{name}", each[0]) for name, each in items.items()}
            folders = {n: each for n, each in told.items() if items[n][0].kind is Kind.FOLDER}
            yield here, folders, {n: each for n, each in told.items() if n not in folders}
            if depth < maxdepth:
                waiting += [(f"{here}/{n}", items[n], depth + 1) for n in reversed(folders)]
            if len(seen) + len(waiting) > MOST_FOLDERS:
                raise ReasonError(f"more than {MOST_FOLDERS:,} folders; name a folder below it")

    def get_file(self, path: str, target: str, *, callback: Any) -> None:
        """Download a file, and tell `callback` of fsspec of its progress."""
        with self._understood():
            self._download(path, target, callback)

    def invalidate_cache(self) -> None:
        """Keep nothing: here each question is asked anew."""
        return

    @abstractmethod
    def _find(self, path: str) -> Items:
        """What is at a path; `FileNotFoundError` if there is nothing."""

    @abstractmethod
    def _children(self, folder: Item) -> Iterator[Item]:
        """Yield the items of a folder."""

    @abstractmethod
    def _download(self, path: str, target: str, callback: Any) -> None:
        """Download the file at a path."""

    def _named(self, path: str, folders: Items) -> dict[str, Items]:
        """The items of the folders at a path, by name."""
        found: list[Item] = []
        with self._understood():
            for item in chain.from_iterable(map(self._children, folders)):
                if len(item.id) > _ID:
                    raise ValueError("id")
                found.append(item)
                if len(found) > MOST_ITEMS:
                    raise ReasonError(f"{path!r} has more than {MOST_ITEMS:,} files")
        return by_name(found)

    @contextmanager
    def _understood(self) -> Iterator[None]:
        try:
            yield
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise self._rest.misfit(error) from error


def by_name(items: Iterable[Item]) -> dict[str, Items]:
    """What lies in a folder, by name: folders of one name together, files of one name by their ids.

    A second folder of a name is no reason for the first one's path to change, on which rules of
    permissions may count.

    >>> same = [Item(each, "Sales.xlsx", Kind.FILE, "") for each in ("a1", "b2")]
    >>> list(by_name([*same, Item("c3", "Costs.xlsx", Kind.FILE, "")]))
    ['Sales [a1].xlsx', 'Sales [b2].xlsx', 'Costs.xlsx']
    """
    found: dict[str, Items] = {}
    files: list[Item] = []
    for item in items:
        if item.kind is Kind.FOLDER:
            found[item.name] = (*found.get(item.name, ()), item)
        else:
            files.append(item)
    shares = Counter([*found, *(item.name for item in files)])
    for item in files:
        name = item.name if shares[item.name] == 1 else _with_id(item.name, item.id)
        while name in found:  # a file that is named as another one with its id
            name = _with_id(name, item.id)
        found[name] = (item,)
    return found


def clean_name(told: str) -> str:
    """A name as a part of a path: a slash in it is none, and it can be stored. Long ones are cut.

    >>> clean_name("2024/25.xlsx")
    '2024／25.xlsx'
    """
    return told.encode("utf-8", "replace").decode()[-_NAME:].replace("/", "／")


def size_of(told: object) -> int | None:
    """The bytes of a file, which services write as numbers or as digits; None if unusable.

    >>> size_of("12"), size_of(12), size_of(-1), size_of(float("nan"))
    (12, 12, None, None)
    """
    if isinstance(told, str) and told.isascii() and told.isdigit() and len(told) < 20:
        told = int(told)
    usable = isinstance(told, int) and not isinstance(told, bool) and 0 <= told < _SIZE
    return told if usable else None  # type: ignore[return-value]


def text_of(told: object) -> str:
    """A text of an answer, of bounded length; empty for anything else."""
    return told[:200] if isinstance(told, str) else ""


def _with_id(name: str, key: str) -> str:
    stem, dot, extension = name.rpartition(".")
    mark = f" [{clean_name(key)}]"
    return f"{stem}{mark}{dot}{extension}" if stem else f"{name}{mark}"


def _told(path: str, item: Item) -> dict[str, Any]:
    """An item as fsspec tells of one."""
    return {
        "name": path,
        "type": "directory" if item.kind is Kind.FOLDER else "file",
        "size": item.size,
        "etag": item.version,
        "mtime": item.modified,
    }
