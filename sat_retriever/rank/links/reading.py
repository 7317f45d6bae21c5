"""Read the contents of the best candidates: a sheet with a table that says what is asked rises."""

from __future__ import annotations

from collections.abc import Sequence

from sat_retriever.index.search.candidates import CandidateSet
from sat_retriever.records.candidates import Candidate
from sat_retriever.text.locate import long_ngrams, matches, ngram_share, table_shares

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
    asked, texts = found.terms, found.texts(_to_read(raised))
    names = found.names([*texts])
    matched = {each: matches(asked, texts[each]) for each in names}
    ngrams = {each: long_ngrams(asked, own) for each, own in matched.items()}
    records = found.of(each for each in raised if ngrams.get(each.sheet_id)).records()
    for place, each in enumerate(raised):
        if name := names.get(each.sheet_id):
            shares = table_shares(asked, texts[each.sheet_id].tables, matched[each.sheet_id])
            below = 1 - _BY_TABLE * max(shares, default=0.0) ** 2
            if record := records.get(each.sheet_id):
                by_ngram = ngram_share(asked, ngrams[each.sheet_id], record)
                if name.documentation and not known.explaining:
                    by_ngram *= NGRAM_OF_DOCUMENTATION
                below *= 1 - _BY_NGRAM * by_ngram
            raised[place] = each.placed(each.rank, 1 - below * (1 - each.score))
    return raised


def _to_read(found: Sequence[Candidate]) -> list[str]:
    by_contents = sorted(found, key=lambda each: -each.contents)[:BY_CONTENTS]
    ids = [each.sheet_id for each in found[:BEST]]
    return list(
        dict.fromkeys([*ids, *(each.sheet_id for each in by_contents if each.contents > ENOUGH)])
    )
