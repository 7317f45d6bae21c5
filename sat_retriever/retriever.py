"""The whole online path in one call: query in, ranked sheets and the reason for each out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Protocol

from sat_retriever.counts import check_counts
from sat_retriever.crossencoder import folder as pair_folder
from sat_retriever.crossencoder.rerank import CrossEncoderReranker
from sat_retriever.errors import FingerprintMismatchError, InputError, PathNotFoundError
from sat_retriever.filters import Filters
from sat_retriever.fingerprints import check_trained_on
from sat_retriever.graphrank import folder as graph_folder
from sat_retriever.graphrank.model import GraphModel
from sat_retriever.graphrank.rerank import GraphReranker
from sat_retriever.index import SheetIndex
from sat_retriever.jsonform import to_json
from sat_retriever.lexical import matched
from sat_retriever.linkrank import LinkReranker, complete_set
from sat_retriever.linkrank.complete import COMPLETE_SHARE
from sat_retriever.modelfolder import folder_kind
from sat_retriever.packaged import is_packaged, packaged_model
from sat_retriever.period.asked import AskedTimes
from sat_retriever.period.periods import period_of
from sat_retriever.period.spans import Span
from sat_retriever.types import Candidate, FloatArray, Link, SheetRecord

CANDIDATES = 50  # the paper's K
LINKS, AUTO = "links", "auto"
_TIMES = 5  # of a question that a note names
IN_A_RUN = ("reranker", "cross-encoder")  # folders of a run, where a training puts what it trained


class Reranker(Protocol):
    """Stage 2: candidates in, the same sheets in a better order out."""

    @property
    def dense_weight(self) -> float | None:
        """Share of the cosine in the score that candidates are found by; None: the index's."""
        ...

    @property
    def candidates(self) -> int | None:
        """How many candidates it was trained on; None: any number."""
        ...

    @property
    def complete_share(self) -> float:
        """Share of the best score that a sheet of a complete answer has at least, in (0, 1]."""
        ...

    def rerank(
        self, query: str, candidates: Sequence[Candidate], filters: Filters | None = None
    ) -> Sequence[Candidate]:
        """Candidates with new scores and ranks, best first.

        More may be added, if they meet the filters.
        """
        ...


def load_reranker(index: SheetIndex, folder: str | Path) -> Reranker:
    """The trained reranker in a folder, of whichever kind, for the sheets of an index.

    Args:
        index: Where candidates come from.
        folder: A trained reranker, the run folder of its training, or "general", the one of
            this package for indexes that its encoder "general" made.

    Raises:
        PathNotFoundError: If there is no such folder.
        InputError: If there is no reranker in it.
        EncoderError: If the reranker is damaged or cannot be opened.
        FingerprintMismatchError: If it was trained on other tokens or texts than the index has.
    """
    if is_packaged(folder):
        return _packaged(index, str(folder))
    folder = Path(folder)
    if not folder.is_dir():
        raise PathNotFoundError(f"there is no folder {folder}; name one with a trained reranker")
    for place in (folder, *(folder / name for name in IN_A_RUN)):
        kind = folder_kind(place)
        if kind == graph_folder.KIND:
            return GraphReranker.load(index, place)
        if kind == pair_folder.KIND:
            return CrossEncoderReranker.load(index, place)
    raise InputError(
        f"{folder} holds no trained reranker; name a folder that 'sat train reranker' or "
        "'sat train cross-encoder' wrote; one that was stopped goes on with the same command"
    )


def _packaged(index: SheetIndex, name: str) -> Reranker:
    """A reranker of this package, if it knows the tokens and texts of the index."""
    model = packaged_model(name, "reranker", GraphModel.load)
    try:
        return GraphReranker(index, model)
    except FingerprintMismatchError as error:
        raise FingerprintMismatchError(
            f"the reranker {name!r} reads what the encoder {name!r} wrote, but {index.path} was "
            f"written with {index.encoder_name!r}, or by another version: index the folders anew "
            f"(sat index FOLDER --index NEW --encoder {name}), or search with the reranker "
            f"{LINKS!r}"
        ) from error


