"""Any years will do: with gaps between them, in any order, one alone."""

from __future__ import annotations

import pytest

from sat_retriever.synth.categories import CATEGORIES
from tests.synth.categories.checks import check_references, grids, made

GAPS = (2024, 2019, 2021, 2022)


@pytest.mark.parametrize("name", CATEGORIES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nothing_is_taken_from_a_year_that_was_left_out(name, seed):
    books = made(name, seed, GAPS)
    check_references(books)
    grids(books)  # calculates every cell
