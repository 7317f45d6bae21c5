"""Raise sheets whose names are the initials of what is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sat_retriever.records.candidates import Candidate
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.abbreviation import abbreviates, forms_of

# Share of the way to a score of 1 that such a sheet rises (benchmarks/LOG.md).
_BY_INITIALS = 0.6


def raise_abbreviations(
    query: str, candidates: Sequence[Candidate], records: Mapping[str, SheetRecord]
) -> list[Candidate]:
    """Return candidates, in their order, raised where a name abbreviates the query.

    `AVL` is raised for *average vehicle lifetime*, whatever the file is called, and for *what is
    the average vehicle lifetime?*, too: common words may be left out.

    Args:
        query: The question.
        candidates: The candidates.
        records: Record of each that has one.
    """
    forms = forms_of(query)
    raised = []
    for each in candidates:
        record = records.get(each.sheet_id)
        if record and any(abbreviates(record.sheet, asked) for asked in forms):
            score = 1 - (1 - each.score) * (1 - _BY_INITIALS)
            raised.append(replace(each, score=score))
        else:
            raised.append(each)
    return raised
