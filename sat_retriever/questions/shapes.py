"""Define shapes of questions: each starts from one sheet that must be among the answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from sat_retriever.questions.facts import Asked, Need, SheetFacts, Sources
from sat_retriever.questions.scene import Scene
from sat_retriever.records.links import LinkType
from sat_retriever.text.period.periods import Grain
from sat_retriever.text.period.spans import Span, span_of, year

_PLAIN = ("kind", "category", "entity", "key", "grain")

Build = Callable[[Scene, SheetFacts, random.Random], Asked | None]


@dataclass(frozen=True, slots=True)
class Shape:
    """One form of a question.

    Attributes:
        query_type: For example "comparison".
        dependency_type: For example "temporal_alignment".
        build: Function from a sheet to the request; None if the sheet does not allow it.
        weight: Frequency relative to the other shapes of its types.
        latest: True if its years are expressed as the latest ones.
    """

    query_type: str
    dependency_type: str
    rule: str
    build: Build
    weight: int = 1
    pool: str = "all"
    at_least: int = 1
    entities: int = 0
    latest: bool = False


def by(*attributes: str) -> Build:
    """Build needs for the sheets that share attributes with one: kind, entity, year and so on."""

    def build(scene: Scene, sheet: SheetFacts, rng: random.Random) -> Need | None:
        need = Need()
        for attribute in attributes:
            found = _with(need, attribute, scene, sheet, rng)
            if found is None:
                return None
            need = found
        return need

    return build


def _with(
    need: Need, attribute: str, scene: Scene, sheet: SheetFacts, rng: random.Random
) -> Need | None:
    found: Need | None = None
    match attribute:
        case "subject":
            found = scene.subject(sheet, rng)
        case "kind" if sheet.kind:
            found = replace(need, kinds=(sheet.kind,))
        case "category" if sheet.category:
            found = replace(need, categories=(sheet.category,))
        case "entity" if sheet.entity:
            found = replace(need, entities=(sheet.entity,))
        case "key" if sheet.keys:
            found = replace(need, keys=(rng.choice(sheet.keys),))
        case "grain" if sheet.period and sheet.period.grain in (Grain.QUARTER, Grain.MONTH):
            found = replace(need, grain=sheet.period.grain)
        case _ if attribute not in _PLAIN and sheet.period is not None and sheet.period.year:
            spans = _spans(attribute, need, scene, span_of(sheet.period), rng)
            found = replace(need, spans=spans) if spans else None
    return found


def _spans(name: str, need: Need, scene: Scene, own: Span, rng: random.Random) -> tuple[Span, ...]:
    """Return spans of time by name that contain the sheet's own one; empty if there are none."""
    this = own.last_year
    part = (own.first_month, own.last_month)
    match name:
        case "year":
            return (year(this),)
        case "time":
            return (own,) if own.first_year == this else ()
        case "quarter" | "half":
            size = 3 if name == "quarter" else 6
            first = (own.first_month - 1) // size * size + 1
            inside = own.last_month < first + size and part != (first, first + size - 1)
            return (Span(this, this, first, first + size - 1),) if inside else ()
        case "months":
            first = rng.randint(max(1, own.first_month - 4), own.first_month)
            last = rng.randint(own.last_month, min(12, own.last_month + 4))
            odd = part not in ((1, 12), (first, last)) and (last - first + 1) % 3
            return (Span(this, this, first, last),) if odd else ()
        case "same_part":
            return () if own.whole_years else (Span(0, 0, *part),)
        case _:
            years = scene.years(need)
            if name == "latest" and years[-1:] != scene.years(Need())[-1:]:
                years = ()  # the latest years of these sheets are not the latest of the corpus
            return _over_years(name, years, own, rng)


def _over_years(
    name: str, years: tuple[int, ...], own: Span, rng: random.Random
) -> tuple[Span, ...]:
    this = own.last_year
    if name in ("years", "latest", "part_of_years"):
        return _run_of_years(name, years, own, rng)
    others = [number for number in years if number != this]
    parted = not own.whole_years
    found: tuple[Span, ...] = ()
    match name:
        case "two_years" if this - 1 in others:
            found = year(this - 1), year(this)
        case "any_two_years" if others:
            found = year(rng.choice(others)), year(this)
        case "same_part_twice" if parted and others:
            before = this - 1 if this - 1 in others else rng.choice(others)
            found = replace(own, first_year=before, last_year=before), own
        case "part_before" if parted:
            found = _before(own), own
    return tuple(sorted(found))


def _run_of_years(
    name: str, years: tuple[int, ...], own: Span, rng: random.Random
) -> tuple[Span, ...]:
    length = rng.randint(2, 5 if name == "years" else 4)
    if name == "latest":
        run = years[-length:]
        whole = len(run) == length and run[-1] - run[0] == length - 1
        return (Span(run[0], run[-1]),) if whole else ()
    first = rng.randint(own.last_year - length + 1, own.last_year)
    if len([number for number in years if first <= number < first + length]) < length:
        return ()
    if name == "years":
        return (Span(first, first + length - 1),)
    part = replace(own, first_year=first, last_year=first + length - 1)
    return () if own.whole_years else (part,)