def own_reranker_name(index: SheetIndex) -> str:
    """What `own_reranker` loads: a folder, the name of one of this package, or "links".

    Loads no model: of one of this package only what it was trained on is read.

    Raises:
        EncoderError: If this installation has no such reranker, or its files were changed.
    """
    if index.reranker_name is not None:
        return index.reranker_name
    name = index.encoder_name
    if is_packaged(name):
        spec = packaged_model(name, "reranker", graph_folder.read_graph_folder)
        on = {"encoder": spec.encoder, "serialization": spec.serialization}
        with suppress(FingerprintMismatchError):  # an index of other texts, or of another version
            check_trained_on(index, Path(name), "reranker", **on)
            return name
    return LINKS


def own_reranker(index: SheetIndex) -> Reranker:
    """The reranker of an index: the trained one that it names, else the one of this package.

    An index that names none and whose encoder is none of this package's, or whose texts are
    others, has the link reranker.

    Raises:
        PathNotFoundError: If the reranker that it names is not there.
        EncoderError: If that is damaged.
        FingerprintMismatchError: If that was trained on other tokens than the index has.
    """
    name = own_reranker_name(index)
    if name == LINKS:
        return LinkReranker(index)
    return _packaged(index, name) if is_packaged(name) else _named(index, name)


def _named(index: SheetIndex, folder: str) -> Reranker:
    """The reranker that an index names."""
    if not Path(folder).is_dir():
        raise PathNotFoundError(
            f"{index.path} is searched with the trained reranker in {folder}, which is not there: "
            f"put it back, or search with the reranker {LINKS!r}"
        )
    return load_reranker(index, folder)


@dataclass(frozen=True, slots=True)
class Why:
    """What speaks for a sheet.

    Attributes:
        words: Words of the query that its name, headers or folder have.
        headers: Its headers that share a word with the query, at most ten.
        dense: Cosine of query and sheet token.
        lexical: BM25 as a share of the query's best possible.
        dense_rank: Rank by cosine alone among all sheets.
        lexical_rank: Rank by BM25 alone; None when no word matches.
        links: Links from or to other hits of the same answer.
        via: Link that lifted it most; None when no link did.
        period: Its time, if that lies within one that the query names.
    """

    words: tuple[str, ...]
    headers: tuple[str, ...]
    dense: float
    lexical: float
    dense_rank: int
    lexical_rank: int | None
    links: tuple[Link, ...] = ()
    via: Link | None = None
    period: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One sheet of an answer.

    Attributes:
        rank: 1 for the best.
        score: What the ranking is by; higher is better.
        record: The sheet.
        why: What speaks for it.
    """

    rank: int
    score: float
    record: SheetRecord
    why: Why

    @property
    def sheet_id(self) -> str:
        """Id of the sheet."""
        return self.record.sheet_id

    def to_dict(self) -> dict[str, Any]:
        """The hit as plain JSON values, as `sat search --json` prints it."""
        record = self.record
        return {
            "sheet_id": record.sheet_id,
            "citation": record.citation,
            "rank": self.rank,
            "score": round(self.score, 6),
            "workbook": record.workbook,
            "path": record.path,
            "sheet": record.sheet,
            "range": record.main_range,
            "header_row": record.header_row,
            "columns": to_json(record.columns),
            "visibility": record.visibility.value,
            "why": {
                "words": list(self.why.words),
                "headers": list(self.why.headers),
                "dense": round(self.why.dense, 6),
                "lexical": round(self.why.lexical, 6),
                "dense_rank": self.why.dense_rank,
                "lexical_rank": self.why.lexical_rank,
                "links": [_link(link) for link in self.why.links],
                "via": _link(self.why.via) if self.why.via else None,
                "period": self.why.period,
            },
        }


def _period(record: SheetRecord, asked: Sequence[Span]) -> str | None:
    """A sheet's time in words, if it lies within one that is asked for."""
    own = period_of(record) if asked else None
    within = own is not None and any(span.covers(own) for span in asked)
    return own.label if own is not None and within else None


