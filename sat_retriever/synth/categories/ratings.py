"""Make sheets of films, users, ratings and their averages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial

from sat_retriever.synth.book.build import Cells, looked_up, ratio, summed_by, times, with_chart
from sat_retriever.synth.book.model import Book, Column, Recipe, Total
from sat_retriever.synth.categories.filing import Filed, Filing, changed, either, tabled
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, some_days

ID = "ratings"
_FEATURES = ("Subtitled", "Based on a novel", "Black and white", "Animated", "Remake", "Debut")
_AGES = ("16-24", "25-34", "35-49", "50-64", "65+")
_CHANNELS = ("Website", "App", "Newsletter", "Festival", "Friend")
_PLANS = ("Free", "Basic", "Premium")
_SAID = (
    "Worth seeing twice",
    "Too long by half an hour",
    "The music carries it",
    "A weak second act",
    "Fine for an evening",
    "The ending surprised me",
)


@dataclass(frozen=True, slots=True)
class _Audience:
    """The films and users of a source, equal in all its workbooks.

    Attributes:
        yearly: True if each year has its own lists of films and users.
    """

    movie_ids: tuple[str, ...]
    titles: tuple[str, ...]
    genres: tuple[str, ...]
    users: tuple[str, ...]
    yearly: bool

    def listed(self, year: When) -> When | None:
        """Return the period of the lists that a year's ratings refer to."""
        return year if self.yearly else None


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield films and users, once or every year, then for each year ratings and averages."""
    filing = Filing.of(house, ID, "each", "year")
    audience = _audience(house)
    if not audience.yearly:
        yield from filing.bound([_movies(filing, audience, None), _users(filing, audience, None)])
    for year in sorted(years):
        yield from filing.bound(_year(filing, audience, When(year)))


def _year(filing: Filing, audience: _Audience, when: When) -> Iterator[Filed]:
    if audience.yearly:
        yield _movies(filing, audience, when)
        yield _users(filing, audience, when)
    yield _ratings(filing, audience, when)
    yield _averages(filing, audience, when)


def _audience(house: House) -> _Audience:
    chance = house.chance(ID, "audience")
    films, users = chance.randint(20, 34), chance.randint(18, 30)
    kinds = house.pool("genres", 7)
    return _Audience(
        house.pool("movie_ids", films),
        house.pool("movies", films),
        tuple(chance.choice(kinds) for _ in range(films)),
        house.pool("user_ids", users),
        either(house, ID, "yearly lists", share=0.4),
    )


def _movies(filing: Filing, audience: _Audience, when: When | None) -> Filed:
    page, house = filing.page("movies", when, len(audience.movie_ids)), filing.house
    chance, every = filing.chance("movies"), range(page.rows)
    people, lands = house.pool("people", 30), house.pool("countries", 6)
    opened = [date(1990 + chance.randint(0, 28), chance.randint(1, 12), 15) for _ in every]
    columns = [
        page.column("movie_id", audience.movie_ids, key="movie", unique=True),
        _names(page.column("title", audience.titles), "Movie"),
        page.column("type", audience.genres),
        page.column("region", [chance.choice(lands) for _ in every]),
        page.column("features", [chance.choice(_FEATURES) for _ in every]),
        _names(page.column("director", [chance.choice(people) for _ in every]), "Director"),
        _names(page.column("actors", [chance.choice(people) for _ in every]), "Actor"),
        page.column("released", opened, "date"),
        page.column("minutes", [chance.randint(78, 175) for _ in every], "integer"),
    ]
    optional = ("region", "features", "director", "actors", "released", "minutes")
    return changed(page.filed(columns, optional, head=2), tabled, "Movies")


def _names(column: Column, noun: str) -> Column:
    """Return the column with the noun for its typed placeholders, if a corpus has these."""
    return replace(column, placeholder=noun)


def _users(filing: Filing, audience: _Audience, when: When | None) -> Filed:
    page, house = filing.page("users", when, len(audience.users)), filing.house
    chance, every = filing.chance("users"), range(page.rows)
    people = [name.split()[0].lower() for name in house.pool("people", page.rows)]
    handles = [f"{name}{chance.randint(10, 99)}" for name in people]
    regions = house.pool("regions", 6)
    joined = [date(2015, 1, 5) + timedelta(chance.randint(0, 1400)) for _ in every]
    columns = [
        page.column("user_id", audience.users, key="user", unique=True),
        _names(page.column("handle", handles), "User"),
        page.column("age_group", [chance.choice(_AGES) for _ in every]),
        page.column("region", [chance.choice(regions) for _ in every]),
        page.column("joined", joined, "date"),
        page.column("channel", [chance.choice(_CHANNELS) for _ in every]),
        page.column("plan", [chance.choice(_PLANS) for _ in every]),
    ]
    return page.filed(columns, ("age_group", "region", "joined", "channel", "plan"), head=2)


def _ratings(filing: Filing, audience: _Audience, when: When) -> Filed:
    """Make the ratings: one film rated by one user per row; some do not count."""
    chance = filing.chance("ratings", when)
    count = chance.randint(38, 58)
    page = filing.page("ratings", when, count)
    films = [chance.randrange(len(audience.movie_ids)) for _ in range(count)]
    titles: Cells | Recipe = [audience.titles[film] for film in films]
    if filing.has("look up", share=0.6):
        titles = looked_up(page.at("movies", audience.listed(when)), "movie_id", "title")
    users = [chance.choice(audience.users) for _ in films]
    points = [min(10, max(1, round(chance.gauss(6.8, 2)))) for _ in films]
    columns = [
        page.column("rating_no", [f"R{when.year % 100:02}{n:04}" for n in range(1, count + 1)]),
        page.column("user_id", users, key="user"),
        page.column("movie_id", [audience.movie_ids[film] for film in films], key="movie"),
        _names(page.column("title", titles), "Movie"),
        page.column("rating", points, "integer"),
        page.column("counted", [chance.choice((1, 1, 1, 1, 1, 0)) for _ in films], "integer"),
        page.column("counted_rating", times("rating", "counted"), "integer"),
        page.column("rated_on", some_days(chance, when, count), "date"),
        page.column("votes", [int(chance.expovariate(0.1)) for _ in films], "integer"),
        _names(page.column("note", [chance.choice((None, *_SAID)) for _ in films]), "Note"),
    ]
    return page.filed(columns, ("rating_no", "title", "rated_on", "note"), head=0)


def _averages(filing: Filing, audience: _Audience, when: When) -> Filed:
    page = filing.page("averages", when, len(audience.movie_ids), summary=True)
    source = page.at("ratings", when)
    movies = page.at("movies", audience.listed(when))
    by_movie = partial(summed_by, source, "movie_id")
    columns = [
        page.column("movie_id", audience.movie_ids, key="movie"),
        _names(page.column("title", looked_up(movies, "movie_id", "title")), "Movie"),
        page.column("type", looked_up(movies, "movie_id", "type")),
        page.column("total", by_movie("counted_rating"), "integer"),
        page.column("ratings", by_movie("counted"), "integer"),
        page.column("average", ratio("total", "ratings"), "amount"),
        page.column("votes", by_movie("votes"), "integer"),
        page.column("rank_share", ratio("ratings", Total(source, "counted")), "percent"),
    ]
    filed = page.filed(columns, ("type", "votes", "rank_share"))
    if filing.has("chart", share=0.4):
        filed = changed(filed, with_chart, "title", "average")
    return filed
