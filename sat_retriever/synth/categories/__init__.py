"""The categories of workbooks that can be made, and the kinds of their owners."""

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
        owner: Kind of house that has such workbooks, and the list of its names.
    """

    id: str
    owner: Owner

    def books(self, house: House, years: Sequence[int]) -> Iterator[Book]:
        """Yield its workbooks of one house; each follows the workbooks that it refers to."""
        module = import_module(f"{__name__}.{self.id}")  # import only the category that is made
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
"""The categories by id, in the order in which a corpus interleaves them."""


def category(name: str) -> Category:
    """Return the category of an id."""
    if name not in CATEGORIES:
        raise InputError(f"there is no category {name!r}; choose from {', '.join(CATEGORIES)}")
    return CATEGORIES[name]
