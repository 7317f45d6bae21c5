"""Read the contents of the best candidates: a sheet with a table that says what is asked rises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sat_retriever.index.index import SheetIndex
from sat_retriever.index.question import Question
from sat_retriever.locate.asked import Asked
from sat_retriever.locate.matches import matches
from sat_retriever.locate.place import run_share, table_shares
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.contents import Role

BEST = 10  # candidates whose contents are read; 30 find as much and cost three times the time
BY_CONTENTS = 20  # beside them the best by words of contents, if these have enough of the question
_ENOUGH = 0.2
# Shares of the way to a score of 1 that a sheet rises at most, by its table and by one text that
# has words of the question in their order. Chosen on made questions about values and notes, on
# held-out tables of WikiTableQuestions' training part and on EPS's development questions, which
# alone gain nothing (benchmarks/LOG.md).
_BY_TABLE = 0.6
_BY_RUN = 0.9
DOCUMENTATION = 0.5  # share of the latter that documentation keeps
# Shares of a question that names cover: up to the first it is asked by what stands in cells, from
# the second on by name.
_BY_CELLS, _BY_NAME = 0.2, 0.5


def asked_of(index: SheetIndex, question: Question) -> Asked:
    """Return a question as contents are compared with it; rare words of the index weigh most."""
    known = index.word_shares(question, ())
    return Asked.of(question.read_as, dict(zip(known.words, known.limits.tolist(), strict=True)))


def read_closely(
    index: SheetIndex, question: Question, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """Return candidates, those that say what is asked raised.

    Contents are read of the ten best and of the twenty best by words of contents. A sheet rises
    part of the way from its score to 1, less the more of the question names cover above a fifth,
    and not at all from a half on:

    - by the square of the share of the question that its best table says, up to three fifths;
      notes do not count there, since documentation would rise most;
    - by the share that one of its texts says word after word, up to nine tenths, and half of that
      for documentation, unless it is asked for.

    Without contents nothing changes.

    Args:
        index: Source of the candidates.
        question: The question that they were found for.
        candidates: Candidates, best first.
    """
    found = list(candidates)
    far = (_BY_NAME - question.scores.matches.covered) / (_BY_NAME - _BY_CELLS)
    left = min(max(far, 0.0), 1.0)
    if not question.scores.matches.rareness.contents or not left:
        return found
    asked = asked_of(index, question)
    places = {each.sheet_id: place for place, each in enumerate(found)}
    records = index.records(_read(found), contents=True) if asked.weights else {}
    for sheet_id, record in records.items():
        if record.contents is not None:
            own = matches(asked, record)
            said = max(table_shares(asked, record, own), default=0.0)
            run = run_share(asked, record, own)
            if record.role is Role.DOCUMENTATION and not question.scores.matches.explaining:
                run *= DOCUMENTATION
            kept = (1 - _BY_TABLE * left * said**2) * (1 - _BY_RUN * left * run)
            each = found[places[sheet_id]]
            found[places[sheet_id]] = replace(each, score=1 - kept * (1 - each.score))
    return found


def _read(found: Sequence[Candidate]) -> list[str]:
    """Ids of the sheets whose contents are read."""
    by_contents = sorted(found, key=lambda each: -each.contents)[:BY_CONTENTS]
    ids = [each.sheet_id for each in found[:BEST]]
    return list(
        dict.fromkeys([*ids, *(each.sheet_id for each in by_contents if each.contents > _ENOUGH)])
    )
