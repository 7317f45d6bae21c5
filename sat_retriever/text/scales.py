"""Recognise units of several words or signs: scaled currencies, and Chinese and Japanese ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MONEY = r"(?:usd|eur|gbp|jpy|cny|rmb|chf|rub|inr|sek|nok|dkk|pln|czk|aud|cad|[$€£¥₽₹])"
_SCALE = (
    r"(?:'?000s?|thousands?|millions?|billions?|[kmt]|th|mn|mln|mio|bn|tsd|mrd|mill?|lakh|crores?)"
)
_SCALED = re.compile(  # kEUR, EUR thousand, EUR '000, in USD millions
    rf"(?:in )?(?:{_SCALE}\.? ?(?:of )?{_MONEY}|{_MONEY}(?: in)? ?{_SCALE}\.?|{_SCALE}(?<=.{{3}}))",
    re.IGNORECASE,
)
_HAN_SCALE = "(?:[十百千万萬]?[千万萬亿億兆]|百)"
_HAN_MONEY = "(?:美|[欧歐]|日|港|[台臺]|韩|韓)?[元圆圓]|円|人民[币幣]|美金|英[镑鎊]|ユーロ|ドル"
_HAN_MEASURE = (
    "[个個件台套次人户戶家辆輛吨噸克米升亩畝天]|人次|公斤|千克|公里|千米|平方公里|平方米|立方米"
    "|公[顷頃]|千瓦[时時]?|小[时時]|分[钟鐘]|トン"
)
_HAN = re.compile(  # 千欧元, 千欧, 亿元, 万人, 百万
    rf"{_HAN_SCALE}?(?:{_HAN_MONEY}|{_HAN_MEASURE})|{_HAN_SCALE}[欧歐]?"
)


def is_scaled(text: str) -> bool:
    """True if a text is a currency with a scale, a scale, or a Chinese or Japanese unit.

    >>> is_scaled("kEUR"), is_scaled("in USD millions"), is_scaled("亿元"), is_scaled("net")
    (True, True, True, False)
    """
    return bool(_SCALED.fullmatch(text) or _HAN.fullmatch(text))


_POWERS = {
    "k": 3, "thousand": 3, "thousands": 3, "tsd": 3, "th": 3,
    "m": 6, "mio": 6, "mn": 6, "mln": 6, "million": 6, "millions": 6,
    "bn": 9, "mrd": 9, "billion": 9, "billions": 9,
}  # fmt: skip
_SCALED_NUMBER = re.compile(
    rf"(?P<number>[^\n]*[0-9])\s?(?P<scale>[kKM]|(?i:{'|'.join(x for x in _POWERS if x[1:])}))\.?"
    rf"(?P<money>\s?(?i:{_MONEY}))?(?P<close>\)?)"
)
_MOST = 40  # characters of a number with its scale
_MONEY_IN = re.compile(rf"(?<![^\W\d_]{{2}}){_MONEY}(?![^\W\d_])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Scaled:
    """A number in a text with a scale behind it.

    Attributes:
        number: The text without the scale.
        power: Power of ten that it stands for; 0 without one.
        sure: True if it cannot mean something else, as a lone letter M can.
    """

    number: str
    power: int = 0
    sure: bool = False


def scaled(text: str) -> Scaled:
    """Split a text into its number and the scale behind it.

    >>> scaled("1.2M"), scaled("€3k").sure, scaled("2 Mio. EUR").number
    (Scaled(number='1.2', power=6, sure=False), True, '2 EUR')
    >>> scaled("5 kg").power, scaled("3m").power
    (0, 0)
    """
    plain = text.strip()
    match = _SCALED_NUMBER.fullmatch(plain) if len(plain) <= _MOST else None
    if match is None:
        return Scaled(text)
    number = match["number"] + (match["money"] or "") + match["close"]
    word = len(match["scale"]) > 1
    return Scaled(number, _POWERS[match["scale"].lower()], word or money_in(number) is not None)


def money_in(text: str) -> str | None:
    """Return the currency that a text names, whatever the scale before it; None without one.

    >>> money_in("kEUR"), money_in("in USD millions"), money_in("M€"), money_in("neural")
    ('EUR', 'USD', '€', None)
    """
    match = _MONEY_IN.search(text)
    return match[0] if match else None
