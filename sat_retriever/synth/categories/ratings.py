"""Make sheets of films, users, ratings and their averages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from sat_retriever.synth.book.model import (
    Book,
    Chart,
    Column,
    Combine,
    Lookup,
    Own,
    Recipe,
    SheetAt,
    Total,
    TotalWhere,
    Value,
)
from sat_retriever.synth.categories.filing import (
    Filed,
    Filing,
    Mode,
    arranged,
    either,
    noted,
    tabled,
)
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, some_days

ID = "ratings"
_MODES: tuple[Mode, ...] = ("each", "year")
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
        movie_ids: Ids of films.
        titles: Their titles.
        genres: Their genres.
        users: Ids of users.
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
    filing = Filing(house, ID, house.chance(ID, "filing").choice(_MODES))
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
    kind, house = filing.kind("movies"), filing.house
    chance, count = house.chance(ID, "movies"), len(audience.movie_ids)
    people, lands = house.pool("people", 30), house.pool("countries", 6)
    opened = [date(1990 + chance.randint(0, 28), chance.randint(1, 12), 15) for _ in range(count)]
    columns = [
        kind.column("movie_id", audience.movie_ids, key="movie", unique=True),
        replace(kind.column("title", audience.titles), placeholder="Movie"),
        kind.column("type", audience.genres),
        kind.column("region", [chance.choice(lands) for _ in range(count)]),
        kind.column("features", [chance.choice(_FEATURES) for _ in range(count)]),
        _names(kind.column("director", [chance.choice(people) for _ in range(count)]), "Director"),
        _names(kind.column("actors", [chance.choice(people) for _ in range(count)]), "Actor"),
        kind.column("released", opened, "date"),
        kind.column("minutes", [chance.randint(78, 175) for _ in range(count)], "integer"),
    ]
    optional = ("region", "features", "director", "actors", "released", "minutes")
    filed = filing.sheet("movies", when, arranged(kind, columns, optional, head=2))
    return noted(filed, lambda sheet: tabled(sheet, "Movies"))


def _names(column: Column, noun: str) -> Column:
    """Return the column with the noun for its typed placeholders, if a corpus has these."""
    return replace(column, placeholder=noun)


def _users(filing: Filing, audience: _Audience, when: When | None) -> Filed:
    kind, house = filing.kind("users"), filing.house
    chance, count = house.chance(ID, "users"), len(audience.users)
    handles = [
        f"{name.split()[0].lower()}{chance.randint(10, 99)}" for name in house.pool("people", count)
    ]
    regions = house.pool("regions", 6)
    joined = [date(2015, 1, 5) + timedelta(chance.randint(0, 1400)) for _ in range(count)]
    columns = [
        kind.column("user_id", audience.users, key="user", unique=True),
        _names(kind.column("handle", handles), "User"),
        kind.column("age_group", [chance.choice(_AGES) for _ in range(count)]),
        kind.column("region", [chance.choice(regions) for _ in range(count)]),
        kind.column("joined", joined, "date"),
        kind.column("channel", [chance.choice(_CHANNELS) for _ in range(count)]),
        kind.column("plan", [chance.choice(_PLANS) for _ in range(count)]),
    ]
    optional = ("age_group", "region", "joined", "channel", "plan")
    return filing.sheet("users", when, arranged(kind, columns, optional, head=2))


def _ratings(filing: Filing, audience: _Audience, when: When) -> Filed:
    """Make the ratings: one film rated by one user per row; some do not count."""
    kind, house = filing.kind("ratings"), filing.house
    chance = house.chance(ID, "ratings", when)
    count = chance.randint(38, 58)
    films = [chance.randrange(len(audience.movie_ids)) for _ in range(count)]
    titles: list[Value | Recipe] = [audience.titles[film] for film in films]
    if either(house, ID, "look up", share=0.6):
        movies = filing.place("movies", audience.listed(when)).at(filing.place("ratings", when))
        titles = [Lookup(movies, "movie_id", "movie_id", "title")] * count
    numbers = [f"R{when.year % 100:02}{n:04}" for n in range(1, count + 1)]
    taken = Combine("*", Own("rating"), Own("counted"))
    columns = [
        kind.column("rating_no", numbers),
        kind.column("user_id", [chance.choice(audience.users) for _ in films], key="user"),
        kind.column("movie_id", [audience.movie_ids[film] for film in films], key="movie"),
        _names(kind.column("title", titles), "Movie"),
        kind.column(
            "rating", [min(10, max(1, round(chance.gauss(6.8, 2)))) for _ in films], "integer"
        ),
        kind.column("counted", [chance.choice((1, 1, 1, 1, 1, 0)) for _ in films], "integer"),
        kind.column("counted_rating", [taken] * count, "integer"),
        kind.column("rated_on", some_days(chance, when, count), "date"),
        kind.column("votes", [int(chance.expovariate(0.1)) for _ in films], "integer"),
        _names(kind.column("note", [chance.choice((None, *_SAID)) for _ in films]), "Note"),
    ]
    optional = ("rating_no", "title", "rated_on", "note")
    return filing.sheet("ratings", when, arranged(kind, columns, optional, head=0))


def _averages(filing: Filing, audience: _Audience, when: When) -> Filed:
    """Make every film's mean rating of the year."""
    kind, own = filing.kind("averages"), filing.place("averages", when)
    count = len(audience.movie_ids)
    source = filing.place("ratings", when).at(own)
    movies = filing.place("movies", audience.listed(when)).at(own)

    def by_movie(column: str) -> list[TotalWhere]:
        return [TotalWhere(source, column, "movie_id", "movie_id")] * count

    share = Combine("/", Own("ratings"), Total(source, "counted"))
    columns = [
        kind.column("movie_id", audience.movie_ids, key="movie"),
        _names(
            kind.column("title", [Lookup(movies, "movie_id", "movie_id", "title")] * count), "Movie"
        ),
        kind.column("type", [Lookup(movies, "movie_id", "movie_id", "type")] * count),
        kind.column("total", by_movie("counted_rating"), "integer"),
        kind.column("ratings", by_movie("counted"), "integer"),
        kind.column("average", [Combine("/", Own("total"), Own("ratings"))] * count, "amount"),
        kind.column("votes", by_movie("votes"), "integer"),
        kind.column("rank_share", [share] * count, "percent"),
    ]
    kept = arranged(kind, columns, ("type", "votes", "rank_share"))
    filed = filing.sheet("averages", when, kept, summary=True)
    if either(filing.house, ID, "chart", share=0.4):
        charts = (Chart(SheetAt(filed[2].name), "title", "average"),)
        filed = noted(filed, lambda sheet: replace(sheet, charts=charts))
    return filed
