"""Recognise units of several words or signs: scaled currencies, and Chinese and Japanese ones."""

from __future__ import annotations

import re

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
