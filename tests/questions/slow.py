"""What a need means, written again from its description, sheet by sheet."""

import re

from sat_retriever.questions.facts import Sources
from sat_retriever.text.period.periods import Grain

_MONTHS = {
    Grain.YEAR: lambda part: range(1, 13),
    Grain.YEARS: lambda part: range(1, 13),
    Grain.QUARTER: lambda part: range(3 * part - 2, 3 * part + 1),
    Grain.MONTH: lambda part: [part],
}


def satisfies(facts, need):
    if need.kinds and facts.kind not in need.kinds:
        return False
    if need.categories and facts.category not in need.categories:
        return False
    if need.entities and facts.entity not in need.entities:
        return False
    if not all(key in facts.keys or key.lower() in facts.columns for key in need.keys):
        return False
    if need.grain is not None and (facts.period is None or facts.period.grain != need.grain):
        return False
    if not need.spans:
        return True
    return facts.period is not None and any(_inside(facts.period, span) for span in need.spans)


def _inside(period, span):
    """Every month of every year of the period is one of the span's."""
    months = set(_MONTHS[period.grain](period.part))
    allowed = set(range(span.first_month, span.last_month + 1))
    named = {int(text) for text in re.findall(r"\d{4}", period.label)} | {period.year}
    years = range(min(named), period.year + 1)
    if span.first_year and not set(years) <= set(range(span.first_year, span.last_year + 1)):
        return False
    return months <= allowed


def answers(asked, facts, links):
    """Ids of all sheets that satisfy what is asked."""
    if not isinstance(asked, Sources):
        return {each.sheet_id for each in facts if satisfies(each, asked)}
    described = {each.sheet_id for each in facts if satisfies(each, asked.of)}
    found = {link.target for link in links if link.source in described and link.type in asked.types}
    return found | described if asked.itself else found
