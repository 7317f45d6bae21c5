"""Names that several files use."""

from __future__ import annotations

import datetime as dt
import random

FIRST = (
    "Aisha Bela Carlos Dorota Emeka Fiona Goran Hannah Ivo Jamila Keiko Liam Marta Nikos Olga "
    "Pavel Quentin Rosa Sven Teresa Umar Vera Wanda Xavier Yusuf Zora"
).split()
LAST = (
    "Abbott Brandt Costa Dvorak Ekström Farouk Gallagher Horvat Ibrahim Jansen Kowalska Lindqvist "
    "Moreau Novak Okafor Petrov Quinn Ricci Santos Tanaka Ueda Varga Whitfield Yilmaz Zeman"
).split()
TOWNS = (
    "Ashford Brackley Corsham Diss Ely Frome Goole Hexham Ilkley Jarrow Kendal Ludlow Malton "
    "Newent Oakham Penrith Retford Settle Thirsk Ulverston Ventnor Whitby Yarm"
).split()
CROPS = "Barley Oats Rapeseed Rye Sugar-beet Sunflower Triticale Wheat Potatoes Clover".split()
GOODS = (
    "Bucket Hammer Ladder Padlock Paintbrush Rake Sandpaper Screwdriver Shovel Spirit-level "
    "Tape-measure Toolbox Trowel Twine Wheelbarrow Workbench"
).split()


def person(rng: random.Random) -> str:
    """A first and a last name."""
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def people(rng: random.Random, count: int) -> list[str]:
    """Names of different people."""
    pairs = [f"{first} {last}" for first in FIRST for last in LAST]
    return rng.sample(pairs, count)


def day(rng: random.Random, year: int = 2023) -> dt.date:
    """A day of a year."""
    return dt.date(year, 1, 1) + dt.timedelta(days=rng.randrange(365))


def price(rng: random.Random, low: float = 1, high: float = 500) -> float:
    """An amount with cents."""
    return round(rng.uniform(low, high), 2)
