"""Checks of links that a user gives."""

from __future__ import annotations

from dataclasses import replace

from sat_retriever.errors import InputError
from sat_retriever.records.links import Link

MAX_EVIDENCE = 1_000  # characters; evidence found by this package has at most 200
MAX_NAME = 4_000  # characters of a sheet id or a type: no path is longer


def checked_link(link: Link) -> Link:
    r"""Check a link; return it with its evidence on one line and its weight as a plain float.

    A link from a sheet to itself is allowed: tables may refer to themselves.

    Raises:
        InputError: If an end, the type or the evidence is not a text, or is too long, or the
            weight is not above 0 and at most 1.

    >>> checked_link(Link("a#1", "a#2", "join_key", 1, "id\n= id")).evidence
    'id = id'
    """
    for name, most in (("source", MAX_NAME), ("target", MAX_NAME), ("type", MAX_NAME)):
        _check_text(link, name, most)
        if not getattr(link, name):
            raise InputError(f"the {name} of {_shown(link)} is empty; name one")
    _check_text(link, "evidence", MAX_EVIDENCE)
    try:
        weight = float(link.weight)
    except (TypeError, ValueError, OverflowError):
        weight = -1.0
    if not 0 < weight <= 1:  # false for NaN as well
        raise InputError(
            f"the weight of {_shown(link)} is {link.weight!r:.80}; give a number above 0, at most 1"
        )
    return replace(link, weight=weight, evidence=" ".join(link.evidence.split()))


def _check_text(link: Link, name: str, most: int) -> None:
    value = getattr(link, name)
    if not isinstance(value, str):
        raise InputError(f"the {name} of {_shown(link)} is a {type(value).__name__}; give a text")
    if len(value) > most:
        raise InputError(
            f"the {name} of {_shown(link)} has {len(value):,} characters; give at most {most:,}"
        )
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the {name} of {_shown(link)} is not Unicode ({error.reason}); "
            "replace lone surrogates in it"
        ) from error


def _shown(link: Link) -> str:
    return f"the link from {link.source!r:.80} to {link.target!r:.80}"
