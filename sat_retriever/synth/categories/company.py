"""One company with declared habits, for categories whose sheets refer to each other a lot."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

from sat_retriever.synth.book.build import Kind
from sat_retriever.synth.house.house import House


def share(probability: float) -> Any:
    """Declare a habit that this share of houses has."""
    return drawn(lambda chance, _: chance.random() < probability)


def one_of(*values: object) -> Any:
    """Declare a habit with one of these values; a value that is named twice is twice as likely."""
    return drawn(lambda chance, _: chance.choice(values))


def drawn(draw: Callable[[random.Random, Mapping[str, Any]], object]) -> Any:
    """Declare a habit that depends on the habits declared above it."""
    return field(metadata={"draw": draw})


@dataclass(frozen=True, slots=True)
class Habits:
    """The habits of a company, equal in all years; they are drawn in the order of the fields."""

    category: ClassVar[str]

    @classmethod
    def of(cls, house: House) -> Self:
        """Draw the habits of a house."""
        chance, found = house.chance(cls.category, "habits"), dict[str, Any]()
        for habit in fields(cls):
            found[habit.name] = habit.metadata["draw"](chance, found)
        return cls(**found)


@dataclass(frozen=True, slots=True)
class Company:
    """A house in one category, with the years of its sheets, ascending."""

    house: House
    years: Sequence[int]
    category: ClassVar[str]

    def kind(self, name: str) -> Kind:
        """Return a kind of sheet of this company."""
        return Kind(self.house, self.category, name)
