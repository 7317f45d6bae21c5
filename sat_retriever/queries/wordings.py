"""How people call kinds and categories, less what could mean two things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sat_retriever.queries.attributes import FactIndex


@dataclass(frozen=True, slots=True)
class Wordings:
    """Phrases that questions may use.

    Attributes:
        kinds: By kind, as facts have it, singular noun phrases: "warehouse entry". A kind
            that is missing is called by its own name.
        categories: The same by category.
    """

    kinds: Mapping[str, Sequence[str]] = field(default_factory=dict)
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def clear(self, index: FactIndex) -> Wordings:
        """The phrases of all kinds and categories of a corpus that mean one thing in it.

        A phrase of two kinds, or of two categories, is left to neither. One of a category
        and of a kind is left to both if they are the same sheets, to the category if the
        kind is part of it, and otherwise to neither. A kind that has other phrases loses
        one that another kind's phrase ends with: who asks for a "budget" may mean the
        "project budget" too.
        """
        kinds = _of("kind", self.kinds, index)
        categories = _of("category", self.categories, index)
        kind_of, category_of = _meanings(kinds), _meanings(categories)
        blocked_kinds = {phrase for phrase, names in kind_of.items() if len(names) > 1}
        blocked_categories = {phrase for phrase, names in category_of.items() if len(names) > 1}
        for phrase in kind_of.keys() & category_of.keys():
            of_kind = set(index.postings["kind", kind_of[phrase][0]])
            of_category = set(index.postings["category", category_of[phrase][0]])
            if of_kind != of_category:
                blocked_kinds.add(phrase)
                if not of_kind <= of_category:
                    blocked_categories.add(phrase)
        left = _without(kinds, blocked_kinds)
        return Wordings(_without_heads(left), _without(categories, blocked_categories))


def _of(
    attribute: str, phrases: Mapping[str, Sequence[str]], index: FactIndex
) -> dict[str, tuple[str, ...]]:
    """Phrases of every value that sheets have, in the order sheets first have it."""
    values = (key[1] for key in index.postings if len(key) == 2 and key[0] == attribute)
    return {
        value: tuple(dict.fromkeys(phrases.get(value) or (value,)))
        for value in values
        if isinstance(value, str)
    }


def _meanings(phrases: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for value, names in phrases.items():
        for name in dict.fromkeys(name.casefold() for name in names):
            found.setdefault(name, []).append(value)
    return found


def _without(phrases: Mapping[str, Sequence[str]], blocked: set[str]) -> dict[str, tuple[str, ...]]:
    return {
        value: tuple(name for name in names if name.casefold() not in blocked)
        for value, names in phrases.items()
    }


def _without_heads(kinds: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Phrases less those that name more than their kind, as far as each kind keeps one."""
    owners: dict[str, set[str]] = {}
    for kind, names in kinds.items():
        for name in names:
            words = name.casefold().split()
            for start in range(1, len(words)):
                owners.setdefault(" ".join(words[start:]), set()).add(kind)
    return {
        kind: tuple(name for name in names if not owners.get(name.casefold(), set()) - {kind})
        or names
        for kind, names in kinds.items()
    }
