"""Read times in Chinese and Japanese names, which put no spaces between words."""

from __future__ import annotations

import re

SIDES = {"上": "1", "下": "2"}
"""The halves of a year: the character for the first and for the second."""

_Y4 = r"(?:19|20)\d\d"
_OF_YEAR = rf"(?:(?P<year>{_Y4}|\d\d) ?年度?[ \-]*|(?P<year_>{_Y4})[ \-]*)"
_QUARTERS = r"(?:季度|四半期|季(?=報|报|$|\W))"
UNSPACED = (
    (
        "month",
        rf"{_OF_YEAR}?(?P<number>\d\d?) ?月? ?[-~至到] ?(?P<last_month>\d\d?) ?月份?",
    ),
    ("day", rf"{_OF_YEAR}?(?P<month>\d\d?) ?月 ?(?P<number>\d\d?) ?[日号號]"),
    ("month", rf"{_OF_YEAR}?(?P<number>\d\d?) ?月份?"),
    (
        "quarter",
        rf"(?:{_OF_YEAR}?第? ?q?(?P<number>[1-4]) ?{_QUARTERS}|第 ?(?P<number_>[1-4]) ?季)",
    ),
    ("quarter", rf"{_OF_YEAR}第? ?(?P<number>[1-4]) ?季"),
    ("half", rf"{_OF_YEAR}?(?P<side>[上下12]) ?半 ?年度?"),
    ("half", rf"{_OF_YEAR}(?P<side>[上下]) ?(?:半?期)"),
    ("week", rf"{_OF_YEAR}?第 ?(?P<number>\d\d?) ?[周週]"),
    ("fiscal", rf"(?P<number>{_Y4}) ?[财財]政?年度?"),
    ("year", rf"(?P<number>{_Y4}) ?年度?"),
)
"""The unit of the group "number", and the spelling; longer spellings come first."""

# Chinese numbers before a unit of time, and years spelled digit by digit: 十二月, 二〇二四年.
_COUNTED = re.compile(
    r"(?<![〇零一二三四五六七八九十百千万])(?:三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])"
    r"(?= ?(?:月|[日号號]|季|四半期|[周週]))"
)
_SPELLED_YEAR = re.compile(r"(?<![〇零一二三四五六七八九十])[〇零一二三四五六七八九]{4}(?= ?年)")
_DIGITS = {sign: str(n) for n, sign in enumerate("〇一二三四五六七八九")} | {
    "零": "0",
    "两": "2",
    "兩": "2",
}
_SCRIPTS = re.compile(  # the border between Chinese or Japanese and other words
    r"(?<=[a-z0-9])(?=[\u3040-\u30ff\u3400-\u9fff])|(?<=[\u3040-\u30ff\u3400-\u9fff])(?=[a-z0-9])"
)


def in_digits(text: str) -> str:
    """Return the text with the Chinese numbers of times as Arabic digits.

    >>> in_digits("二〇二四年十二月"), in_digits("一般 十月三十一日")
    ('2024年12月', '一般 10月31日')
    """
    return _COUNTED.sub(_arabic, _SPELLED_YEAR.sub(_arabic, text))


def apart(text: str) -> str:
    """Insert a space between Chinese or Japanese and other words of a case-folded text.

    >>> apart("销售q1报表")
    '销售 q1 报表'
    """
    return _SCRIPTS.sub(" ", text)


def _arabic(match: re.Match[str]) -> str:
    return in_arabic(match[0])


def in_arabic(number: str) -> str:
    """Return a number up to 99, or a year spelled digit by digit, in Arabic digits.

    >>> in_arabic("十二"), in_arabic("两"), in_arabic("二〇二四"), in_arabic("36")
    ('12', '2', '2024', '36')
    """
    tens, ten, ones = number.partition("十")
    if not ten:
        return "".join(_DIGITS.get(sign, sign) for sign in number)
    return _DIGITS.get(tens, "1") + _DIGITS.get(ones, "0")
