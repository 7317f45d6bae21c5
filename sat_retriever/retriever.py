"""The whole online path in one call: query in, ranked sheets and the reason for each out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from sat_retriever.index.index import SheetIndex
from sat_retriever.index.question import Question
from sat_retriever.period.asked import AskedTimes, asked_on
from sat_retriever.period.periods import period_of
from sat_retriever.period.spans import Span
from sat_retriever.rank.complete import COMPLETE_SHARE, complete_set
from sat_retriever.rank.load import AUTO, chosen_reranker
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.copies import NO_COPIES, CopiesOf
from sat_retriever.records.counts import check_counts
from sat_retriever.records.filters import Filters
from sat_retriever.records.hits import Hit, Why
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import matched

CANDIDATES = 50  # the paper's K
_TIMES = 5  # of a question that a note names


class SheetRetriever:
    """Finds the sheets that answer a question.

    Args:
        index: Where to look.
        reranker: Stage 2; "auto" is the trained one that the index names (`sat adapt`), else
            the one that this package has for its encoder, else "links", the one that needs no
            training (`LinkReranker`); any other name or path is a trained one
            (`load_reranker`); None keeps the order of the candidates.
        candidates: Sheets that Stage 1 hands to Stage 2, the paper's K; None takes as many as
            the reranker was trained on, 50 if it was on none.

    Raises:
        InputError: If a folder is not there, or holds no reranker.
        EncoderError: If the reranker in it is damaged or cannot be opened.
        FingerprintMismatchError: If it was trained on other tokens than the index has.
    """

    def __init__(
        self,
        index: SheetIndex,
        reranker: Reranker | str | Path | None = AUTO,
        *,
        candidates: int | None = None,
    ) -> None:
        self.index = index
        self.reranker = chosen_reranker(index, reranker)
        own = self.reranker.trained_candidates if self.reranker else None
        self.candidates = candidates or own or CANDIDATES

    def retrieve(
        self,
        query: str,
        top_k: int = 5,
        filters: Filters | None = None,
        *,
        min_score: float | None = None,
        token: FloatArray | None = None,
        today: date | None = None,
        all_copies: bool = False,
    ) -> list[Hit]:
        """The best sheets, best first; equally good ones in the order of sheet ids.

        Args:
            query: A question or a few words.
            top_k: Most hits.
            filters: Conditions every hit meets.
            min_score: Hits below this score are left out.
            token: The query's token (d,) by the index's encoder, if it is at hand already.
            today: The day that "last year" and the like count from; None is the day of the call.
            all_copies: Show every version of a sheet, not the newest one, or the one that the
                query names, for all.

        Raises:
            EmptyInputError: If the query is empty.
            InputError: If `top_k` is no whole number above 0, or `token` none of the index's
                width.
            EncoderError: If the index's encoder cannot be loaded.
        """
        check_counts(top_k=top_k)
        question = self._question(query, today, token)
        found = self._ranked(question, top_k, filters, all_copies=all_copies)[:top_k]
        copies = {} if all_copies else self._copies(found, filters)
        return self._explain(question, found, min_score, copies)

    def retrieve_set(
        self,
        query: str,
        max_k: int = 20,
        filters: Filters | None = None,
        *,
        min_score: float | None = None,
        today: date | None = None,
        all_copies: bool = False,
    ) -> list[Hit]:
        """The sheets that together answer the query, as many as it takes, best first.

        The answer ends before the first sheet that scores clearly less than the best one:
        how much less is the reranker's to say; see `complete_set`.

        Args:
            query: A question or a few words.
            max_k: Most hits.
            filters: Conditions every hit meets.
            min_score: Hits below this score are left out.
            today: The day that "last year" and the like count from; None is the day of the call.
            all_copies: As `retrieve`.

        Raises:
            EmptyInputError: If the query is empty.
            InputError: If `max_k` is less than 1.
            EncoderError: If the index's encoder cannot be loaded.
        """
        check_counts(max_k=max_k)
        question = self._question(query, today)
        found = self._ranked(question, max_k, filters, all_copies=all_copies)
        share = self.reranker.complete_share if self.reranker else COMPLETE_SHARE
        best = found[: complete_set(found, max_k, share=share)]
        copies = {} if all_copies else self._copies(best, filters)
        return self._explain(question, best, min_score, copies)

    async def aretrieve(
        self,
        query: str,
        top_k: int = 5,
        filters: Filters | None = None,
        *,
        min_score: float | None = None,
        token: FloatArray | None = None,
        today: date | None = None,
        all_copies: bool = False,
    ) -> list[Hit]:
        """Like `retrieve`, without blocking the event loop."""
        day = asked_on(today)  # of the call, not of the thread's start
        return await asyncio.to_thread(
            self.retrieve, query, top_k, filters,
            min_score=min_score, token=token, today=day, all_copies=all_copies,
        )  # fmt: skip

    def times(self, query: str, *, today: date | None = None) -> AskedTimes:
        """The times that a query is understood to name; its `label` says them in words.

        Args:
            query: A question or a few words.
            today: The day that "last year" and the like count from; None is the day of the call.

        Raises:
            EmptyInputError: If the query is empty.
        """
        return self.index.asked_times(query, today=asked_on(today))

    def note(self, query: str, filters: Filters | None = None, *, today: date | None = None) -> str:
        """What to know of a query's hits as a whole: that none is of a time it names; else "".

        Args:
            query: A question or a few words.
            filters: Conditions every hit meets.
            today: The day that "last year" and the like count from; None is the day of the call.

        Raises:
            EmptyInputError: If the query is empty.
        """
        missing = self.index.missing_times(query, filters, today=asked_on(today))
        if not missing:
            return ""
        times = " or ".join(span.label for span in missing[:_TIMES])
        return f"No sheet searched is named for {times}; check what times these hold."

    def _question(
        self, query: str, today: date | None, token: FloatArray | None = None
    ) -> Question:
        """The query with all that the stages read of it, in the weights of the reranker."""
        weight = self.reranker.dense_weight if self.reranker else None
        day = asked_on(today)
        return self.index.question(query, dense_weight=weight, token=token, today=day)

    def _ranked(
        self, question: Question, top_k: int, filters: Filters | None, *, all_copies: bool
    ) -> Sequence[Candidate]:
        """Candidates after Stage 2, `top_k` or more of them if there are."""
        find = self.index.candidates if all_copies else self.index.distinct_candidates
        if self.reranker is None:
            return find(question, top_k, filters)
        found = find(question, max(top_k, self.candidates), filters)
        ranked = self.reranker.rerank(question, found, filters)
        # Links may have added a copy of a sheet that is there.
        return ranked if all_copies else self.index.without_copies(question, ranked, filters)

    def _copies(self, found: Sequence[Candidate], filters: Filters | None) -> CopiesOf:
        return self.index.copies([each.sheet_id for each in found], filters)

    def _explain(
        self,
        question: Question,
        found: Sequence[Candidate],
        min_score: float | None,
        copies: CopiesOf,
    ) -> list[Hit]:
        """Hits that score enough, with their records and reasons."""
        best = [c for c in found if min_score is None or c.score >= min_score]
        ids = [candidate.sheet_id for candidate in best]
        records = self.index.records(ids)
        links = self.index.links_between(ids, ids)
        hits = []
        for rank, candidate in enumerate(best, start=1):
            record = records.get(candidate.sheet_id)
            if record is None:  # removed by a writer since the candidates were found
                continue
            words, headers = matched(record, question.text)
            own = tuple(x for x in links if candidate.sheet_id in (x.source, x.target))
            why = Why(
                words=words,
                headers=headers,
                dense=candidate.dense,
                lexical=candidate.lexical,
                dense_rank=candidate.dense_rank,
                lexical_rank=candidate.lexical_rank,
                links=own,
                via=candidate.via,
                period=_period(record, question.times.spans),
            )
            own_copies = copies.get(candidate.sheet_id, NO_COPIES)
            hits.append(Hit(rank, candidate.score, record, why, own_copies))
        return hits


def _period(record: SheetRecord, asked: Sequence[Span]) -> str | None:
    """A sheet's time in words, if it lies within one that is asked for."""
    own = period_of(record) if asked else None
    within = own is not None and any(span.covers(own) for span in asked)
    return own.label if own is not None and within else None
