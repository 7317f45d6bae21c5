"""Retrieve in one call: a query in, ranked sheets with their reasons out."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from sat_retriever.answer.conditions import failed_filters, unmet_conditions
from sat_retriever.answer.confidence import calibration
from sat_retriever.answer.hits import explanation_of, hits_of, skips_of
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.candidates import CandidateSet
from sat_retriever.index.search.question import Question
from sat_retriever.rank.load import AUTO, chosen_reranker
from sat_retriever.rank.reranker import COMPLETE_SHARE, Reranker, complete_set
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.explanation import RankExplanation
from sat_retriever.records.filters import Filters, check_counts
from sat_retriever.records.hits import Answer
from sat_retriever.records.permissions import Principals
from sat_retriever.records.tokens import FloatArray
from sat_retriever.stages import Stage, Told, stage, tell
from sat_retriever.system import check_wanted
from sat_retriever.text.period.spans import QueryPeriods, asked_on

CANDIDATES = 50  # the paper's K
_TIMES = 5  # most times of a question that a note names


class SheetRetriever:
    """Finds the sheets that answer a question.

    Args:
        index: The index to search.
        reranker: Stage 2. "auto" takes the trained reranker that the index names (`sat adapt`),
            else, for an index without contents, the one that this package has for its encoder,
            else "links", which needs no training (`LinkReranker`). Another name or path loads a
            trained reranker (`load_reranker`). None keeps the order of the candidates.
        candidates: Sheets that Stage 1 passes to Stage 2, the paper's K. None takes the number
            that the reranker was trained on, or 50 for an untrained one.

    Raises:
        InputError: If a folder does not exist or holds no reranker.
        EncoderError: If the reranker is damaged or cannot be opened.
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

    def seen_by(self, principals: Principals | None) -> SheetRetriever:
        """Return the same retriever for what some groups may see of the index.

        Args:
            principals: The groups of the one who asks, or `OWNER`; see `SheetIndex.seen_by`. None
                is this retriever, which an index with permissions refuses.

        Raises:
            InputError: If a group is no plain name.
            PermissionsError: If it is a retriever for some groups already.
        """
        if principals is None:
            return self
        other = copy(self)
        other.index = self.index.seen_by(principals)
        return other

    def retrieve(
        self,
        query: str,
        top_k: int = 5,
        filters: Filters | None = None,
        *,
        principals: Principals | None = None,
        min_score: float | None = None,
        token: FloatArray | None = None,
        today: date | None = None,
        all_copies: bool = False,
    ) -> Answer:
        """Return the best sheets, best first; ties are in the order of sheet ids.

        The answer is a list of hits. It also says how sure it is that the sheets searched hold
        what is asked (`confidence`), and what else a reader has to know (`heading`, `note`).

        Args:
            query: A question or a few words.
            top_k: Largest number of hits.
            filters: Conditions that every hit meets.
            principals: The groups of the one who asks, or `OWNER`; see `SheetIndex.seen_by`.
                None is for an index without permissions.
            min_score: Leave out hits below this score.
            token: The query's token (d,) by the index's encoder, if the caller has it already.
            today: The day from which "last year" and the like count; None is the day of the call.
            all_copies: Return every version of a sheet; False returns the newest one, or the one
                that the query names, for all.

        Raises:
            EmptyInputError: If the query is empty.
            InputError: If `top_k` is not a whole number above 0, or `token` does not have the
                index's width.
            PermissionsError: If the index has permissions, and there are no principals.
            EncoderError: If the index's encoder cannot be loaded.
        """
        check_counts(top_k=top_k)
        request = _Request(query, top_k, filters, token, asked_on(today), all_copies)
        return self.seen_by(principals)._answer(request, min_score)

    def retrieve_set(
        self,
        query: str,
        max_k: int = 20,
        filters: Filters | None = None,
        *,
        principals: Principals | None = None,
        min_score: float | None = None,
        today: date | None = None,
        all_copies: bool = False,
    ) -> Answer:
        """Return the sheets that together answer the query, best first.

        The list ends before the first sheet that scores clearly less than the best one. The
        reranker decides how much less; see `complete_set`. Options are those of `retrieve`.

        Raises:
            InputError: If `max_k` is less than 1; else as `retrieve`.
        """
        check_counts(max_k=max_k)
        request = _Request(query, max_k, filters, None, asked_on(today), all_copies)
        return self.seen_by(principals)._answer(request, min_score, complete=True)

    async def aretrieve(
        self,
        query: str,
        top_k: int = 5,
        filters: Filters | None = None,
        *,
        principals: Principals | None = None,
        min_score: float | None = None,
        token: FloatArray | None = None,
        today: date | None = None,
        all_copies: bool = False,
    ) -> Answer:
        """Do the same as `retrieve`, without blocking the event loop."""
        day = asked_on(today)  # of the call, not of the thread's start
        import asyncio  # a twentieth of a second that most programs do not need

        return await asyncio.to_thread(
            self.retrieve, query, top_k, filters, principals=principals,
            min_score=min_score, token=token, today=day, all_copies=all_copies,
        )  # fmt: skip

    def times(self, query: str, *, today: date | None = None) -> QueryPeriods:
        """Return the periods that a query names; their `label` gives them in words.

        Raises:
            EmptyInputError: If the query is empty.
        """
        return self.index.search.asked_times(query, today=asked_on(today))

    def why(
        self,
        query: str,
        sheet_id: str,
        filters: Filters | None = None,
        *,
        principals: Principals | None = None,
        today: date | None = None,
    ) -> RankExplanation:
        """Where a sheet stands for a question, and why it is not higher.

        A sheet that was skipped when its workbook was read may be named, too. One that does not
        meet the filters is ranked without them. Options are those of `retrieve`.

        Raises:
            EmptyInputError: If the query is empty.
            InputError: If there is no such sheet, or the principals may not see it.
            PermissionsError: If the index has permissions, and there are no principals.
        """
        if principals is not None:
            return self.seen_by(principals).why(query, sheet_id, filters, today=today)
        skipped = skips_of(self.index, sheet_id)
        if sheet_id not in self.index.records([sheet_id]):
            if not skipped:
                raise InputError(f"there is no sheet {sheet_id!r} in the index; check its id")
            sheets = len(self.index)
            return RankExplanation(query, sheet_id, None, None, sheets, 0, 0.0, skipped=skipped)
        request = _Request(query, self.candidates, filters, None, asked_on(today), all_copies=False)
        question = self._question(request)
        failed = failed_filters(self.index, question, sheet_id, filters)
        kept = None if failed else filters
        own = self.index.search.score_sheets(question, [sheet_id], kept)
        shown = self.index.search.candidate_set(question, own, kept).without_copies().ids
        shown_by = next((each for each in shown if each != sheet_id), None)
        request = replace(request, filters=kept, all_copies=shown_by is not None)
        best = self._ranked(question, request)
        placed, above = explanation_of(
            self.index, sheet_id, best, {} if shown_by else best.copies()
        )
        return RankExplanation(
            query,
            sheet_id,
            placed,
            above,
            sheets=self.index.search.count(kept),
            candidates=self.candidates if self.reranker else 0,
            dense_weight=question.dense_weight,
            filters=failed,
            skipped=skipped,
            shown_by=shown_by,
        )

    # ---- the path of a question: asked, found, ranked, answered

    @stage(Stage.SEARCH)
    def _answer(
        self, request: _Request, min_score: float | None, *, complete: bool = False
    ) -> Answer:
        """Return the best sheets as hits, and what is to be said about all of them.

        `complete` ends them before the first that is clearly worse; see `complete_set`.
        """
        tell(Told.QUESTION, request.query)
        with self.index.search.answering():
            question = self._question(request)
            check_wanted()
            found = self._ranked(question, request)
            check_wanted()
            size = request.most
            if complete:
                share = self.reranker.complete_share if self.reranker else COMPLETE_SHARE
                size = complete_set(found.candidates, size, share=share)
            best = found.of(
                each
                for each in found.candidates[:size]
                if min_score is None or each.score >= min_score
            )
            tell(Told.FOUND, *(each.sheet_id for each in best.candidates))
            sure = calibration().probability(self.index.search.evidence(question, request.filters))
            return Answer(
                hits_of(self.index, best, {} if request.all_copies else best.copies()),
                confidence=sure,
                answered=sure >= calibration().least,
                note=self._note(question, request.filters, found, best, min_score),
            )

    def _question(self, request: _Request) -> Question:
        weight = self.reranker.dense_weight if self.reranker else None
        return self.index.question(
            request.query, dense_weight=weight, token=request.token, today=request.today
        )

    def _ranked(self, question: Question, request: _Request) -> CandidateSet:
        """Return the candidates after Stage 2, as many as asked for or more if there are enough."""
        most = max(request.most, self.candidates) if self.reranker else request.most
        found = self.index.search.found(
            question, most, request.filters, all_copies=request.all_copies
        )
        if self.reranker is None:
            return found
        found = found.of(_phrases_first(self.reranker.rerank(found)))
        # Links may have added a copy of a sheet that is there.
        return found if request.all_copies else found.without_copies()

    def _note(
        self,
        question: Question,
        filters: Filters | None,
        found: CandidateSet,
        best: CandidateSet,
        min_score: float | None,
    ) -> str:
        """Words that were read otherwise, and why no sheet, or none of a time, was found."""
        said = [_read_otherwise(question)]
        if not found:
            said.append(unmet_conditions(self.index, filters))
        elif not best and min_score is not None:
            top = max(each.score for each in found.candidates)
            said.append(f"No sheet scores {min_score:g} or more; the best scores {top:.3f}.")
        elif missing := self.index.search.missing_times(question, filters):
            times = " or ".join(span.label for span in missing[:_TIMES])
            said.append(f"No sheet searched is named for {times}; check what times these hold.")
        return " ".join(filter(None, said))


