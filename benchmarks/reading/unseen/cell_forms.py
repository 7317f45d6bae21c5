"""K10: spaces, percent formats beside texts, and scales."""

from __future__ import annotations

from benchmarks.reading.unseen.book import Book, Examples
from benchmarks.reading.unseen.names import TOWNS, people, price
from benchmarks.reading.unseen.values import either, formed, shown

EXAMPLES = Examples()


@EXAMPLES.xlsx("K10_discounts", "percent formats, and the same as texts in some rows")
def discounts(book: Book) -> None:
    """Discounts of the customers of a wholesaler."""
    table = book.page("Terms").table(["Customer", "Limit", "Discount"])
    for place, name in enumerate(people(book.rng, 30)):
        share = book.rng.randrange(1, 40)
        given = shown(f"{share} %", share / 100) if place % 6 == 4 else formed(share / 100, "0%")
        table.add(name, book.rng.randrange(500, 9000, 500), given)


@EXAMPLES.xlsx("K10_padded_texts", "spaces around texts, cells of spaces alone")
def padded(book: Book) -> None:
    """An address list that came out of an old system with padded fields."""
    table = book.table("Name", "Town", "Remark", "Visits")
    for place, name in enumerate(people(book.rng, 20)):
        town = TOWNS[place % 9]
        remark = shown("   ", None) if place % 3 else "prefers letters"
        ended = either(f"{town}\u00a0", town, f"{town}\u00a0")
        table.add(
            either(f"{name:<24}", name, f"{name:<24}"), ended, remark, book.rng.randrange(0, 20)
        )


@EXAMPLES.xlsx("K10_texts_with_litres", "numbers with one unit, all of them texts")
def litres(book: Book) -> None:
    """Fuel that the buses of a school took."""
    amounts = [book.rng.randrange(20, 90) for _ in range(16)]
    table = book.table("Bus", "Driver", "Fuel")
    for place, (name, amount) in enumerate(zip(people(book.rng, 16), amounts, strict=True)):
        table.add(f"Bus {place + 1}", name, shown(f"{amount} l", amount))
    table.notes["accept_columns"] = {"2": [[f"{amount} l" for amount in amounts]]}


@EXAMPLES.xlsx(
    "K10_scaled_formats", "formats that show thousands, pounds and red minus; values are whole"
)
def scaled(book: Book) -> None:
    """Figures of a brewery; the formats change the looks only."""
    table = book.page("Figures").table(["Brand", "Bottles", "Turnover", "Result"])
    for name in "Amber Bock Dunkel Export Honey Light Pale Porter Stout Wheat".split():
        bottles = formed(book.rng.randrange(12000, 990000), '#,##0.0,"k"')
        turnover = formed(price(book.rng, 9000, 800000), '"£"#,##0.00')
        result = formed(price(book.rng, -9000, 30000), "#,##0.00;[Red]-#,##0.00")
        table.add(f"{name} Beer", bottles, turnover, result)


@EXAMPLES.xlsx("K10_strengths", "all shares are texts with a percent sign")
def strengths(book: Book) -> None:
    """Strengths of the spirits of a bar."""
    parts = [37.5, 40, 43, 17, 28, 55.5, 22, 35]
    names = "Vodka Gin Whisky Vermouth Amaro Absinthe Port Rum".split()
    table = book.table("Spirit", "Bottles", "Strength")
    for name, part in zip(names, parts, strict=True):
        table.add(name, book.rng.randrange(2, 30), shown(f"{part:g}%", part / 100))
    table.notes["accept_columns"] = {"2": [parts]}


@EXAMPLES.xlsx("K10_short_scales", "3k and 1.5M in texts: numbers of one scale, or texts")
def short_scales(book: Book) -> None:
    """Followers and views of the channels of a museum."""
    followers = [3000, 12500, 800000, 1500000, 47000, 250000]
    channels = zip("Videos Podcast Letters Photos Games Talks".split(), followers, strict=True)
    table = book.page("Channels").table(["Channel", "Keeper", "Followers"])
    texts = [_short(value) for value in followers]
    for (name, _), text in zip(channels, texts, strict=True):
        table.add(name, people(book.rng, 1)[0], text)
    table.notes["accept_columns"] = {"2": [followers]}


def _short(value: int) -> str:
    """A number in thousands or millions."""
    return f"{value / 1e6:g}M" if value >= 1e6 else f"{value / 1e3:g}k"
