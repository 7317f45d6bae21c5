from functools import cache

import pytest

from tests.synth.categories.checks import SEEDS, TWO_YEARS, grids, made, sheets


@cache
def ratings(seed):
    """The workbooks of a house and their calculated cells."""
    books = made("ratings", seed, TWO_YEARS)
    return books, grids(books)


def cells_of(seed, kind):
    """Calculated cells of the sheets of a kind, by year; 0 for those of no year."""
    books, cells = ratings(seed)
    return {
        sheet.facts.period.year if sheet.facts.period else 0: cells[book.path, sheet.name]
        for book, sheet in sheets(books, kind)
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_averages_are_those_of_the_ratings_that_count(seed):
    for year, averages in cells_of(seed, "averages").items():
        given = cells_of(seed, "ratings")[year]
        for row, movie in enumerate(averages["movie_id"]):
            own = [n for n, one in enumerate(given["movie_id"]) if one == movie]
            stars = [given["rating"][n] for n in own if given["counted"][n]]
            assert averages["ratings"][row] == len(stars)
            mean = sum(stars) / len(stars) if stars else 0
            assert averages["average"][row] == pytest.approx(mean)


@pytest.mark.parametrize("seed", SEEDS)
def test_ratings_are_of_known_films_by_known_users(seed):
    movies, users = cells_of(seed, "movies"), cells_of(seed, "users")
    for year, given in cells_of(seed, "ratings").items():
        films = movies.get(year) or movies[0]
        titles = dict(zip(films["movie_id"], films["title"], strict=True))
        assert set(given["movie_id"]) <= set(titles)
        assert set(given["user_id"]) <= set((users.get(year) or users[0])["user_id"])
        for movie, title in zip(given["movie_id"], given.get("title", ()), strict=False):
            assert titles[movie] == title
        assert all(1 <= stars <= 10 for stars in given["rating"])


def test_free_text_says_which_placeholder_it_may_become():
    nouns = {
        column.id: column.placeholder
        for seed in SEEDS
        for book in ratings(seed)[0]
        for sheet in book.sheets
        for column in sheet.columns
        if column.placeholder
    }
    assert nouns == {
        "title": "Movie",
        "director": "Director",
        "actors": "Actor",
        "handle": "User",
        "note": "Note",
    }


def test_houses_differ_in_filing_and_in_how_often_films_are_listed():
    every = [ratings(seed)[0] for seed in range(12)]
    assert {len(list(sheets(books, "movies"))) for books in every} == {1, 2}
    assert len({len(books) for books in every}) >= 3
