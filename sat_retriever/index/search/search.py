"""From a query to candidates: a question is made, scored against all sheets, and answered."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import date

import numpy as np
from numpy.typing import NDArray

from sat_retriever.errors import InputError
from sat_retriever.index.search.candidates import CandidateSet
from sat_retriever.index.search.columns import is_large
from sat_retriever.index.search.fusion import dense_weight_with
from sat_retriever.index.search.matches import find_matches, with_words
from sat_retriever.index.search.pool import EXACT, best_scores, chosen_scores
from sat_retriever.index.search.question import Question, query_text
from sat_retriever.index.search.scores import (
    Evidence,
    Query,
    Scores,
    best_rows,
    evidence,
    rank_of,
    score_all,
)
from sat_retriever.index.search.snapshot import LatestSnapshot, Snapshot
from sat_retriever.index.settings import IndexState, check_dense_weight
from sat_retriever.index.store.store import Store
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.filters import Filters
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.forward import ForwardIndex
from sat_retriever.text.lexical import WordShares
from sat_retriever.text.period.question import asked_times
from sat_retriever.text.period.relation import elsewhere
from sat_retriever.text.period.spans import UNDATED, QueryPeriods, Span

RowIds = NDArray[np.int64]

_RECENT = 64  # queries whose tokens are kept: as many pipelines can run side by side
_ROUNDING = 1e-6  # of a unit token's length


class SheetSearch:
    """Answers questions from the present state of a store; safe to share between threads.

    It is the reader of rerankers, tools and the page: `SheetIndex.search`. Once the tokens of the
    index are of another encoder, a new search takes over.
    """

    def __init__(self, store: Store, state: IndexState, *, times: bool) -> None:
        self.times = times
        self._store = store
        self._state = state
        self._settings = state.settings
        self._latest = LatestSnapshot(store, self._settings.width, self._settings.fingerprint)
        self._recent: OrderedDict[str, FloatArray] = OrderedDict()
        self._recent_lock = threading.Lock()

    def warm_up(self) -> None:
        """Load the tokens now."""
        with self._store.reading():
            self._latest.get()

    def held_bytes(self) -> int:
        """Most bytes of the tokens in memory."""
        return self._latest.held_bytes()

    # ---- questions

    def question(
        self,
        query: str,
        today: date,
        *,
        dense_weight: float | None = None,
        token: FloatArray | None = None,
        times: bool | None = None,
    ) -> Question:
        """Encode and score a query."""
        text = query_text(query)
        if dense_weight is not None:
            check_dense_weight(dense_weight)
        token = self._state.query_token(text) if token is None else self._unit(token)
        self._keep(text, token)
        asked = self.asked_times(text, today=today, times=times)
        with self._store.reading():
            snapshot = self._latest.get()
            if dense_weight is None:
                noted = self._settings.dense_weight
                dense_weight = dense_weight_with(noted, contents=snapshot.has_contents)
            asking = Query(text, token, asked.spans, dense_weight)
            large = is_large(len(snapshot.ids))
            if large:
                scores = best_scores(self._store, snapshot, asking, EXACT)
            else:
                matches = find_matches(self._store, snapshot, text)
        if not large:  # arithmetic on a snapshot needs no lock: parallel queries run side by side
            scores = score_all(snapshot, asking, matches)
        found = scores.matches
        return Question(asking, found.words, asked, today, found.read_as, scores)

    def answering(self) -> AbstractContextManager[None]:
        """Read in the block all that one answer needs, with few trips to a database."""
        return self._store.answering()

    def recent_token(self, query: str) -> FloatArray | None:
        """The token (d,) of one of the last 64 queries, encoded or given to `question`; else None.

        A framework hands its reranker the text of a query, not what the retriever made of it. With
        this token the reranker need not encode the query again.
        """
        with self._recent_lock:
            return self._recent.get(query_text(query))

    def _keep(self, text: str, token: FloatArray) -> None:
        with self._recent_lock:
            self._recent[text] = token
            self._recent.move_to_end(text)
            if len(self._recent) > _RECENT:
                self._recent.popitem(last=False)

    def asked_times(
        self, query: str, *, today: date = UNDATED, times: bool | None = None
    ) -> QueryPeriods:
        """The periods that a query names, counted from `today`; none if periods do not count."""
        counts = self.times if times is None else times
        return asked_times(query_text(query), today) if counts else QueryPeriods()

    def missing_times(
        self, query: str | Question, filters: Filters | None = None, *, today: date = UNDATED
    ) -> tuple[Span, ...]:
        """Return the periods that a query names if every dated sheet lies outside them; else none.

        Only sheets that meet the filters count. `candidates` then scores as if the query named no
        period. A period that is part of a sheet's, as a month is of its year, is not missing. A
        question has its own `today`. An empty query raises `EmptyInputError`.
        """
        if isinstance(query, Question):
            asked = query.times.spans
            # Where times hold back a sheet, another one is of these times.
            if filters is None and query.scores.time.min(initial=1) < 1:
                return ()
        else:
            asked = self.asked_times(query, today=today).spans
        if not asked:
            return ()
        with self._store.reading():
            snapshot = self._latest.get()
            allowed = snapshot.matching(self._store, filters) if filters else None
        times = snapshot.periods.kinds
        if allowed is not None:
            times = snapshot.periods.of_some(np.searchsorted(snapshot.ids, allowed))
        return tuple(asked) if elsewhere(times, asked) else ()

    # ---- answers

    def candidates(
        self, question: Question, top_k: int, filters: Filters | None = None
    ) -> list[Candidate]:
        """The best sheets, best first; equal scores in the order of sheet ids."""
        scores, allowed = self._scored(question, filters, top_k)
        rows = best_rows(scores, top_k, allowed)
        row_ids: list[int] = scores.snapshot.ids[rows].tolist()
        names = self._store.sheet_ids(row_ids)
        # A writer may have removed a sheet since the snapshot; then it has no name.
        of_each = zip(rows.tolist(), row_ids, strict=True)
        places = {names[row_id]: row for row, row_id in of_each if row_id in names}
        scores.snapshot.note(places)
        return scores.candidates(places)

    def candidate_set(
        self, question: Question, candidates: Iterable[Candidate], filters: Filters | None = None
    ) -> CandidateSet:
        """Candidates, each once, as rerankers take them; the filters are for sheets they add."""
        return CandidateSet(self, self._store, question, candidates, filters)

    def found(
        self,
        question: Question,
        top_k: int,
        filters: Filters | None = None,
        *,
        all_copies: bool = False,
    ) -> CandidateSet:
        """The set of the best sheets, best first; one of each group of copies unless all count."""
        wanted = top_k
        while True:
            best = self.candidates(question, wanted, filters)
            found = self.candidate_set(question, best, filters)
            if all_copies:
                return found
            found = found.without_copies()
            if len(found) >= top_k or len(best) < wanted:
                return found.of(found.candidates[:top_k])
            wanted *= 2

    def with_words(self, groups: Sequence[Sequence[str]], most: int) -> tuple[list[str], int]:
        """Ids of the sheets with all words of a group in names or contents, and their number.

        A group has one word or more, as `text.segment.stems` gives them. Of more than `most` ids,
        those of the sheets come first whose words tell most.
        """
        with self._store.reading():
            snapshot = self._latest.get()
            rows, scores = with_words(snapshot, groups)
            best = snapshot.ids[rows[np.argsort(-scores, kind="stable")[:most]]].tolist()
            names = self._store.sheet_ids(best)
        return [names[each] for each in best if each in names], len(rows)

    def texts(self, sheet_ids: Sequence[str]) -> dict[str, ForwardIndex]:
        """The texts of some sheets with their words; sheets without contents are absent."""
        return self._store.texts(sheet_ids)

    def score_sheets(
        self, question: Question, sheet_ids: Sequence[str], filters: Filters | None = None
    ) -> list[Candidate]:
        """Return chosen sheets as candidates, best first, scored as `candidates` does.

        Sheets that are not in the index, or do not meet the filters, are absent. Ranks count within
        the result.
        """
        scores, allowed = self._scored(question, filters)
        parts = [scores]
        if scores.snapshot.whole is not None:
            others = [each for each in sheet_ids if each not in scores.snapshot.noted]
            parts += self._further(question, scores, others)
        found: dict[str, tuple[Scores, int]] = {}
        for part in parts:
            places = part.snapshot.places(self._store, sheet_ids)
            if allowed is not None:
                kept = np.isin(part.snapshot.ids[list(places.values())], allowed)
                places = {x: places[x] for x, keep in zip(places, kept, strict=True) if keep}
            found |= {sheet_id: (part, place) for sheet_id, place in places.items()}

        def best_first(sheet_id: str) -> tuple[float, str]:
            part, place = found[sheet_id]
            return -part.fused[place], sheet_id

        ranked = []
        for rank, sheet_id in enumerate(sorted(found, key=best_first), 1):
            part, place = found[sheet_id]
            ranked += part.candidates({sheet_id: place}, rank)
        return ranked

    def standing(
        self, question: Question, sheet_id: str, filters: Filters | None = None
    ) -> tuple[Candidate, ...]:
        """A sheet ranked among all that meet the filters, and the one above it; empty without."""
        scores, allowed = self._every(question, filters, sheet_id)
        snapshot = scores.snapshot
        row = snapshot.places(self._store, [sheet_id]).get(sheet_id)
        if row is None or (allowed is not None and snapshot.ids[row] not in allowed):
            return ()
        rank, above = rank_of(scores, row, allowed)
        own = scores.candidates({sheet_id: row}, rank)
        if above is None:
            return tuple(own)
        names = self._store.sheet_ids([int(snapshot.ids[above])]).values()
        return (*own, *scores.candidates(dict.fromkeys(names, above), rank - 1))

    def evidence(self, question: Question, filters: Filters | None = None) -> Evidence:
        """Signs that the sheets within the filters hold an answer to a question."""
        scores, allowed = self._scored(question, filters)
        if scores.wide is not None:
            scores = scores.wide
        snapshot = scores.snapshot
        counted = None
        if snapshot.whole is not None:
            counted = snapshot.sheets if allowed is None else len(allowed)
        rows = np.arange(len(snapshot.ids))
        if allowed is not None:
            rows = np.flatnonzero(np.isin(snapshot.ids, allowed))
        return evidence(scores, rows, counted)

    def word_shares(self, question: Question, sheet_ids: Sequence[str]) -> WordShares:
        """Share of each word in each sheet's score, columns in sheet order; 0 if it is unknown."""
        with self._store.reading():
            snapshot = self._latest.get()
            places = snapshot.places(self._store, sheet_ids)
            at = np.array([places.get(sheet_id, -1) for sheet_id in sheet_ids], dtype=np.intp)
            return snapshot.lexical.by_word(question.words, at)

    def tokens(self, sheet_ids: Sequence[str]) -> FloatArray:
        """Tokens of sheets in order, (n, d) float32, unit length; `InputError` for unknown ones."""
        with self._store.reading():
            ids = self._store.row_ids(sheet_ids)
            for sheet_id in sheet_ids:
                if sheet_id not in ids:
                    path = self._store.path
                    raise InputError(f"{sheet_id!r} is not in {path}; index its workbook first")
            return self._store.tokens_of([ids[each] for each in sheet_ids], self._settings.width)

    def check_filters(self, filters: Filters | None) -> None:
        """Raise `InputError` for a metadata field that no sheet has, unless the index is empty."""
        wanted = filters.metadata if filters else ()
        missing = [name for name in wanted if not self._store.has_field(name)]
        if missing and self._store.counts()["sheets"]:
            known = ", ".join(self._store.fields()) or "none"
            raise InputError(
                f"no sheet of {self._store.path} has the metadata field {', '.join(missing)}; "
                f"filter by a field of its sheets ({known}), or by workbook, path, visibility, "
                "format, role or period"
            )

    def count(self, filters: Filters | None = None) -> int:
        """Number of sheets that meet all conditions."""
        if not filters:
            return self._store.counts()["sheets"]
        with self._store.reading():
            snapshot = self._latest.get()
            return len(snapshot.matching(self._store, filters))

    # ---- inner workings

    def _unit(self, token: FloatArray) -> FloatArray:
        given = np.asarray(token, dtype=np.float32)
        length = float(np.linalg.norm(given))
        width = self._settings.width
        if given.shape != (width,) or not 0 < length < np.inf:
            raise InputError(
                f"the query's token has shape {given.shape} and length {length:g}; give one of "
                f"({width},) by the index's encoder, {self._state.encoder_name!r}"
            )
        return given if abs(length - 1) < _ROUNDING else given / np.float32(length)

    def _scored(
        self, question: Question, filters: Filters | None, top_k: int = 1
    ) -> tuple[Scores, RowIds | None]:
        """A question's scores of the present sheets, and the row ids that meet the filters, if any.

        Of a large index only the best sheets have scores, the best `top_k` among them.
        """
        with self._store.reading():
            snapshot = self._latest.get()
            allowed = snapshot.matching(self._store, filters) if filters else None
            scores = question.scores
            same = scores.snapshot.shows_the_same(snapshot)
            if is_large(len(snapshot.ids)):
                return self._of_large(snapshot, question, allowed, filters, top_k), allowed
            if not same:
                matches = find_matches(self._store, snapshot, question.text)
        if not same:
            scores = score_all(snapshot, question.query, matches)
        if allowed is not None:
            scores = scores.within(allowed)
        return scores, allowed

    def _of_large(
        self,
        snapshot: Snapshot,
        question: Question,
        allowed: RowIds | None,
        filters: Filters | None,
        top_k: int,
    ) -> Scores:
        same = question.scores.snapshot.shows_the_same(snapshot)
        if same and filters is None and 2 * top_k <= EXACT:
            return question.scores
        count = max(EXACT, 2 * top_k)
        key = f"{snapshot.state} {count} {filters}"
        if key not in question.parts:
            known = question.scores if same else None
            if known is None and filters is not None:
                known = best_scores(self._store, snapshot, question.query, EXACT)
            question.parts[key] = best_scores(
                self._store, snapshot, question.query, count, allowed, known
            )
        return question.parts[key]

    def _further(
        self, question: Question, scores: Scores, sheet_ids: Sequence[str]
    ) -> list[Scores]:
        with self._store.reading():
            snapshot = self._latest.get()
            places = list(snapshot.places(self._store, sheet_ids).values())
            known = np.isin(snapshot.ids[places], scores.snapshot.ids)
            rows = np.sort(np.array(places, dtype=np.intp)[~known])
            if not len(rows):
                return []
            return [chosen_scores(self._store, snapshot, question.query, rows, scores)]

    def _every(
        self, question: Question, filters: Filters | None, sheet_id: str
    ) -> tuple[Scores, RowIds | None]:
        """Scores of every sheet; of a large index exact ones of the best and of one more.

        All others have cosines of codes, which are off by less than 0.01.
        """
        best, allowed = self._scored(question, filters)
        if best.snapshot.whole is None:
            return best, allowed
        parts = [best, *self._further(question, best, [sheet_id])]
        with self._store.reading():
            snapshot = self._latest.get()
            matches = find_matches(self._store, snapshot, question.text, best.matches)
        scores = score_all(snapshot, question.query, matches)
        if not best.asked:
            scores = scores.without_times()
        return scores.with_exact(parts), allowed
