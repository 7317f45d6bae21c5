"""Invent texts that look like those of an index and stand in none of its sheets."""

from __future__ import annotations

import random
from collections.abc import Sequence

from sat_retriever.datasets.labels.query import UNANSWERABLE
from sat_retriever.questions.contents.draft import Draft


def invented(drafts: Sequence[Draft], number: int, chance: random.Random) -> list[Draft]:
    """Return drafts whose texts are put together from those of others, each with a known header.

    Digits of codes are replaced; of two names, the beginning of one goes with the end of the
    other. Most of them are in no sheet; the others are to be dropped.

    Args:
        drafts: Drafts of values and labels.
        number: Most drafts returned.
        chance: Source of random numbers.
    """
    found: dict[str, Draft] = {}
    known = {draft.text.casefold() for draft in drafts}
    for draft in drafts[: 2 * number]:
        text = _other(draft.text, chance.choice(drafts).text, chance)
        if text and text.casefold() not in known and len(found) < number:
            found.setdefault(text.casefold(), Draft(UNANSWERABLE, text, draft.header))
    return list(found.values())


def _other(text: str, second: str, chance: random.Random) -> str:
    """A text like the first; "" if none can be made.

    >>> chance = random.Random(0)
    >>> _other("Ann Roth", "Ben Okafor", chance), len(_other("TH-100", "", chance))
    ('Ann Okafor', 6)
    """
    if sum(map(str.isdigit, text)) > 2:
        digits = "123456789"
        return "".join(chance.choice(digits) if each.isdigit() else each for each in text)
    start, end = text.split(), second.split()
    if len(start) < 2 or len(end) < 2 or start[-1].casefold() == end[-1].casefold():
        return ""
    return " ".join((*start[:-1], end[-1]))
