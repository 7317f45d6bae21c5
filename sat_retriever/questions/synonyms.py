"""Other names that people use for kinds and categories, without the ambiguous ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from sat_retriever.questions.attributes import FactIndex


@dataclass(frozen=True, slots=True)
class Wordings:
    """Singular phrases by kind ("warehouse entry"); a kind without any is called by its name."""

    kinds: Mapping[str, Sequence[str]] = field(default_factory=dict)
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _of_kinds: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        said = frozenset(name.casefold() for names in self.kinds.values() for name in names)
        object.__setattr__(self, "_of_kinds", said)

    def clear(self, index: FactIndex) -> Wordings:
        """Return the phrases of all kinds and categories of a corpus that are unambiguous in it.

        A phrase of two kinds, or of two categories, is removed from both. A phrase of a category
        and of a kind stays with both if they have the same sheets, with the category if the kind is
        part of it, and otherwise with neither. A phrase that is part of a longer phrase for other
        sheets is removed if the kind or category has another phrase: "budget" may mean the
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
        homes = {kind: index.categories_of(kind) for kind in kinds}
        return Wordings(
            _without_parts(left, (left, {kind: {kind} for kind in left})),
            _without_parts(
                _without(categories, blocked_categories),
                (kinds, homes),
                (categories, {name: {name} for name in categories}),
            ),
        )

    def ended_by(self, text: str) -> bool:
        """True if a text of several words ends with the phrase of some kind."""
        words = text.casefold().split()
        return any(" ".join(words[start:]) in self._of_kinds for start in range(1, len(words)))


def _of(
    attribute: str, phrases: Mapping[str, Sequence[str]], index: FactIndex
) -> dict[str, tuple[str, ...]]:
    """Return the phrases of every value that sheets have, in order of first appearance."""
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


def _without_parts(
    phrases: Mapping[str, tuple[str, ...]],
    *longer: tuple[Mapping[str, tuple[str, ...]], Mapping[str, Set[str]]],
) -> dict[str, tuple[str, ...]]:
    """Remove phrases that are part of others' longer ones, unless a value would lose all."""
    users: dict[str, set[str]] = {}
    for by_name, owners in longer:
        for name, texts in by_name.items():
            for text in texts:
                for part in _parts(text.casefold()):
                    users.setdefault(part, set()).update(owners[name])
    return {
        name: tuple(text for text in texts if users.get(text.casefold(), set()) <= {name}) or texts
        for name, texts in phrases.items()
    }


def _parts(text: str) -> Iterator[str]:
    """Yield the runs of a text's words, except the whole text."""
    words = text.split()
    for length in range(1, len(words)):
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])
