"""The categories of workbooks that can be made, and whose workbooks they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Literal, cast

from sat_retriever.errors import InputError
from sat_retriever.synth.book.model import Book
from sat_retriever.synth.house.house import House

Owner = Literal["companies", "markets", "institutions", "sources"]


@dataclass(frozen=True, slots=True)
class Category:
    """One category.

    Attributes:
        id: Name of its module and, after "category_", of its file of words.
        owner: What kind of house has such workbooks: the list its name is from.
    """

    id: str
    owner: Owner

    def books(self, house: House, years: Sequence[int]) -> Iterator[Book]:
        """Its workbooks of one house, what refers after what it refers to."""
        module = import_module(f"{__name__}.{self.id}")  # only what is made is imported
        return cast("Iterator[Book]", module.books(house, years))


CATEGORIES: Mapping[str, Category] = MappingProxyType(
    {
        category.id: category
        for category in (
            Category("financial", "companies"),
            Category("budget", "companies"),
            Category("sales", "companies"),
            Category("inventory", "companies"),
            Category("hr", "companies"),
            Category("projects", "companies"),
            Category("stock", "markets"),
            Category("indices", "markets"),
            Category("institutions", "institutions"),
            Category("ratings", "sources"),
            Category("sentiment", "sources"),
        )
    }
)
"""All categories by id, in the order in which a corpus interleaves them."""


def category(name: str) -> Category:
    """The category of an id.

    Raises:
        InputError: If there is none.
    """
    if name not in CATEGORIES:
        raise InputError(f"no category is called {name!r}; there are {', '.join(CATEGORIES)}")
    return CATEGORIES[name]
