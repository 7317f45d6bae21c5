"""Make labelled questions about what stands in the sheets of an index."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from sat_retriever.datasets.labels.query import UNANSWERABLE, Query
from sat_retriever.questions.contents.draft import COPY, KINDS, LABEL, PHRASED, VALUE, Draft
from sat_retriever.questions.contents.draw import drawn
from sat_retriever.questions.contents.hold import Holders
from sat_retriever.questions.contents.invent import invented
from sat_retriever.questions.contents.versions import CopiesOf, version_queries
from sat_retriever.questions.generate import Made
from sat_retriever.records.sheets import SheetRecord

MAX_POSITIVES = 5
"""Most sheets that answer a question about a text; one that more hold does not tell them apart."""
_PATIENCE = 6  # texts drawn for each requested question


@dataclass(frozen=True, slots=True)
class Contents:
    """Sheets with their contents.

    Attributes:
        records: The sheets; iterated over several times.
        copies: The copies of sheets.
    """

    records: Iterable[SheetRecord]
    copies: CopiesOf


def content_queries(
    contents: Contents,
    numbers: Mapping[str, int],
    seed: int = 0,
    *,
    about: frozenset[str] | None = None,
) -> list[Made]:
    """Make questions for a value, a note, a row label, a version, or for something absent.

    The positives of a question are all sheets that hold its text, wherever it stands in them; a
    label's sheets also have the header. Texts that stand in names or headers are not asked for.
    What nothing answers is put together from words of the index, and no sheet has these words.
    Contents that were read in samples hold no more than their samples.

    Source: beyond the paper, which keeps metadata alone.

    Args:
        contents: The sheets; read twice, and twice again for versions.
        numbers: Most questions of each kind: value, note, label, copy, unanswerable.
        seed: Seed of all choices; memory depends on the numbers alone.
        about: Ids of the only sheets that may be positives; None for any.
    """
    chance = random.Random(f"contents {seed}")  # noqa: S311 - repeatable, no secret
    records = contents.records
    wanted = {kind: numbers.get(kind, 0) for kind in KINDS}
    found: dict[str, list[Made]] = {}
    phrased = [kind for kind in PHRASED if wanted[kind]]
    sources = (VALUE, LABEL) if wanted[UNANSWERABLE] else ()
    kinds = list(dict.fromkeys((*phrased, *sources)))
    if kinds:
        drafts = drawn(records, kinds, _PATIENCE * max(wanted.values()), seed)
        absent = [draft for kind in sources for draft in drafts[kind]]
        chance.shuffle(absent)
        tried = [draft for kind in phrased for draft in drafts[kind]]
        tried += invented(absent, _PATIENCE * wanted[UNANSWERABLE], chance)
        found = _answered(records, tried, wanted, chance, about)
    if wanted[COPY]:
        found[COPY] = version_queries(
            records, contents.copies, wanted[COPY], seed, most=MAX_POSITIVES, about=about
        )
    return list(chain.from_iterable(found.get(kind, ()) for kind in KINDS))


def shares(number: int, kinds: Collection[str]) -> dict[str, int]:
    """Divide a number of questions evenly over kinds, the first ones getting what is left.

    >>> shares(7, ("value", "note", "copy"))
    {'value': 3, 'note': 2, 'copy': 2}
    """
    ordered = [kind for kind in KINDS if kind in kinds]
    each, rest = divmod(number, len(ordered)) if ordered else (0, 0)
    return {kind: each + (place < rest) for place, kind in enumerate(ordered)}


def _answered(
    records: Iterable[SheetRecord],
    drafts: list[Draft],
    wanted: Mapping[str, int],
    chance: random.Random,
    about: frozenset[str] | None,
) -> dict[str, list[Made]]:
    """Return the questions by kind, as many as are wanted, with their sheets."""
    holders = Holders(drafts, MAX_POSITIVES)
    holders.read(records)
    found: dict[str, dict[str, Made]] = {}
    for draft, positives in holders.found():
        made = found.setdefault(draft.kind, {})
        inside = about is None or about.issuperset(positives)
        if inside and len(made) < wanted[draft.kind]:
            text = draft.said(chance)
            fixed = tuple(filter(None, (draft.text, draft.header)))
            query = Query(text, positives, query_type=draft.kind)
            made.setdefault(text.casefold(), Made(query, fixed))
    return {kind: list(made.values()) for kind, made in found.items()}
