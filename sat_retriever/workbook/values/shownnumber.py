"""Numbers in the placeholders of a format code: digits, thousands, percents, powers, fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, DecimalException
from fractions import Fraction
from functools import lru_cache
from itertools import takewhile

from sat_retriever.workbook.values.formatcode import Part, Section

_PADDING = {"0": "0", "?": " ", "#": ""}
_EXACT = Context(prec=700, rounding=ROUND_HALF_UP)  # digits of the largest number, and of a code's
_MOST_DENOMINATOR = 7  # digits of a fraction's


@dataclass(frozen=True, slots=True)
class _Shape:
    """A section for numbers, by the kinds of its placeholders.

    Attributes:
        parts: Each a text, or a placeholder with its area: whole, decimal, power; numerator and
            denominator of a fraction.
        power: Of ten, by which it multiplies: 2 for a percent sign, -3 for thousands.
        of: Denominator that a fraction has; 0 for the nearest one.
    """

    parts: tuple[tuple[str, str], ...]
    grouped: bool = False
    power: int = 0
    of: int = 0

    def slots(self, area: str) -> str:
        """The placeholders of an area."""
        return "".join(text for name, text in self.parts if name == area)


def number_text(section: Section, number: float) -> str | None:
    """A number of zero or more in a section's placeholders; None if it does not fit there.

    It is rounded as Excel does: half up, by its first 15 digits.
    """
    shape = _shape_of(section)
    if shape is None:
        return None
    try:
        value = Decimal(f"{number:.15g}").scaleb(shape.power, _EXACT)
        if shape.slots("denominator") or shape.of:
            return _fraction_text(shape, value)
        if any(name == "power" for name, _text in shape.parts):
            return _power_text(shape, value)
        return _placed(shape, *_digits(value, shape))
    except DecimalException:
        return None


@lru_cache(maxsize=1_024)
def _shape_of(section: Section) -> _Shape | None:
    parts = section.parts
    slash = next((at for at, each in enumerate(parts) if each.name == "slash"), 0)
    if slash and parts[slash - 1].name == "digit":
        return _fraction_shape(parts, slash)
    area, grouped, power = "whole", False, 0
    found: list[tuple[str, str]] = []
    for at, each in enumerate(parts):
        if each.name == "digit":
            found.append((area, each.text))
        elif each.name == "power":
            found.append(("power", each.text))
            area = "exponent"
        elif each.name == "point" and area == "whole":
            if not any(name == "whole" for name, _text in found):
                found.append(("whole", "#"))
            found.append(("text", each.text))
            area = "decimal"
        elif each.name == "comma" and _beside(parts[:at][::-1]):
            between = _beside(parts[at + 1 :])
            grouped = grouped or (between and area == "whole")
            power -= 0 if between else 3
        else:
            power += 2 if each.name == "percent" else 0
            found.append(("text", each.text))
    return _Shape(tuple(found), grouped, power)


def _beside(parts: Sequence[Part]) -> bool:
    """True if the first part that is no comma is a placeholder."""
    first = next((each for each in parts if each.name != "comma"), None)
    return first is not None and first.name == "digit"


def _fraction_shape(parts: Sequence[Part], slash: int) -> _Shape | None:
    above = len([*takewhile(lambda each: each.name == "digit", parts[:slash][::-1])])
    below = [
        *takewhile(
            lambda each: each.name == "digit" or (each.name == "other" and each.text.isdecimal()),
            parts[slash + 1 :],
        )
    ]
    digits = "".join(each.text for each in below)
    fixed = digits.isdecimal() and digits.isascii() and int(digits) > 0
    ends = slash + 1 + len(below)
    rest = {each.name for each in (*parts[: slash - above], *parts[ends:])}
    behind = any(each.name == "digit" for each in parts[ends:])
    if not below or behind or not rest.isdisjoint(("point", "power", "percent", "comma", "slash")):
        return None
    found = [
        (("whole" if each.name == "digit" else "text"), each.text)
        for each in parts[: slash - above]
    ]
    found += [("numerator", each.text) for each in parts[slash - above : slash]]
    found += [("slash", "/")]
    found += [("denominator", each.text) for each in below]
    found += [("text", each.text) for each in parts[ends:]]
    return _Shape(tuple(found), of=int(digits) if fixed else 0)


def _digits(value: Decimal, shape: _Shape) -> tuple[str, str]:
    """The digits before and behind the point, rounded; none for a whole part of zero."""
    places = len(shape.slots("decimal"))
    rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _EXACT)
    whole, _, decimals = f"{rounded:f}".partition(".")
    return whole.lstrip("0"), decimals


def _power_text(shape: _Shape, value: Decimal) -> str:
    step = max(1, len(shape.slots("whole")))
    power = value.adjusted() // step * step if value else 0
    digits = _digits(value.scaleb(-power, _EXACT), shape)
    if len(digits[0]) > step:  # rounded up to the next power
        power += step
        digits = _digits(value.scaleb(-power, _EXACT), shape)
    return _placed(shape, *digits, power)


def _placed(shape: _Shape, whole: str, decimals: str, power: int = 0) -> str:
    """Digits in their placeholders, among the texts of the section."""
    filled = {
        "whole": iter(_filled(shape.slots("whole"), whole, grouped=shape.grouped)),
        "exponent": iter(_filled(shape.slots("exponent"), str(abs(power)))),
        "decimal": iter(
            "" if slot == "#" and not decimals[at:].strip("0")
            else " " if slot == "?" and not decimals[at:].strip("0")
            else decimals[at]
            for at, slot in enumerate(shape.slots("decimal"))
        ),
    }  # fmt: skip
    texts = []
    for name, text in shape.parts:
        if name == "power":
            sign = "-" if power < 0 else "+" if text[1] == "+" else ""
            texts.append(f"E{sign}")
        else:
            texts.append(next(filled[name]) if name in filled else text)
    return "".join(texts)


def _filled(slots: str, digits: str, *, grouped: bool = False) -> list[str]:
    """Digits in placeholders from the right; the first placeholder takes all that are left.

    >>> _filled("#0", "12345", grouped=True), _filled("0??", "7")
    (['12,34', '5'], ['0', ' ', '7'])
    """
    found = [""] * len(slots)
    for place in range(max(len(slots), len(digits)) if slots else 0):
        at = max(len(slots) - 1 - place, 0)
        digit = digits[-1 - place] if place < len(digits) else _PADDING[slots[at]]
        comma = "," if grouped and place and place % 3 == 0 and digit.isdigit() else ""
        found[at] = digit + comma + found[at]
    return found


def _fraction_text(shape: _Shape, value: Decimal) -> str:
    exact, whole = Fraction(value), 0
    if mixed := bool(shape.slots("whole")):
        whole = int(exact)
        exact -= whole
    most = 10 ** min(len(shape.slots("denominator")), _MOST_DENOMINATOR) - 1
    near = exact.limit_denominator(most)
    above, below = near.numerator, near.denominator
    if shape.of:
        above, below = int(exact * shape.of + Fraction(1, 2)), shape.of
    if mixed and above == below:
        whole, above = whole + 1, 0
    filled = {
        "whole": _filled(shape.slots("whole"), str(whole) if whole or not above else ""),
        "numerator": _filled(shape.slots("numerator"), str(above)),
        "slash": ["/"],
        "denominator": [str(below)],
    }
    texts, done = [], set[str]()
    for name, text in shape.parts:
        if name not in filled:
            texts.append(text)
        elif name not in done and (name == "whole" or above or not mixed):
            done.add(name)
            texts += filled[name]
    return "".join(texts)
