"""Write the sentence of a drafted question, which names everything that the draft fixes."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sat_retriever.questions.facts import Asked, Need, Sources
from sat_retriever.questions.grammar import Grammar, Wording, filled, joined, literal
from sat_retriever.questions.synonyms import Wordings
from sat_retriever.text.period.periods import Grain
from sat_retriever.text.period.spans import MONTHS, Span, follows

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


_ADJECTIVES = {
    Grain.YEAR: "annual",
    Grain.HALF: "half-yearly",
    Grain.QUARTER: "quarterly",
    Grain.MONTH: "monthly",
    Grain.WEEK: "weekly",
    Grain.DAY: "daily",
}
# The sets of given rules; any one of them expresses the attribute.
_SAYS: Mapping[str, tuple[frozenset[str], ...]] = {
    "kind": (frozenset({"kind"}),),
    "entity": (
        frozenset({"entity"}),
        frozenset({"owner"}),
        frozenset({"first_entity", "second_entity"}),
    ),
    "time": (
        frozenset({"short"}),
        frozenset({"core"}),
        frozenset({"over"}),
        frozenset({"first_time", "second_time"}),
        frozenset({"from_to"}),
    ),
    "key": (frozenset({"key"}),),
}
_NAMES = ("entity", "owner", "first_entity", "second_entity")
_TIMES = ("short", "core", "over", "first_time", "second_time", "from_to")
_TRIES = 30


@dataclass(frozen=True, slots=True)
class Draft:
    """A question that has no text yet; `latest` expresses its years as the latest ones."""

    query_type: str
    dependency_type: str
    asked: Asked
    rule: str
    latest: bool = False

    @property
    def need(self) -> Need:
        """The attributes that its text must name."""
        return self.asked.of if isinstance(self.asked, Sources) else self.asked


@dataclass(frozen=True, slots=True)
class Spoken:
    """A question's text; `fixed` are the names, times and keys that a rewording must keep."""

    text: str
    fixed: tuple[str, ...]


def spoken(
    grammar: Grammar, wordings: Wordings, draft: Draft, *, single: bool, rng: random.Random
) -> Spoken | None:
    """Write a draft as a text; None if the grammar or the wordings cannot express all of it."""
    given = _given(grammar, wordings, draft, single=single, rng=rng)
    if given is None:
        return None
    for _ in range(_TRIES):
        wording = grammar.expand(draft.rule, given, rng)
        if wording is None:
            return None
        if _says_all(wording, draft.need):
            fixed = tuple(
                dict.fromkeys(
                    text for name, text in wording.chosen if name in (*_NAMES, *_TIMES, "key")
                )
            )
            return Spoken(_styled(wording.text, rng), fixed)
    return None


def _says_all(wording: Wording, need: Need) -> bool:
    said = {name for name, _ in wording.chosen}
    fixed = {
        "kind": need.kinds or need.categories,
        "entity": need.entities,
        "time": need.spans,
        "key": need.keys,
    }
    return all(any(way <= said for way in _SAYS[name]) for name, values in fixed.items() if values)


def _given(
    grammar: Grammar, wordings: Wordings, draft: Draft, *, single: bool, rng: random.Random
) -> dict[str, Sequence[str]] | None:
    """Return the rules for this text alone; None if a kind or category has no clear phrase."""
    need, rules = draft.need, grammar.rules
    ending = "_single" if single else "_plural"
    given: dict[str, Sequence[str]] = {
        name.removesuffix(ending): rules[name] for name in sorted(rules) if name.endswith(ending)
    }
    kind = _kind(wordings, need, rng)
    if kind is None:
        return None
    if kind:
        given["kind"] = [literal(kind)]
    given["sheets"] = _nouns(rules, kind, ending, wordings)
    names = [literal(name) for name in need.entities]
    if names:
        given["entity"] = [joined(names)]
        given["owner"] = [joined([_owner(name) for name in names])]
    if len(names) == 2:
        given["first_entity"], given["second_entity"] = [names[0]], [names[1]]
    if need.spans:
        given |= spoken_time(rules, need.spans, latest=draft.latest)
    if len(need.spans) == 2:
        pair = spoken_pair(rules, need.spans, rng)
        given["first_time"], given["second_time"] = ([text] for text in pair)
        if follows(*need.spans):  # otherwise it could be read as a range
            given["from_to"] = [f"from {pair[0]} to {pair[1]}"]
    if need.keys:
        given["key"] = [literal(joined(need.keys))]
    parts = {"k": kind, "e": need.entities, "p": need.spans}
    shape = "".join(letter for letter, value in parts.items() if value) or "none"
    given |= {name: [f"{{{rule}_{shape}}}"] for name, rule in _NOUN_PHRASES.items()}
    return given


_NOUN_PHRASES = {"np": "np", "mine": "own", "bare": "bare"}


def _kind(wordings: Wordings, need: Need, rng: random.Random) -> str | None:
    """Return a phrase for kinds or categories, or an empty one; None if one has no clear phrase."""
    phrases = [wordings.kinds.get(name, ()) for name in need.kinds]
    phrases += [wordings.categories.get(name, ()) for name in need.categories]
    if not all(phrases):
        return None
    said = joined([rng.choice(each) for each in phrases]) if phrases else ""
    adjective = _ADJECTIVES.get(need.grain, "") if need.grain else ""
    return said if said.casefold().startswith(adjective) else f"{adjective} {said}"


def _nouns(
    rules: Mapping[str, Sequence[str]], kind: str, ending: str, wordings: Wordings
) -> list[str]:
    """Return nouns for sheets that do not repeat the phrase's own: not "balance sheet sheets".

    They must not form another kind's phrase either: not "bank balance sheet".
    """
    last = kind.casefold().split()[-1].removesuffix("s") if kind else ""
    nouns = rules.get(f"nouns{ending}", ())
    return [
        noun
        for noun in nouns
        if not last
        or (last not in noun and not wordings.ended_by(f"{kind} {noun.removesuffix('s')}"))
    ] or list(nouns)


def _owner(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def _styled(text: str, rng: random.Random) -> str:
    """Vary the case as people do: usually a capital first letter, sometimes all lower case."""
    style = rng.random()
    if style < 0.15:
        return text.lower()
    return text if style < 0.3 else text[:1].upper() + text[1:]