def _read_otherwise(question: Question) -> str:
    """Words of the index that are searched for in place of misspelt ones; "" if none are."""
    if question.read_as == question.text:
        return ""
    from difflib import SequenceMatcher  # two milliseconds that few questions need

    asked, read = question.text.split(), question.read_as.split()
    edits = SequenceMatcher(None, asked, read, autojunk=False).get_opcodes()
    pairs = [
        f"{' '.join(read[first:last])!r} instead of {' '.join(asked[start:end])!r}"
        for kind, start, end, first, last in edits
        if kind != "equal"
    ]
    return f"Searched for {', '.join(pairs)}."


@dataclass(frozen=True, slots=True)
class _Request:
    """What one answer is asked for, as every step of its path reads it."""

    query: str
    most: int  # sheets
    filters: Filters | None
    token: FloatArray | None
    today: date
    all_copies: bool


def _phrases_first(found: Sequence[Candidate]) -> Sequence[Candidate]:
    """Return candidates with a phrase of the query before all others, each in their order."""
    ordered = sorted(found, key=lambda candidate: not candidate.phrase)
    if ordered == list(found):
        return found
    held = [replace(each, score=(each.score + 2 * each.phrase) / 3) for each in ordered]
    return [replace(each, rank=rank) for rank, each in enumerate(held, start=1)]
