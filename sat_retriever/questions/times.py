"""Choose the wording of a period in a question."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from sat_retriever.questions.grammar import filled, joined
from sat_retriever.text.period.spans import MONTHS, Span

_TH = ("", "first", "second", "third", "fourth")
_COUNTS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def form(span: Span) -> str:
    """Return the name of the rules for a span: "year", "quarter", "each_month" and so on.

    >>> form(Span(2024, 2024, 7, 9)), form(Span(0, 0, 7, 7)), form(Span(2021, 2023))
    ('quarter', 'each_month', 'years')
    """
    length = span.last_month - span.first_month + 1
    starts = (span.first_month - 1) % length == 0
    part = {1: "month", 3: "quarter", 6: "half", 12: "year"}.get(length if starts else 0, "months")
    if not span.first_year:
        return f"each_{part}"
    if span.first_year == span.last_year:
        return part
    return "years" if part == "year" else f"{part}_of_years"


def spoken_time(
    rules: Mapping[str, Sequence[str]], spans: Sequence[Span], *, latest: bool = False
) -> dict[str, Sequence[str]]:
    """Return alternatives for spans: `short` goes before a noun, `core` and `over` after it.

    Args:
        rules: Rules of the grammar, named `short_year`, `core_year`, `over_year` …; in them
            `<year>`, `<quarter>`, `<month>` and so on are replaced by numbers and names.
        spans: One span, or several listed spans of one form.
        latest: True if a run of years is expressed as the latest ones.
    """
    if len(spans) == 1:
        name = "latest" if latest else form(spans[0])
        return {
            part: _said(rules, f"{part}_{name}", spans[0]) for part in ("short", "core", "over")
        }
    name = form(spans[0])
    return {
        **{part: _listed(rules, f"{part}_{name}", spans) for part in ("short", "core")},
        "over": list(rules.get("over_list", ())),
    }


def spoken_pair(
    rules: Mapping[str, Sequence[str]], spans: Sequence[Span], rng: random.Random
) -> tuple[str, str]:
    """Return two spans of one form in the same wording."""
    first, second = (_said(rules, f"core_{form(spans[0])}", span) for span in spans)
    place = rng.randrange(len(first))
    return first[place], second[place]


def _said(rules: Mapping[str, Sequence[str]], name: str, span: Span) -> list[str]:
    return list(filled(rules.get(name, ()), _values(span)))


def _listed(rules: Mapping[str, Sequence[str]], name: str, spans: Sequence[Span]) -> list[str]:
    """Return spans in the same wording, joined: "2023 and 2024"."""
    each = (_said(rules, name, span) for span in spans)
    return [joined(alike) for alike in zip(*each, strict=True)]


def _values(span: Span) -> dict[str, str]:
    length = span.last_month - span.first_month + 1
    count = span.last_year - span.first_year + 1
    values = {
        "month": MONTHS[span.first_month],
        "mon": MONTHS[span.first_month][:3],
        "mm": f"{span.first_month:02}",
        "end_month": MONTHS[span.last_month],
        "end_mon": MONTHS[span.last_month][:3],
        "end_mm": f"{span.last_month:02}",
    }
    if span.first_year:
        values |= {"year": str(span.first_year), "end_year": str(span.last_year)}
        values["count"] = _COUNTS[count] if count < len(_COUNTS) else str(count)
    for name, size in (("quarter", 3), ("half", 6)):
        if length == size:
            number = (span.first_month - 1) // size + 1
            values |= {name: str(number), f"{name}_th": _TH[number]}
    return values