def _before(own: Span) -> Span:
    """Return the preceding part of equal length, which may be in the year before."""
    length = own.last_month - own.first_month + 1
    if own.first_month > length:
        return replace(own, first_month=own.first_month - length, last_month=own.first_month - 1)
    before = own.last_year - 1
    return Span(before, before, 13 - length, 12)


def with_rival(*attributes: str) -> Build:
    """Build the same needs for two entities: this sheet's, and another one with such sheets."""

    def build(scene: Scene, sheet: SheetFacts, rng: random.Random) -> Need | None:
        need = by(*attributes)(scene, sheet, rng)
        if not isinstance(need, Need) or not sheet.entity:
            return None
        rival = scene.rival(need, sheet.entity, rng)
        return replace(need, entities=(sheet.entity, rival)) if rival else None

    return build


_L, _C, _A = "semantic_lookup", "comparison", "aggregation"
_T, _S = "temporal_alignment", "schema_alignment"

ATTRIBUTE_SHAPES = (
    Shape(_L, "none", "lookup", by("kind")),
    Shape(_L, "none", "lookup", by("kind", "entity"), 3),
    Shape(_L, "none", "lookup", by("kind", "year"), 2),
    Shape(_L, "none", "lookup", by("kind", "time"), 2),
    Shape(_L, "none", "lookup", by("kind", "entity", "year"), 3),
    Shape(_L, "none", "lookup", by("kind", "entity", "time"), 5),
    Shape(_L, "none", "lookup", by("kind", "entity", "quarter")),
    Shape(_L, "none", "lookup", by("kind", "entity", "half")),
    Shape(_L, "none", "lookup", by("kind", "entity", "months")),
    Shape(_L, "none", "lookup", by("kind", "entity", "years")),
    Shape(_L, "none", "lookup", by("kind", "entity", "latest"), latest=True),
    Shape(_L, "none", "lookup", by("category")),
    Shape(_L, "none", "lookup", by("category", "entity"), 2),
    Shape(_L, "none", "lookup", by("category", "year")),
    Shape(_L, "none", "lookup", by("category", "time")),
    Shape(_L, "none", "lookup", by("category", "entity", "year"), 2),
    Shape(_L, "none", "lookup", by("category", "entity", "time"), 2),
    Shape(_L, "none", "lookup", by("entity")),
    Shape(_L, "none", "lookup", by("entity", "year"), 2),
    Shape(_L, "none", "lookup", by("entity", "time"), 2),
    Shape(_L, "none", "lookup", by("time")),
    Shape(_L, "none", "lookup_key", by("kind", "entity", "key")),
    Shape(_L, "none", "lookup_key", by("entity", "time", "key")),
    Shape(_L, "none", "lookup_key", by("key")),
    Shape(_L, _T, "align_times", by("subject", "entity", "part_of_years"), 3, at_least=2),
    Shape(_L, _T, "align_times", by("subject", "entity", "same_part"), 2, at_least=2),
    Shape(_L, _T, "align_times", by("subject", "part_of_years"), at_least=2),
    Shape(_L, _T, "align_times", by("subject", "same_part"), at_least=2),
    Shape(_L, _T, "align_times", by("subject", "entity", "same_part_twice"), 2, at_least=2),
    Shape(_L, _S, "align_schemas", by("kind", "time"), 2, at_least=2, entities=2),
    Shape(_L, _S, "align_schemas", by("kind", "year"), at_least=2, entities=2),
    Shape(_L, _S, "align_schemas", by("kind"), at_least=2, entities=2),
    Shape(_C, _T, "compare_times", by("subject", "entity", "two_years"), 3, at_least=2),
    Shape(_C, _T, "compare_times", by("subject", "entity", "any_two_years"), at_least=2),
    Shape(_C, _T, "compare_times", by("subject", "entity", "same_part_twice"), 3, at_least=2),
    Shape(_C, _T, "compare_times", by("subject", "entity", "part_before"), 3, at_least=2),
    Shape(_C, _T, "compare_times", by("subject", "two_years"), at_least=2),
    Shape(_C, _T, "compare_times", by("subject", "same_part_twice"), at_least=2),
    Shape(_C, _T, "compare_times", by("subject", "part_before"), at_least=2),
    Shape(_C, _S, "compare_entities", with_rival("subject", "time"), 4, at_least=2),
    Shape(_C, _S, "compare_entities", with_rival("subject", "year"), 2, at_least=2),
    Shape(_C, _S, "compare_entities", with_rival("subject", "years"), at_least=2),
    Shape(_C, _S, "compare_entities", with_rival("subject"), at_least=2),
    Shape(_A, _A, "aggregate_years", by("subject", "entity", "years"), 4, at_least=2),
    Shape(_A, _A, "aggregate_years", by("subject", "years"), at_least=2),
    Shape(_A, _A, "aggregate_years", by("kind", "entity", "latest"), at_least=2, latest=True),
    Shape(_A, _A, "aggregate_year", by("kind", "entity", "year", "grain"), 4, at_least=2),
    Shape(_A, _A, "aggregate_year", by("kind", "year", "grain"), at_least=2),
    Shape(_A, _A, "aggregate_part", by("subject", "entity", "half"), 2, at_least=2),
    Shape(_A, _A, "aggregate_part", by("subject", "entity", "quarter"), 2, at_least=2),
    Shape(_A, _A, "aggregate_part", by("subject", "half"), at_least=2),
    Shape(_A, _A, "aggregate_part", by("subject", "entity", "months"), at_least=2),
    Shape(_A, _A, "aggregate_everyone", by("kind", "time"), 2, at_least=2, entities=2),
    Shape(_A, _A, "aggregate_everyone", by("kind", "year"), at_least=2, entities=2),
    Shape(_A, _A, "aggregate_all", by("subject", "entity"), 2, at_least=2),
)


