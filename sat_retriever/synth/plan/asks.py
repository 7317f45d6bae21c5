"""Read which questions about contents a corpus has, and how many."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sat_retriever.errors import InputError
from sat_retriever.questions.contents.draft import KINDS


def asks(text: str) -> Mapping[str, float]:
    """Return the share of the queries of each kind about contents, above 0.

    Args:
        text: Shares by kind, or one share for all kinds together; "" for none.

    Raises:
        InputError: If a kind is unknown, or the shares are not from 0 to 1.

    >>> asks("value=.2, note=.1"), sum(asks(".5").values())
    ({'value': 0.2, 'note': 0.1}, 0.5)
    """
    found: dict[str, float] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        kind, _, share = part.rpartition("=")
        kinds = KINDS if not kind and "," not in text else (kind.strip(),)
        for each in kinds:
            if each not in KINDS:
                raise InputError(
                    f"asks is {text!r}: {part!r} is no share of a kind; write, for example, "
                    f"value=.2,note=.1 with {', '.join(KINDS)}, or one share for all of them"
                )
            found[each] = _share(share, text) / len(kinds)
    if sum(found.values()) > 1 + 1e-9:
        raise InputError(f"asks is {text!r}: the shares add up to more than 1; lower them")
    return {kind: share for kind, share in found.items() if share}


def _share(text: str, whole: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise InputError(f"asks is {whole!r}: a share is a number from 0 to 1, not {text!r}")
    return share
