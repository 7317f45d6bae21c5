"""What the default ranking is without one of its parts that has no switch.

A part of the scores is left out by an index whose snapshots lack what that part reads
(`ChangedIndex`). Initials and reading are called by the link reranker by their names, so `replaced`
puts something else in the place of such a name, for the time of one question; it alone touches a
module of the package, and puts back what was there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.columns import LeadSheets
from sat_retriever.index.search.search import SheetSearch
from sat_retriever.index.search.snapshot import LatestSnapshot, Snapshot
from sat_retriever.index.settings import IndexState
from sat_retriever.index.store.store import Store
from sat_retriever.records.permissions import Owner
from sat_retriever.records.tokens import Encoder, FloatArray
from sat_retriever.text.lexical import LexicalScorer, WordScores, WordShares

Change = Callable[[Snapshot], Snapshot]


class ChangedIndex(SheetIndex):
    """An index that is searched as if it held something else of its sheets.

    Args:
        store: An open store.
        encoder: Encoder of its tokens.
        change: What is searched in place of each snapshot.
    """

    def __init__(self, store: Store, encoder: Encoder, change: Change) -> None:
        self._change = change
        super().__init__(store, encoder)

    def _view(
        self, store: Store, seen_by: tuple[str, ...] | Owner, search: SheetSearch | None = None
    ) -> SheetIndex:
        view = super()._view(store, seen_by, search)
        assert isinstance(view, ChangedIndex)
        view._change = self._change
        return view

    def _search_in(self, store: Store, *, times: bool) -> SheetSearch:
        return _ChangedSearch(store, self._state, self._change, times=times)


class _ChangedSearch(SheetSearch):
    def __init__(self, store: Store, state: IndexState, change: Change, *, times: bool) -> None:
        super().__init__(store, state, times=times)
        settings = state.settings
        self._latest = _ChangedSnapshots(store, settings.width, settings.fingerprint, change)


class _ChangedSnapshots(LatestSnapshot):
    """Each snapshot is changed once, so that a question pays nothing for it."""

    def __init__(self, store: Store, width: int, fingerprint: str, change: Change) -> None:
        super().__init__(store, width, fingerprint)
        self._change = change
        self._changed: tuple[Snapshot, Snapshot] | None = None

    def get(self) -> Snapshot:
        held = super().get()
        if self._changed is None or self._changed[0] is not held:
            self._changed = held, self._change(held)
        return self._changed[1]


def no_main_sheets(of: Snapshot) -> Snapshot:
    """No sheet is its workbook's main one, so none is held back beside it."""
    return replace(of, main=LeadSheets.of(of.main.rows[:0], of.workbooks))


def silent_documentation(of: Snapshot) -> Snapshot:
    """Documentation speaks for no other sheet, and is still held back."""
    return replace(of, documentation=LeadSheets.of(of.documentation.rows, of.workbooks * 0))


def free_documentation(of: Snapshot) -> Snapshot:
    """Documentation is not held back by its role, and still speaks for others."""
    return replace(of, documentation=replace(of.documentation, rows=of.documentation.rows[:0]))


def no_name_words(of: Snapshot) -> Snapshot:
    """Words of names add nothing to a score.

    They still say how much of a question names cover, which main sheets a question means, and
    what links and reading weigh words by. A question of which no cell has a word keeps them.
    """
    return replace(of, lexical=_Unscored(of.lexical))


def no_cell_words(of: Snapshot) -> Snapshot:
    """Words of cells add nothing to a score, so documentation speaks for nobody either.

    Reading still knows how much they tell; it reads the ten best alone.
    """
    return replace(of, contents=_CellsUnscored(of.contents))


def _none_of(limit: float) -> WordScores:
    return WordScores(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32), limit, 0)


class _Unscored(LexicalScorer):
    """A scorer by which no sheet has a single word, and else what another says."""

    def __init__(self, whole: LexicalScorer) -> None:
        self._whole = whole
        self.formula = whole.formula

    def word(self, word: str) -> WordScores:
        return _none_of(0.0)

    def limit(self, word: str) -> float:
        return self._whole.limit(word)

    def having(self, words: Sequence[str]) -> NDArray[np.intp]:
        return self._whole.having(words)

    def scores(self, query: Sequence[str]) -> FloatArray:
        return self._whole.scores(query)

    def by_word(self, query: Sequence[str], places: NDArray[np.intp]) -> WordShares:
        return self._whole.by_word(query, places)


class _CellsUnscored(_Unscored):
    """The same of cells, by which no sheet has several words either."""

    def scores(self, query: Sequence[str]) -> FloatArray:
        return np.zeros(len(self), dtype=np.float32)


@contextmanager
def replaced(module: ModuleType, **values: object) -> Iterator[None]:
    """Give names of a module other values, and put the former ones back.

    Args:
        module: The module whose code looks the names up.
        values: Value of each name.

    Raises:
        AttributeError: If the module has no such name any more.
    """
    before = {name: getattr(module, name) for name in values}
    try:
        for name, value in values.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)