def asked_on(today: date | None) -> date:
    """The day of a question: the given one, or else the present one by this machine's clock."""
    return date.today() if today is None else today


def _link(link: Link) -> dict[str, str]:
    ends = {"from": link.source, "to": link.target}
    return {**ends, "type": link.type, "evidence": link.evidence}


def _stage_2(index: SheetIndex, reranker: Reranker | str | Path | None) -> Reranker | None:
    if reranker == AUTO:
        return own_reranker(index)
    if reranker == LINKS:
        return LinkReranker(index)
    return load_reranker(index, reranker) if isinstance(reranker, (str, Path)) else reranker


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
        self.reranker = _stage_2(index, reranker)
        own = self.reranker.candidates if self.reranker else None
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
    ) -> list[Hit]:
        """The best sheets, best first; equally good ones in the order of sheet ids.

        Args:
            query: A question or a few words.
            top_k: Most hits.
            filters: Conditions every hit meets.
            min_score: Hits below this score are left out.
            token: The query's token (d,) by the index's encoder, if it is at hand already.
            today: The day that "last year" and the like count from; None is the day of the call.

        Raises:
            EmptyInputError: If the query is empty.
            InputError: If `top_k` is no whole number above 0, or `token` none of the index's
                width.
            EncoderError: If the index's encoder cannot be loaded.
        """
        day = asked_on(today)
        found = self._ranked(query, top_k, filters, day, token)[:top_k]
        return self._explain(query, found, min_score, day)

    def retrieve_set(
        self,
        query: str,
        max_k: int = 20,
        filters: Filters | None = None,
        *,
        min_score: float | None = None,
        today: date | None = None,
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

        Raises:
            EmptyInputError: If the query is empty.
            InputError: If `max_k` is less than 1.
            EncoderError: If the index's encoder cannot be loaded.
        """
        day = asked_on(today)
        found = self._ranked(query, max_k, filters, day)
        share = self.reranker.complete_share if self.reranker else COMPLETE_SHARE
        best = found[: complete_set(found, max_k, share=share)]
        return self._explain(query, best, min_score, day)

    async def aretrieve(
        self,
        query: str,
        top_k: int = 5,
        filters: Filters | None = None,
        *,
        min_score: float | None = None,
        token: FloatArray | None = None,
        today: date | None = None,
    ) -> list[Hit]:
        """Like `retrieve`, without blocking the event loop."""
        day = asked_on(today)  # of the call, not of the thread's start
        return await asyncio.to_thread(
            self.retrieve, query, top_k, filters, min_score=min_score, token=token, today=day
        )

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

    def _ranked(
        self,
        query: str,
        top_k: int,
        filters: Filters | None,
        today: date,
        token: FloatArray | None = None,
    ) -> Sequence[Candidate]:
        """Candidates after Stage 2, `top_k` or more of them if there are."""
        check_counts(top_k=top_k)
        if self.reranker is None:
            return self.index.candidates(query, top_k, filters, token=token, today=today)
        wanted, weight = max(top_k, self.candidates), self.reranker.dense_weight
        found = self.index.candidates(
            query, wanted, filters, dense_weight=weight, token=token, today=today
        )
        return self.reranker.rerank(query, found, filters)

    def _explain(
        self, query: str, found: Sequence[Candidate], min_score: float | None, today: date
    ) -> list[Hit]:
        """Hits that score enough, with their records and reasons."""
        best = [c for c in found if min_score is None or c.score >= min_score]
        ids = [candidate.sheet_id for candidate in best]
        records = self.index.records(ids)
        links = self.index.links_between(ids, ids)
        asked = self.index.asked_times(query, today=today).spans
        hits = []
        for rank, candidate in enumerate(best, start=1):
            record = records.get(candidate.sheet_id)
            if record is None:  # removed by a writer since the candidates were found
                continue
            words, headers = matched(record, query)
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
                period=_period(record, asked),
            )
            hits.append(Hit(rank, candidate.score, record, why))
        return hits
