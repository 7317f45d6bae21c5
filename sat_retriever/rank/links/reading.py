"""Read the contents of the best candidates: a sheet with a table that says what is asked rises."""

from __future__ import annotations

from collections.abc import Sequence

from sat_retriever.index.search.candidates import CandidateSet
from sat_retriever.index.store.rows import SheetName
from sat_retriever.records.candidates import Candidate
from sat_retriever.text.forward import ForwardIndex
from sat_retriever.text.locate import ngram_share, table_shares

BEST = 10  # candidates whose contents are read; 30 find as much and cost three times the time
BY_CONTENTS = 20  # beside them the best by words of contents
ENOUGH = 0.2  # of the best possible score by words of contents; of these a sheet is read from here
# Shares of the way to a score of 1 that a sheet rises at most, by its table and by one text that
# has words of the question in their order. Chosen on made questions about values and notes, on
# held-out tables of WikiTableQuestions' training part and on EPS's development questions, which
# alone gain nothing (benchmarks/LOG.md).
_BY_TABLE = 0.6
_BY_NGRAM = 0.9
NGRAM_OF_DOCUMENTATION = 0.5  # share of the rise by one text that documentation has


def read_closely(found: CandidateSet) -> list[Candidate]:
    """Return the candidates in their order, those that say what is asked raised.

    Contents are read of the ten best, and of the twenty best by words of contents if they have a
    fifth of the best possible score there. A sheet rises part of the way from its score to 1:

    - by the square of the share of the question that its best table says, up to three fifths;
      notes do not count there, since documentation would rise most;
    - by the share that one of its texts says word after word, up to nine tenths, and half of that
      for documentation, unless it is asked for.

    Without contents nothing changes.
    """
    raised = list(found.candidates)
    known = found.question.scores.matches
    if not known.rareness.contents or not found.terms.weights:
        return raised
    places = {each.sheet_id: place for place, each in enumerate(raised)}
    texts = found.texts(_to_read(raised))
    names = found.names([*texts])
    for sheet_id in names:
        each = raised[place := places[sheet_id]]
        own = found.of([each])
        below = _below(own, texts[sheet_id], names[sheet_id], explaining=known.explaining)
        raised[place] = each.placed(each.rank, 1 - below * (1 - each.score))
    return raised


def _below(found: CandidateSet, texts: ForwardIndex, name: SheetName, *, explaining: bool) -> float:
    """Share of the way from its score to 1 that the only sheet of a set stays below, in (0, 1]."""
    [sheet_id], asked = found.ids, found.terms
    matched = found.matches(sheet_id, texts)
    by_table = max(table_shares(asked, texts.tables, matched), default=0.0)
    by_ngram = ngram_share(asked, matched, lambda: found.records()[sheet_id])
    if name.documentation and not explaining:
        by_ngram *= NGRAM_OF_DOCUMENTATION
    return (1 - _BY_TABLE * by_table**2) * (1 - _BY_NGRAM * by_ngram)


def _to_read(found: Sequence[Candidate]) -> list[str]:
    by_contents = sorted(found, key=lambda each: -each.contents)[:BY_CONTENTS]
    ids = [each.sheet_id for each in found[:BEST]]
    return list(
        dict.fromkeys([*ids, *(each.sheet_id for each in by_contents if each.contents > ENOUGH)])
    )
