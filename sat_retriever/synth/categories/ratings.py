"""Make sheets of films, users, ratings and their averages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta

from sat_retriever.synth.book.model import Book
from sat_retriever.synth.categories.filing import Filed, Filing, Rows
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield films and users, once or every year, then for each year ratings and averages."""
    yearly = house.chance("habit", "ratings", "yearly lists").random() < 0.4
    filing = Filing.of(house, "ratings", "each", "year")
    filing = replace(filing, once=() if yearly else ("movies", "users"))
    films, users = _audience(house)
    if not yearly:
        yield from filing.bound([_movies(filing, films, None), _users(filing, users, None)])
    for year in sorted(years):
        when = When(year)
        listed = [_movies(filing, films, when), _users(filing, users, when)] if yearly else []
        averages = filing.page("averages", when).filed(films)
        yield from filing.bound([*listed, _ratings(filing, films, users, when), averages])


def _audience(house: House) -> tuple[Rows, Sequence[str]]:
    """Draw films and numbers of users, equal in all workbooks of a source."""
    chance = house.chance("ratings", "audience")
    count, users = chance.randint(20, 34), chance.randint(18, 30)
    kinds = house.pool("genres", 7)
    films = zip(house.pool("movie_ids", count), house.pool("movies", count), strict=True)
    rows = [{"movie_id": n, "title": title, "type": chance.choice(kinds)} for n, title in films]
    return rows, house.pool("user_ids", users)


def _movies(filing: Filing, films: Rows, when: When | None) -> Filed:
    chance = filing.chance("movies")
    opened = [date(1990 + chance.randint(0, 28), chance.randint(1, 12), 15) for _ in films]
    return filing.page("movies", when).filed(films, {"released": opened}, chance=chance)


def _users(filing: Filing, users: Sequence[str], when: When | None) -> Filed:
    chance = filing.chance("users")
    people = [name.split()[0].lower() for name in filing.house.pool("people", len(users))]
    handles = [f"{name}{chance.randint(10, 99)}" for name in people]
    rows = [{"user_id": n, "handle": each} for n, each in zip(users, handles, strict=True)]
    joined = [date(2015, 1, 5) + timedelta(chance.randint(0, 1400)) for _ in users]
    return filing.page("users", when).filed(rows, {"joined": joined}, chance=chance)


def _ratings(filing: Filing, films: Rows, users: Sequence[str], when: When) -> Filed:
    """Make the ratings: one film rated by one user per row; some do not count."""
    chance = filing.chance("ratings", when)
    rated = [films[chance.randrange(len(films))] for _ in range(chance.randint(38, 58))]
    given = {
        "user_id": [chance.choice(users) for _ in rated],
        "rating": [min(10, max(1, round(chance.gauss(6.8, 2)))) for _ in rated],
        "votes": (int(chance.expovariate(0.1)) for _ in rated),
    }
    typed = () if filing.has("look up", share=0.6) else ("title",)
    return filing.page("ratings", when).filed(rated, given, typed=typed, chance=chance)