_FORMULA = (LinkType.FORMULA_REFERENCE.value,)
_TOTALS = (LinkType.AGGREGATION.value,)
_GATHERS = (LinkType.SUMMARY_SOURCE.value, LinkType.AGGREGATION.value)
_FEEDS = (*_GATHERS, LinkType.FORMULA_REFERENCE.value)
_TRIES = 12


def sharing_key(number: int, *attributes: str) -> Build:
    """Build needs for sheets of several kinds that have a key column in common."""

    def build(scene: Scene, sheet: SheetFacts, rng: random.Random) -> Need | None:
        key = rng.choice(sheet.keys)
        entity = sheet.entity if "entity" in attributes else ""
        others = [kind for kind in scene.index.joined[entity, key] if kind != sheet.kind]
        need = by(*attributes)(scene, sheet, rng)
        if len(others) < number - 1 or not isinstance(need, Need):
            return None
        for _ in range(_TRIES):
            kinds = (sheet.kind, *rng.sample(others, number - 1))
            found = replace(need, kinds=kinds, keys=(key,))
            if all(scene.index.any(replace(found, kinds=(kind,))) for kind in kinds):
                return found
        return None

    return build


def sources_of(types: tuple[str, ...], *attributes: str, itself: bool = False) -> Build:
    """Build needs for the sources of all sheets that share these attributes with one."""

    def build(scene: Scene, sheet: SheetFacts, rng: random.Random) -> Sources | None:
        need = by(*attributes)(scene, sheet, rng)
        return Sources(need, types, itself) if isinstance(need, Need) else None

    return build


def _linked(
    query_type: str, rule: str, types: tuple[str, ...], pool: str, *, itself: bool = False
) -> tuple[Shape, ...]:
    """Return shapes that describe the taking sheets by all their attributes, or by fewer.

    A file's main sheet often has the file's name, so that only its subject names it.
    """
    dependency = {
        "formula_tracing": LinkType.FORMULA_REFERENCE.value,
        "summary_source": LinkType.SUMMARY_SOURCE.value,
        "aggregation": LinkType.AGGREGATION.value,
    }[query_type]
    described = {
        ("kind", "entity", "time"): 4,
        ("kind", "entity"): 1,
        ("kind", "time"): 1,
        ("kind", "entity", "year"): 1,
        ("subject", "year"): 1,
        ("subject",): 1,
    }
    least = 2 if itself else 1
    return tuple(
        Shape(
            query_type,
            dependency,
            rule,
            sources_of(types, *attributes, itself=itself),
            weight,
            pool,
            least,
        )
        for attributes, weight in described.items()
    )


_JOIN = ("join_key_reasoning", LinkType.JOIN_KEY.value, "join")

LINK_SHAPES = (
    *(
        Shape(*_JOIN, sharing_key(number, *attributes), weight, "keyed", number)
        for number, attributes, weight in (
            (2, ("entity", "time"), 4),
            (2, ("entity", "year"), 4),
            (2, ("entity",), 2),
            (2, ("time",), 2),
            (2, ("year",), 1),
            (2, (), 1),
            (3, ("entity", "year"), 2),
            (3, ("entity", "time"), 2),
            (3, ("entity",), 1),
        )
    ),
    *_linked("formula_tracing", "trace", _FORMULA, "formula_reference"),
    *_linked("formula_tracing", "trace_itself", _FORMULA, "formula_reference", itself=True),
    *_linked("summary_source", "gather", _GATHERS, "summary_source"),
    *_linked("summary_source", "feed", _FEEDS, "summary_source"),
    *_linked("summary_source", "feed_itself", _FEEDS, "summary_source", itself=True),
    *_linked("aggregation", "totals_in", _TOTALS, "aggregation"),
)
