"""What stores for some groups have in common: they say and write nothing of the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache, partial
from pathlib import Path

import numpy as np

from sat_retriever.errors import IndexDamagedError, PermissionsError
from sat_retriever.index.store.records import RecordReader
from sat_retriever.index.store.rows import IdArray
from sat_retriever.index.store.words import spellings
from sat_retriever.text.contents import content_words
from sat_retriever.text.segment import stem
from sat_retriever.text.spelling import nearest

_LOOKED_AT = 256  # sheets with a word that are read to find its spelling
_AT_ONCE = 16
_SPELLINGS = 4_096  # that are remembered


@contextmanager
def unnamed_damage(path: object) -> Iterator[None]:
    """Name no sheet in an error about damage in the block; it may be a hidden one."""
    try:
        yield
    except IndexDamagedError:
        raise IndexDamagedError(
            f"{path} has damaged rows; let its owner run: sat index FOLDER --verify"
        ) from None


def reading_alone(path: object) -> PermissionsError:
    """The error that groups can only read."""
    return PermissionsError(
        f"{path} is open for some groups alone, which may read: change it as its owner"
    )


class InSight(RecordReader):
    """Readings of what some groups may see; the rest is as if it were not there.

    It is mixed in before the class of a store, all of whose tables show only rows of visible
    sheets.
    """

    @property
    def beside(self) -> Path | None:
        """None: files beside an index are of all its sheets."""
        return None

    def bytes(self) -> int:
        """Return the size of the visible records, their contents and tokens."""
        sized = (("sheets", "record"), ("contents", "packed"), ("tokens", "token"))
        sql = "SELECT coalesce(sum(length({})), 0) FROM {}"
        return sum(int(self._rows(sql.format(name, table))[0][0]) for table, name in sized)

    def copy_to(self, path: Path) -> None:
        """Refuse to copy: a copy would hold every sheet.

        Raises:
            PermissionsError: Always.
        """
        raise PermissionsError(f"only the owner of {self.path} can copy it to {path}")

    def delete(self) -> None:
        """Refuse to delete.

        Raises:
            PermissionsError: Always.
        """
        self._check_writable()

    def spelled_near(self, word: str) -> list[str]:
        """Words of visible sheets that a misspelt one may mean, in order."""
        known = partial(self._known_spelling, self.generation())
        return nearest(word, partial(self._spelled_as, word), known)

    def _spelled_as(self, _word: str, start: str, end: str) -> list[str]:
        """Words that may be known, among them all known ones that begin or end with letters."""
        return self._spelled_like(start, end)

    def groups_of(self, _sheet_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """None: groups of sheets are the owner's."""
        return {}

    def group_counts(self) -> dict[str, int]:
        """None: groups are the owner's."""
        return {}

    def _check_writable(self) -> None:
        raise reading_alone(self.path)

    @cached_property
    def _known_spelling(self) -> Callable[[int, str], bool]:
        return lru_cache(maxsize=_SPELLINGS)(self._is_spelled)

    def _is_spelled(self, _generation: int, word: str) -> bool:
        """True if a visible sheet has a word in this spelling.

        Of a word with the same stem in very many sheets the first ones are read.
        """
        having = self._with_stem(stem(word))[:_LOOKED_AT].tolist()
        return any(
            word in self._spellings(having[start : start + _AT_ONCE])
            for start in range(0, len(having), _AT_ONCE)
        )

    def _spellings(self, ids: Sequence[int]) -> set[str]:
        """Spellings of sheets that have contents."""
        sheet_ids = list(self.sheet_ids(ids).values())
        records, contents = self.records(sheet_ids), self.contents(sheet_ids)
        return {
            word
            for each, texts in contents.items()
            if each in records
            for word in spellings(records[each], content_words(texts))
        }

    def _with_stem(self, stemmed: str) -> IdArray:
        """Row ids of the visible sheets with a stem in names or contents, ascending."""
        found = (*self.postings(stemmed), self.content_postings([[stemmed]], _LOOKED_AT))
        return np.unique(np.concatenate(found))
