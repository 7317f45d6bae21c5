"""Read the contents of the best candidates: a sheet with a table that says what is asked rises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sat_retriever.index.index import SheetIndex
from sat_retriever.index.question import Question
from sat_retriever.locate.asked import Asked
from sat_retriever.locate.matches import matches
from sat_retriever.locate.place import table_shares
from sat_retriever.records.candidates import Candidate

READ = 10  # candidates whose contents are read; 30 find as much and cost three times the time
# Share of the way to a score of 1 that a sheet rises at most. Chosen on made questions about
# values, on held-out tables of WikiTableQuestions' training part and on EPS's development
# questions, which alone gain nothing (benchmarks/LOG.md).
_MOST = 0.6


def asked_of(index: SheetIndex, question: Question) -> Asked:
    """Return a question as contents are compared with it; rare words of the index weigh most."""
    known = index.word_shares(question, ())
    return Asked.of(question.read_as, dict(zip(known.words, known.limits.tolist(), strict=True)))


def read_closely(
    index: SheetIndex, question: Question, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """Return candidates, the first ten raised by how much of the question their best table says.

    A sheet rises by up to three fifths of the way from its score to 1. It rises by the square of
    its table's share, and less the more of the question names cover. Notes do not count, since
    documentation would rise most. Without contents nothing changes.

    Args:
        index: Source of the candidates.
        question: The question that they were found for.
        candidates: Candidates, best first.
    """
    found = list(candidates)
    left = 1 - question.scores.matches.covered
    if not question.scores.matches.rareness.contents or not left:
        return found
    asked = asked_of(index, question)
    records = index.records([each.sheet_id for each in found[:READ]], contents=True)
    for place, each in enumerate(found[:READ]):
        record = records.get(each.sheet_id)
        if record is not None and record.contents is not None and asked.weights:
            said = max(table_shares(asked, record, matches(asked, record)), default=0.0)
            score = each.score + _MOST * left * said**2 * (1 - each.score)
            found[place] = replace(each, score=score)
    return found
