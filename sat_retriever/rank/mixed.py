"""One ranking of sheets and other texts: the candidates that a framework hands over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.fusion import fuse
from sat_retriever.index.search.question import Question
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import K1
from sat_retriever.text.period.spans import asked_on
from sat_retriever.text.segment import stems

# BM25's share for a word that stands once, outside of a name, in a sheet of mean length.
_WORD_SHARE = 1 / (1 + K1)
_READ_CHARS = 10_000  # of a text; encoders have room for fewer


@dataclass(frozen=True, slots=True)
class Passage:
    """One item of a list to be reranked."""

    # Its text, or a function that gives it; called only if it is no sheet of the index.
    text: str | Callable[[], str]
    # Sheet that it stands for; for other texts None, or an id that the index lacks.
    sheet_id: str | None = None

    def read(self) -> str:
        """Its text."""
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

    - A reranker that keeps the scale (`Reranker.keeps_scale`, as `LinkReranker` does) scores as
      Stage 1 does, so the text's score stays: a sheet that links raise can pass a text, as it
      passes a sheet.
    - Any other scale is known at the given sheets only. There a text keeps its place: apart
      from equal scores, as many sheets are above it after as before. Its score is interpolated
      between theirs; without sheets it stays.

    The text's words count as if they stood once in the headers of a sheet of mean length, each
    word of the query by its rarity in the index: a share of 1 / (1 + K1) for a text that has
    them all. Words that no sheet has count for nothing, as they do for sheets.

    Equal scores: sheets before other texts, sheets in the reranker's order, then by place. A query
    that this index encoded a moment ago is not encoded again.

    Source: none; the paper reranks sheets only. The place is kept by equipercentile
    linking (Kolen and Brennan, 2014).

    Raises:
        EmptyInputError: If the query has no character.
        EncoderError: If the encoder or the reranker cannot be run.
    """
    weight, day = reranker.dense_weight, asked_on(today)
    token = index.search.recent_token(query)
    question = index.question(query, dense_weight=weight, token=token, today=day)
    named = list(dict.fromkeys(p.sheet_id for p in passages if p.sheet_id is not None))
    before = index.search.score_sheets(question, named) if named else []
    given = {candidate.sheet_id for candidate in before}
    found_after = reranker.rerank(index.search.candidate_set(question, before)) if before else ()
    after = [candidate for candidate in found_after if candidate.sheet_id in given]
    order = {candidate.sheet_id: rank for rank, candidate in enumerate(after)}
    scores = {candidate.sheet_id: candidate.score for candidate in after}
    others = [n for n, p in enumerate(passages) if p.sheet_id not in scores]
    texts = [passages[n].read() for n in others]
    found = score_texts(index, question, texts)
    if not reranker.keeps_scale:
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


def score_texts(index: SheetIndex, question: Question, texts: Sequence[str]) -> FloatArray:
    """Stage 1's score of texts that are no sheets of the index, (n,) float32, in [-1, 1].

    A text of white space alone scores 0. The first 10,000 characters of each are read, as far as
    the encoder has room.
    """
    if not texts:
        return np.zeros(0, dtype=np.float32)
    read = [text[:_READ_CHARS].encode("utf-8", "replace").decode() for text in texts]  # Unicode
    dense = index.encoder.encode_sheets(read) @ question.token  # (n,)
    known = index.search.word_shares(question, ())
    limits = dict(zip(known.words, known.limits.tolist(), strict=True))
    lexical = np.zeros(len(read), dtype=np.float32)
    for place, text in enumerate(read):
        own = set(stems(text))
        lexical[place] = _WORD_SHARE * sum(limits[word] for word in limits if word in own)
    fused = fuse(dense, lexical, question.dense_weight)
    said = np.array([bool(text.strip()) for text in read])
    return np.where(said, fused, np.float32(0)).clip(-1, 1)


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
