"""Sheets and texts from elsewhere in one ranking: what a framework's reranker is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from sat_retriever.errors import EmptyInputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.scoring import fuse
from sat_retriever.period.asked import asked_on
from sat_retriever.rank.links import LinkReranker
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import K1
from sat_retriever.text.segment import stems

# BM25's share for a word that stands once, outside of a name, in a sheet of mean length.
_WORD_SHARE = 1 / (1 + K1)
_READ_CHARS = 10_000  # of a text; encoders have room for fewer


@dataclass(frozen=True, slots=True)
class Passage:
    """One item of a list to be reranked.

    Attributes:
        text: What it says, or what gives that; asked for only if it is no sheet of the index.
        sheet_id: Sheet it stands for; None, or one that the index lacks, for other texts.
    """

    text: str | Callable[[], str]
    sheet_id: str | None = None

    def read(self) -> str:
        """What it says."""
        return self.text if isinstance(self.text, str) else self.text()


def rerank_mixed(
    reranker: Reranker,
    index: SheetIndex,
    query: str,
    passages: Sequence[Passage],
    *,
    today: date | None = None,
) -> list[tuple[int, float]]:
    """Place in `passages` and score of every passage, best first, each exactly once.

    Sheets of the index are scored by Stage 1 and reranked as candidates are; those that the
    reranker adds are left out, and passages of one sheet share its score. Any other passage
    is scored by Stage 1's formula over its text, and brought to the reranker's scale:

    - `LinkReranker` scores on Stage 1's scale, so the score stays: a sheet that links raise
      can pass a text, as it passes a sheet.
    - Of a trained reranker the scale is learned, and only known at the sheets at hand. There
      a text keeps its place: but for equal scores, as many sheets are above it after as
      before. Its score is interpolated between theirs; without sheets it stays.

    The text's words count as if they stood once in the headers of a sheet of mean length, each
    word of the query by its rarity in the index: a share of 1 / (1 + K1) for a text that has
    them all. Words that no sheet has count for nothing, as they do for sheets.

    Equal scores: sheets before other texts, sheets in the reranker's order, then by place.

    Source: none; the paper reranks sheets only. The place is kept by equipercentile
    linking (Kolen and Brennan, 2014).

    Args:
        reranker: Stage 2, for sheets of `index`.
        index: Where sheets are looked up, and whose encoder reads other texts.
        query: The query the passages were found for.
        passages: In any order; ids may repeat.
        today: The day that "last year" and the like count from; None is the day of the call.

    Raises:
        EmptyInputError: If the query has no character.
        EncoderError: If the encoder or the reranker cannot be run.
    """
    if not query.strip():
        raise EmptyInputError("the query is empty; ask in a few words")
    named = list(dict.fromkeys(p.sheet_id for p in passages if p.sheet_id is not None))
    weight = reranker.dense_weight
    day = asked_on(today)
    before = index.score_sheets(query, named, dense_weight=weight, today=day) if named else []
    after = _reranked(reranker, query, before)
    order = {candidate.sheet_id: rank for rank, candidate in enumerate(after)}
    scores = {candidate.sheet_id: candidate.score for candidate in after}
    others = [n for n, p in enumerate(passages) if p.sheet_id not in scores]
    texts = [passages[n].read() for n in others]
    found = score_texts(index, query, texts, dense_weight=weight)
    if not isinstance(reranker, LinkReranker):
        found = _in_place(found, [c.score for c in before if c.sheet_id in scores], scores)
    by_place = dict(zip(others, found.tolist(), strict=True))
    ranked = []
    for place, passage in enumerate(passages):
        if place in by_place:
            ranked.append((-by_place[place], len(order), place))
        else:
            sheet_id = passage.sheet_id or ""
            ranked.append((-scores[sheet_id], order[sheet_id], place))
    return [(place, -score) for score, _, place in sorted(ranked)]


def score_texts(
    index: SheetIndex, query: str, texts: Sequence[str], *, dense_weight: float | None = None
) -> FloatArray:
    """Stage 1's score of texts that are no sheets of the index, (n,) float32, in [-1, 1].

    A text without any character but white space scores 0, as one whose cosine is 0.

    Args:
        index: Its encoder reads the texts, as many words of each as it has room for.
        query: Words of any language.
        texts: The texts; the first 10,000 characters of each are read.
        dense_weight: Share of the cosine, in [0, 1]; None takes the index's own.

    Raises:
        EmptyInputError: If the query has no character.
        EncoderError: If the encoder cannot be run.
    """
    if not texts:
        return np.zeros(0, dtype=np.float32)
    read = [text[:_READ_CHARS].encode("utf-8", "replace").decode() for text in texts]  # Unicode
    dense = index.encoder.encode_sheets(read) @ index.query_token(query)  # (n,)
    known = index.word_shares(query, ())
    limits = dict(zip(known.words, known.limits.tolist(), strict=True))
    lexical = np.array([_word_share(limits, text) for text in read], dtype=np.float32)
    fused = fuse(dense, lexical, index.dense_weight if dense_weight is None else dense_weight)
    said = np.array([bool(text.strip()) for text in read])
    return np.where(said, fused, np.float32(0)).clip(-1, 1)


def _word_share(limits: Mapping[str, float], text: str) -> float:
    """Share of the query's words that a text has, on the scale of a sheet's BM25."""
    own = set(stems(text))
    return _WORD_SHARE * sum(limit for word, limit in limits.items() if word in own)


def _reranked(reranker: Reranker, query: str, before: Sequence[Candidate]) -> list[Candidate]:
    """The given candidates in their new order, without those that were added."""
    given = {candidate.sheet_id for candidate in before}
    found = reranker.rerank(query, before) if before else ()
    return [candidate for candidate in found if candidate.sheet_id in given]


def _in_place(found: FloatArray, before: Sequence[float], after: Mapping[str, float]) -> FloatArray:
    """Scores of texts on the reranker's scale, (n,): between the same sheets as before.

    The sorted scores before are the knots, the sorted scores after their values; the ends
    are 0 and 1, or the sheets' and the texts' own where they reach further.
    """
    if not after:
        return found
    knots, values = sorted(before), sorted(after.values())
    knots = [min(0.0, knots[0], *found.tolist()), *knots, max(1.0, knots[-1])]
    values = [min(0.0, values[0]), *values, max(1.0, values[-1])]
    return np.interp(found, knots, values).astype(np.float32)
