"""Define shapes of questions that follow keys and links from one sheet."""

from __future__ import annotations

import random
from dataclasses import replace

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.questions.needs import Need, Sources
from sat_retriever.questions.scene import Scene
from sat_retriever.questions.shapes import Build, Shape, by
from sat_retriever.records.links import LinkType

_FORMULA = (LinkType.FORMULA_REFERENCE.value,)
_TOTALS = (LinkType.AGGREGATION.value,)
_GATHERS = (LinkType.SUMMARY_SOURCE.value, LinkType.AGGREGATION.value)
_FEEDS = (*_GATHERS, LinkType.FORMULA_REFERENCE.value)
_TRIES = 12


def sharing_key(number: int, *attributes: str) -> Build:
    """Build needs for sheets of several kinds that have a key column in common.

    Args:
        number: Number of kinds, including the sheet's own.
        attributes: Further attributes that they share with it, for example entity and year.
    """

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
