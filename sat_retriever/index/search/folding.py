"""Copies among the sheets that are found: one stands for its group, the others are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sat_retriever.index.store.copies import StoredCopies
from sat_retriever.links.copies.versions import named, newest_first
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.filters import Filters
from sat_retriever.records.hits import COPIES_LISTED, Copies

if TYPE_CHECKING:
    from sat_retriever.index.search.candidates import CandidateSet


def folded(found: CandidateSet, stored: StoredCopies) -> CandidateSet:
    """A ranking with one sheet of each group, in the place and with the score of its best.

    It is the newest that meets the filters, unless the question names another version. Of a
    question that names times only the sheets count that these hold back least.
    """
    families = found.families()
    if not families:
        return found
    best: dict[int | str, Candidate] = {}
    for candidate in found.candidates:
        best.setdefault(families.get(candidate.sheet_id, candidate.sheet_id), candidate)
    shown = [
        _standing(found, stored, key, candidate) if isinstance(key, int) else candidate
        for key, candidate in best.items()
    ]
    return found.of(
        each if each.rank == rank else replace(each, rank=rank)
        for rank, each in enumerate(shown, start=1)
    )


def _standing(found: CandidateSet, stored: StoredCopies, family: int, best: Candidate) -> Candidate:
    """The sheet that stands for its group, in the place of the best of them."""
    members = newest_first(stored.members(family, found.filters))
    if found.question.times.spans:
        scored = found.further([each.sheet_id for each in members])
        most = max((each.time for each in scored), default=1.0)
        within = {each.sheet_id for each in scored if each.time == most}
        members = [each for each in members if each.sheet_id in within]
    if not members:
        return best
    chosen = named(found.question.text, members) or members[0]
    if chosen.sheet_id == best.sheet_id:
        return best
    own = found.further([chosen.sheet_id])
    return replace(own[0], rank=best.rank, score=best.score, via=best.via) if own else best


def copies_of(
    families: Mapping[str, int], stored: StoredCopies, filters: Filters | None
) -> Mapping[str, Copies]:
    """The copies of each sheet, given with its group, that has some and meets the filters."""
    found = {}
    for sheet_id, family in families.items():
        members = newest_first(stored.members(family, filters))
        files = {each.sheet_id: each.file for each in members}
        own, others = files.pop(sheet_id, ""), list(files)
        newer = next((n for n, x in enumerate(members) if x.sheet_id == sheet_id), len(members))
        equal = [each for each in others if own and files[each] == own]
        copies = Copies(
            stored.count(family, filters) - 1,
            newer,
            tuple(others[:COPIES_LISTED]),
            tuple(equal[:COPIES_LISTED]),
        )
        if copies:
            found[sheet_id] = copies
    return found
