"""Copies among the sheets that are found: one stands for its group, the others are counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sat_retriever.index.search.question import Question
from sat_retriever.index.search.search import SheetSearch
from sat_retriever.index.store.store import Store
from sat_retriever.links.copies.versions import named, newest_first
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.filters import Filters
from sat_retriever.records.hits import COPIES_LISTED, Copies

Find = Callable[[int], Sequence[Candidate]]


class CopyFolding:
    """Folds copies in the answers of a search; safe to share between threads."""

    def __init__(self, store: Store, search: SheetSearch) -> None:
        self._store = store
        self._search = search

    def candidates(
        self, question: Question, top_k: int, filters: Filters | None
    ) -> Sequence[Candidate]:
        """The best sheets, best first, one of each group: `top_k` if there are so many."""
        wanted = top_k
        while True:
            found = self._search.candidates(question, wanted, filters)
            folded = self.folded(question, found, filters)
            if len(folded) >= top_k or len(found) < wanted:
                return folded[:top_k]
            wanted *= 2

    def folded(
        self, question: Question, ranked: Sequence[Candidate], filters: Filters | None
    ) -> Sequence[Candidate]:
        """A ranking with one sheet of each group, in the place and with the score of its best.

        It is the newest that meets the filters, unless the question names another version. Of a
        question that names times only the sheets count that these hold back least.
        """
        if not self._store.copies.exist():
            return ranked
        families = self._store.copies.families([each.sheet_id for each in ranked])
        best: dict[int | str, Candidate] = {}
        for candidate in ranked:
            key = families.get(candidate.sheet_id, candidate.sheet_id)
            best.setdefault(key, candidate)
        shown = [
            self._standing(question, key, candidate, filters) if isinstance(key, int) else candidate
            for key, candidate in best.items()
        ]
        return [
            each if each.rank == rank else replace(each, rank=rank)
            for rank, each in enumerate(shown, start=1)
        ]

    def _standing(
        self, question: Question, family: int, best: Candidate, filters: Filters | None
    ) -> Candidate:
        """The sheet that stands for its group, in the place of the best of them."""
        members = newest_first(self._store.copies.members(family, filters))
        if question.times.spans:
            scored = self._search.score_sheets(question, [x.sheet_id for x in members], filters)
            most = max((each.time for each in scored), default=1.0)
            within = {each.sheet_id for each in scored if each.time == most}
            members = [each for each in members if each.sheet_id in within]
        if not members:
            return best
        chosen = named(question.text, members) or members[0]
        if chosen.sheet_id == best.sheet_id:
            return best
        found = self._search.score_sheets(question, [chosen.sheet_id], filters)
        return replace(found[0], rank=best.rank, score=best.score, via=best.via) if found else best

    def copies(
        self, sheet_ids: Sequence[str], filters: Filters | None = None
    ) -> Mapping[str, Copies]:
        """The copies of each sheet that has some and meets the filters."""
        if not self._store.copies.exist():
            return {}
        families = self._store.copies.families(sheet_ids)
        found = {
            sheet_id: self._copies(sheet_id, family, filters)
            for sheet_id, family in families.items()
        }
        return {sheet_id: copies for sheet_id, copies in found.items() if copies}

    def _copies(self, sheet_id: str, family: int, filters: Filters | None) -> Copies:
        members = newest_first(self._store.copies.members(family, filters))
        number = self._store.copies.count(family, filters)
        files = {each.sheet_id: each.file for each in members}
        own, others = files.pop(sheet_id, ""), list(files)
        newer = next((n for n, x in enumerate(members) if x.sheet_id == sheet_id), len(members))
        equal = [each for each in others if own and files[each] == own]
        return Copies(
            number - 1, newer, tuple(others[:COPIES_LISTED]), tuple(equal[:COPIES_LISTED])
        )
