"""How likely text in an old encoding is: by the letters of languages, and the shape of words.

Of a text without its plain ASCII, each character costs the logarithm of its chance in a language:
letters by their rank in it, signs and foreign letters much more, and so does a capital behind a
small letter, a sign within a word, and a word of two scripts. An encoding is worth its best
language.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

_LATIN = "cp1252 iso8859_15 cp850 mac_roman"
_CENTRAL = "cp1250 iso8859_2 cp852"
_CYRILLIC = "cp1251 koi8_r cp866 iso8859_5 mac_cyrillic"
_ALPHABETS = (
    (_LATIN, "de", "üäößé"), (_LATIN, "fr", "éèàêçôâîùûëïœ"), (_LATIN, "es", "óíáéñúü"),
    (_LATIN, "pt", "ãçéáóíêõúâôà"), (_LATIN, "it", "àèòùéì"), (_LATIN, "sv fi", "äöåé"),
    (_LATIN, "da no", "øåæéö"), (_LATIN, "nl", "ëéïöüè"), (_LATIN, "ca", "àéèóòíçúïü"),
    (_LATIN, "is", "íáðéóöþúæý"), (_CENTRAL, "pl", "łąęóżśćńź"),
    (_CENTRAL, "cs", "íáéěýčřžšůúťďňó"), (_CENTRAL, "sk", "áíčéýžšúťľôňďäóĺŕ"),
    (_CENTRAL, "hu", "áéóöőíüúű"), (_CENTRAL, "ro", "ăîâşţ"), (_CENTRAL, "hr sl", "čšžćđ"),
    (_CYRILLIC, "ru", "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"),
    ("cp1251 koi8_u", "uk", "оанивтерсіклудмпязбьгйчхжїцюшєфщґ"),
    (_CYRILLIC, "bg", "аиоетнрсвлдкпмзъгубчщйцяжхшюфь"),
    ("cp1251 iso8859_5", "sr", "аиоентсрјукдвмлпгзбшчцњжћхљђфџ"),
    ("cp1253 iso8859_7", "el", "αοιτεσνηυρπκμλωςγάίδόέήθχφύβώξζψϊϋ"),
    ("cp1254 iso8859_9", "tr", "ıüşçöğİâîû"), ("cp1257", "lt", "ėšžųįąūčę"),
    ("cp1257", "lv", "āīēšūžņčļģķ"), ("cp1257", "et", "äõüöšž"),
    ("cp1255", "he", "יוהלאתרבשמנעחדפקכטגזסצםןךףץ"),
    ("cp1256", "ar", "اليمنرتوبعدسفهكقحجشطصخذثضغزظةأىإءآئؤپچگک"),
    ("cp874", "th", "านรอกเงมยลวดทสตะปบคหพแจชข่้ีิ์ัุไโใ็ถผซศูธณภษำฟฝฮญ"),
)  # fmt: skip
# How much rarer encodings are than the commonest; those of other systems come last.
_PRIORS = {
    "cp1252": 0.0, "cp1250": -1.0, "cp1251": -1.0, "cp932": -1.0, "gb18030": -1.0, "big5": -1.5,
    "cp949": -1.0, "cp1253": -1.5, "cp1254": -2.0, "euc_jp": -3.0, "cp1255": -3.0, "cp1256": -3.0,
    "cp1257": -2.5, "cp874": -3.0, "koi8_r": -4.0, "cp866": -4.0, "iso8859_2": -4.0,
    "utf_8": 0.0,
}  # fmt: skip
_RARE_CODEC = -7.0
_SIGNS = frozenset("–—’‘“”„‚‹›«»€£°§·•…®©™½¼±²³µ№¿¡ºª×\u00a0、。・「」（）：，％￥")
_SIGN, _OUTSIDE, _FOREIGN, _LOST = -6.0, -12.0, -7.0, -15.0
_CAPITAL, _IN_CAPITALS, _WITHIN, _ADJACENT, _MIXED = -5.0, -0.7, -6.0, -1.5, -5.0
_ASCII_LETTER = re.compile(r"[A-Za-z]")
_TOLD = re.compile(r"[^\x00-\x7f]")

Cost = Callable[[str], float]


def likelihoods(sample: bytes) -> Mapping[str, float]:
    """Return the logarithm of how likely a text is, by the name of its encoding."""
    found: dict[str, float] = {}
    for codec, languages in _LANGUAGES.items():
        text = sample.decode(codec, errors="replace")
        characters, shape = _shapes(text, latin=codec in _CASED_LATIN)
        best = max(sum(map(cost, characters)) for cost in languages)
        found[codec] = best + shape + _PRIORS.get(codec, _RARE_CODEC)
    for codec, cost in _WIDE.items():
        text = sample.decode(codec, errors="replace")
        found[codec] = sum(map(cost, _TOLD.findall(text))) + _PRIORS.get(codec, _RARE_CODEC)
    return found


def _shapes(text: str, *, latin: bool) -> tuple[list[str], float]:
    """Characters outside ASCII in small letters, and the cost of their places in words."""
    characters, cost = [], 0.0
    for match in _TOLD.finditer(text):
        at, character = match.start(), match[0]
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        small = character.lower()
        characters.append(small if len(small) == 1 else character)
        if character.isalpha():
            if character.isupper():
                cost += _CAPITAL if before.islower() else _IN_CAPITALS
            elif before.isupper() and text[at - 2 : at - 1].isupper():
                cost += _CAPITAL
            if not latin:
                cost += _MIXED * len(_ASCII_LETTER.findall(before + after))
            elif before > "\x7f" and before.isalpha():
                cost += _ADJACENT
        elif before.isalpha() and after.isalpha() and character not in "’·\u00a0":
            cost += _WITHIN
    return characters, cost


def _language(alphabet: str) -> Cost:
    """The cost of a small letter in a language, by its rank."""
    weights = [1 / (rank + 3) for rank in range(len(alphabet))]
    total = sum(weights)
    costs = {each: math.log(w / total) for each, w in zip(alphabet, weights, strict=True)}

    def cost(character: str) -> float:
        known = costs.get(character)
        if known is not None:
            return known
        if character == "\ufffd":
            return _LOST
        if character in _SIGNS:
            return _SIGN
        return _FOREIGN if character.isalpha() and "\u00df" <= character < "\u0180" else _OUTSIDE

    return cost


def _by_row(codec: str, *classes: tuple[int, int, int, float]) -> Cost:
    """The cost of a character of two bytes, by its first byte and the least second one.

    A class is the first and last of some first bytes, the least second byte, and the cost; the
    standards put common characters first.
    """

    def cost(character: str) -> float:
        if character == "\ufffd":
            return _LOST
        if character in _SIGNS:
            return _SIGN
        code = character.encode(codec, errors="ignore")
        if len(code) == 1:
            return _HALF_WIDTH
        for first, last, least, value in classes:
            if len(code) == 2 and first <= code[0] <= last and code[1] >= least:
                return value
        return _UNUSUAL

    return cost


_KANA, _COMMON, _HANGUL, _SECOND, _UNUSUAL, _HALF_WIDTH = -5.0, -7.5, -7.0, -11.0, -14.0, -6.5
_WIDE: Mapping[str, Cost] = {
    "gb18030": _by_row(
        "gb18030",
        (0xB0, 0xD7, 0xA1, _COMMON), (0xD8, 0xF7, 0xA1, _SECOND), (0xA1, 0xA3, 0xA1, -8.0),
    ),
    "big5": _by_row(
        "big5", (0xA4, 0xC6, 0x40, _COMMON), (0xC9, 0xF9, 0x40, _SECOND), (0xA1, 0xA3, 0x40, -8.0)
    ),
    "cp932": _by_row(
        "cp932",
        (0x82, 0x82, 0x9F, _KANA), (0x83, 0x83, 0x40, _KANA), (0x88, 0x97, 0x40, _COMMON),
        (0x98, 0xEA, 0x40, _SECOND), (0x81, 0x82, 0x40, -8.0),
    ),
    "euc_jp": _by_row(
        "euc_jp", (0xA4, 0xA5, 0xA1, _KANA), (0xB0, 0xCF, 0xA1, _COMMON),
        (0xD0, 0xF4, 0xA1, _SECOND), (0xA1, 0xA3, 0xA1, -8.0),
    ),
    "cp949": _by_row(
        "cp949", (0xB0, 0xC8, 0xA1, _HANGUL), (0xCA, 0xFD, 0xA1, -12.0), (0xA1, 0xA3, 0xA1, -8.0)
    ),
    "utf_8": lambda character: _LOST if character == "\ufffd" else -4.0,
}  # fmt: skip
_LANGUAGES: dict[str, list[Cost]] = {}
for _codecs, _name, _alphabet in _ALPHABETS:
    for _codec in _codecs.split():
        _LANGUAGES.setdefault(_codec, []).append(_language(_alphabet))
_CASED_LATIN = frozenset(f"{_LATIN} {_CENTRAL} cp1254 iso8859_9 cp1257".split())
