"""The candidates of one question, with all that stages know about them: each fact is read once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sat_retriever.errors import InputError
from sat_retriever.index.search.question import Question
from sat_retriever.index.store.copies import StoredCopies
from sat_retriever.index.store.rows import SheetName
from sat_retriever.index.store.store import Store
from sat_retriever.links.copies.versions import named, newest_first
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.filters import Filters
from sat_retriever.records.hits import COPIES_LISTED, Copies
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.forward import ForwardIndex
from sat_retriever.text.lexical import WordShares
from sat_retriever.text.locate import QueryTerms

if TYPE_CHECKING:
    from sat_retriever.index.search.search import SheetSearch


@dataclass(slots=True)
class _Known:
    """The facts that were read so far, by sheet id; sets made of one another share them."""

    records: dict[str, SheetRecord | None] = field(default_factory=dict)  # None: not there any more
    names: dict[str, SheetName | None] = field(default_factory=dict)  # likewise
    texts: dict[str, ForwardIndex | None] = field(default_factory=dict)  # None: no contents
    tokens: tuple[list[str], FloatArray] | None = None  # those of some sheets, in their order
    terms: QueryTerms | None = None
    shares: WordShares | None = None
    columns: dict[str, int] = field(default_factory=dict)  # of `shares`
    # Links that have one end in `ends` and the other in `pool`.
    links: list[Link] = field(default_factory=list)
    ends: set[str] = field(default_factory=set)
    pool: list[str] = field(default_factory=list)


class CandidateSet:
    """Candidates of one question, in their order, and what is known about these sheets.

    A fact is read from the index when a stage first asks for it, for all candidates together, and
    then kept. A reranker needs nothing else: what it reads here is what the one who asks may see. A
    set is of one answer, and used by one thread at a time. Its filters are conditions that further
    sheets have to meet.
    """

    def __init__(
        self,
        search: SheetSearch,
        store: Store,
        question: Question,
        candidates: Iterable[Candidate],
        filters: Filters | None = None,
    ) -> None:
        self.question = question
        self.candidates = tuple(candidates)
        self.filters = filters
        self._search = search
        self._store = store
        self._known = _Known()

    def of(
        self, candidates: Iterable[Candidate], *, question: Question | None = None
    ) -> CandidateSet:
        """Other candidates of the question, or of it with other weights; facts are shared."""
        other = copy(self)
        other.candidates = tuple(candidates)
        other.question = question or self.question
        return other

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def ids(self) -> list[str]:
        """Sheet ids of the candidates."""
        return [candidate.sheet_id for candidate in self.candidates]

    def present(self, candidates: Iterable[Candidate]) -> CandidateSet:
        """Those of some candidates that are still in the index, whose `tokens` can be read."""
        found = self.of(candidates)
        while True:
            records = found.records()
            found = found.of(each for each in found.candidates if each.sheet_id in records)
            try:
                found.tokens()
            except InputError:  # removed after its record was read
                self._known.records.clear()
            else:
                return found

    def further(self, sheet_ids: Sequence[str]) -> list[Candidate]:
        """Other sheets that meet the filters, scored as candidates are, best first."""
        return self._search.score_sheets(self.question, sheet_ids, self.filters)

    # ---- facts about sheets

    def records(self) -> dict[str, SheetRecord]:
        """Records by sheet id, without contents; candidates that were removed are absent."""
        known, ids = self._known.records, self.ids
        if missing := [each for each in ids if each not in known]:
            known |= dict.fromkeys(missing) | self._store.records(missing)
        return {each: record for each in ids if (record := known[each]) is not None}

    def names(self, sheet_ids: Sequence[str]) -> dict[str, SheetName]:
        """Names of sheets, without reading their records; sheets that were removed are absent."""
        known = self._known.names
        if missing := [each for each in sheet_ids if each not in known]:
            known |= dict.fromkeys(missing) | self._store.names(missing)
        return {each: name for each in sheet_ids if (name := known[each]) is not None}

    def homes(self, sheet_ids: Sequence[str]) -> dict[str, str]:
        """Path of each sheet's workbook, or its name if it has no file; others are absent."""
        return {each: name.home for each, name in self.names(sheet_ids).items() if name.home}

    def texts(self, sheet_ids: Sequence[str]) -> dict[str, ForwardIndex]:
        """The texts of some sheets; those without contents are absent."""
        known = self._known.texts
        if missing := [each for each in sheet_ids if each not in known]:
            known |= dict.fromkeys(missing) | self._store.texts(missing)
        return {each: texts for each in sheet_ids if (texts := known[each]) is not None}

    @property
    def terms(self) -> QueryTerms:
        """The question as texts are compared with it; rare words of the index weigh most."""
        if self._known.terms is None:
            shares = self._known.shares or self._search.word_shares(self.question, ())
            rare = dict(zip(shares.words, shares.limits.tolist(), strict=True))
            self._known.terms = QueryTerms.of(self.question.read_as, rare)
        return self._known.terms

    def word_shares(self) -> WordShares:
        """Share of each word of the question in each candidate's score by names, in their order."""
        known, ids = self._known, self.ids
        if known.shares is None or not known.columns.keys() >= set(ids):
            known.shares = self._search.word_shares(self.question, ids)
            known.columns = {sheet_id: column for column, sheet_id in enumerate(ids)}
        columns = [known.columns[each] for each in ids]
        return replace(known.shares, shares=known.shares.shares[:, columns])

    def tokens(self) -> FloatArray:
        """Tokens of the candidates, (k, d) float32, of unit length; `InputError` if one is gone."""
        known, ids = self._known, self.ids
        if known.tokens is None or known.tokens[0] != ids:
            known.tokens = ids, self._search.tokens(ids)
        return known.tokens[1]

    def families(self) -> Mapping[str, int]:
        """The group of copies of each candidate that is in one."""
        names = self.names(self.ids).items()
        return {each: name.family for each, name in names if name.family is not None}

    def copies(self) -> Mapping[str, Copies]:
        """Copies of each candidate that has some, among the sheets that meet the filters."""
        return copies_of(self.families(), self._store.copies, self.filters)

    def without_copies(self) -> CandidateSet:
        """One sheet of each group of copies, in the place and with the score of its best.

        It is the newest that meets the filters, unless the question names another version. Of a
        question that names times only the sheets count that these hold back least.
        """
        families = self.families()
        if not families:
            return self
        best: dict[int | str, Candidate] = {}
        for each in self.candidates:
            best.setdefault(families.get(each.sheet_id, each.sheet_id), each)
        shown = [
            self._standing(key, each) if isinstance(key, int) else each
            for key, each in best.items()
        ]
        return self.of(
            each if each.rank == rank else each.placed(rank, each.score)
            for rank, each in enumerate(shown, start=1)
        )

    def _standing(self, family: int, best: Candidate) -> Candidate:
        """The sheet that stands for its group, in the place of the best of them."""
        members = newest_first(self._store.copies.members(family, self.filters))
        if self.question.times.spans:
            scored = self.further([each.sheet_id for each in members])
            most = max((each.time for each in scored), default=1.0)
            within = {each.sheet_id for each in scored if each.time == most}
            members = [each for each in members if each.sheet_id in within]
        if not members:
            return best
        chosen = named(self.question.text, members) or members[0]
        if chosen.sheet_id == best.sheet_id:
            return best
        own = self.further([chosen.sheet_id])
        return replace(own[0], rank=best.rank, score=best.score, via=best.via) if own else best

    # ---- links

    def links(self, ends: Sequence[str]) -> list[Link]:
        """Links with one end among some candidates and the other among all, by ends and type."""
        known, ids = self._known, set(self.ids)
        if not ids <= set(known.pool):
            known.pool, known.ends, known.links = self.ids, set(), []
        if missing := [each for each in ends if each not in known.ends]:
            known.ends.update(missing)
            read = {(link.source, link.target, link.type): link for link in known.links}
            for link in self._store.links.between(missing, known.pool):
                read[link.source, link.target, link.type] = link
            known.links = [read[key] for key in sorted(read)]
        some = set(ends)
        return [
            link
            for link in known.links
            if (link.source in some and link.target in ids)
            or (link.target in some and link.source in ids)
        ]

    def links_from(self, sheet_ids: Sequence[str], limit: int) -> dict[str, list[Link]]:
        """Links that start at each of a few sheets, also to other ones, of `limit` rows each."""
        return self._store.links.targets(sheet_ids, limit)


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
