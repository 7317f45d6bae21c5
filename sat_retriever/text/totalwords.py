"""Labels of rows that sum up others, in some fifty languages.

Arithmetic decides about a row first. These words only support it, and decide alone where a row has
no numbers that could be added up. No rule in the data tells that "yhteensä" is a total, so it is
listed.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

from sat_retriever.text.pattern import pattern

MAX_LABEL = 80
"""Characters of a label that are looked at; a total's label is short."""

_TOTAL = """
    total totals totalled sum sums summe gesamt gesamtsumme gesamtbetrag gesamtergebnis insgesamt
    tot ges sammanlagt übertrag
    endsumme summa totaux totale totali totales totaal eindtotaal totalt totalsumma samtals alls
    yhteensä suma sumy razem ogółem łącznie celkem celkom součet súčet spolu skupaj vsota ukupno
    svega zbir zbroj összesen mindösszesen összeg összesítés итого всего итог сумма общо усього
    всього разом підсумок сума усяго разам вкупно вкупна укупно свега σύνολο συνολο σύνολα
    toplam kokku kopā viso bendra المجموع الإجمالي الاجمالي مجموع סהכ סךהכל סכום جمع مجموع
    कुल योग जोड़ মোট รวม ยอดรวม
    tổng jumlah guztira iomlán cyfanswm gjithsej totaalbedrag somme somma soma
    kabuuan jumla totală totalul cəmi cami ჯამი ընդամենը сумасы барлығы жами
    合计 合計 总计 總計 共计 共計 总和 總和 計 总额 總額 総計 総合計 합계 총계 계 총합
    """
_SUB = """
    subtotal subtotals subtotaal subtotale subtotali subtotales subtotaux zwischensumme teilsumme
    zwischenergebnis delsumma delsum subtotalt välisumma mezisoučet medzisúčet vmesna částečný
    međuzbroj međuzbir részösszeg подытог промежуточный междинна підсумок проміжний υποσύνολο
    μερικό vahesumma starpsumma tarpinė sousousto alttoplam aratoplam 小计 小計 소계
    """
_PHRASES = """
    sub total|sous total|i alt|ialt|iš viso|is viso|ara toplam|genel toplam|tổng cộng|tong cong
    |סה כ|סך הכל|סה״כ|جمع کل|i allt|sub totaal|sub totale|int al|ng totaal
    """
_WEAK = "result results resultado résultat ergebnis ensemble balance wynik výsledek tulos"
_STATISTIC_WORDS = {
    "mean": """
        average averages mean avg mittelwert durchschnitt mittel moyenne media promedio média
        gemiddelde medel medelvärde gennemsnit gjennomsnitt średnia průměr priemer átlag среднее
        середнє ortalama keskiarvo medie ø 平均 平均值 평균
        """,
    "median": "median médiane mediana mediaan medián медиана медіана ortanca 中央値 中位数",
    "largest": "maximum max maximal maximo máximo massimo 最大 最大値 최대",
    "smallest": "minimum min minimal minimo mínimo 最小 最小値 최소",
    "count": "count counts anzahl antal aantal conteggio liczba počet",
    "deviation": "stdev stddev std deviation standardabweichung écarttype",
}
_QUALIFIERS = """
    grand sub overall net gross general général générale generale generał gesamt of the all for and
    in to by y de du des da do di del della von der die das aller all'  och ja und et e i a an
    genel ara final end running current year month quarter week date ytd as at per on column row
    excl incl excluding including vat mwst tax net brutto netto complessivo complessiva geral
    końcowa dev końcowy všeobecný celkový
    január january february march april may june july august september
    october november december jan feb mar apr jun jul aug sep oct nov dec
    """
_LETTERS = r"[\w\u0900-\u0963\u0966-\u0dff]"  # vowel signs of Indian scripts are no \w
_MARKS = pattern(r"['’״\"]")
_ASCII = pattern(r"[a-z]+")
_WORD = pattern(rf"{_LETTERS}+(?:['’״\"]{_LETTERS}+)?")
_HAN = pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_BRACKETS = pattern(r"[(\[][^()\[\]]{0,20}[)\]]")  # "Total (EUR)"
_SIGNS = ("\N{GREEK SMALL LETTER SIGMA}", "\N{N-ARY SUMMATION}")
_SPACED = pattern(r"(?:[^\W_] ){2,}[^\W_]\W*")  # T O T A L
_DIGITS = pattern(r"[\d.,%/–-]+")


class Statistic(StrEnum):
    """Statistic of the records that a row has in place of their sum."""

    MEAN = "mean"
    MEDIAN = "median"
    LARGEST = "largest"
    SMALLEST = "smallest"
    COUNT = "count"
    DEVIATION = "deviation"


@dataclass(frozen=True, slots=True)
class TotalLabel:
    """The total that a label names."""

    named: bool = False  # True if it also names a subject: "Total North", not "Grand total 2024:"
    part: bool = False  # True if it says that only a part is summed up: "Subtotal"
    weak: bool = False  # True if its word alone says little: "Result"
    kind: Statistic | None = None  # the statistic that it names in place of a sum; None for a sum

    @property
    def statistic(self) -> bool:
        """True for an average and the like."""
        return self.kind is not None


def _plain(text: str) -> str:
    """Lower case without accents, so that "TOTAL GENERAL" is "total général"."""
    if text.isascii():
        return text.lower()
    letters = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(each for each in letters if not unicodedata.combining(each))
    return unicodedata.normalize("NFC", bare)  # Korean syllables are one character again


def _set(words: str) -> frozenset[str]:
    return frozenset(map(_plain, words.split()))


_TOTALS, _SUBS, _WEAKS = map(_set, (_TOTAL, _SUB, _WEAK))
_STATISTICS = {
    word: Statistic(kind) for kind, words in _STATISTIC_WORDS.items() for word in _set(words)
}
_QUALIFYING = _set(_QUALIFIERS)
_JOINED = {
    " ".join(_plain(each).split()): _plain(each).strip().startswith(("sub", "sous", "ara"))
    for each in _PHRASES.split("|")
}
_KNOWN = frozenset(
    word for each in (*_TOTALS, *_SUBS, *_WEAKS, *_STATISTICS, *_JOINED) for word in each.split()
) | frozenset("abcdefghijklmnopqrstuvwxyz")
_LONGEST_FIRST = sorted((each for each in _TOTALS | _SUBS if _HAN.search(each)), key=len)[::-1]


@lru_cache(maxsize=1 << 16)
def total_label(text: str) -> TotalLabel | None:
    """The total that a label names; None if it names none.

    >>> total_label("Grand Total 2024:"), total_label("Total North").named
    (TotalLabel(named=False, part=False, weak=False, kind=None), True)
    >>> total_label("Sous-total").part, total_label("Totality"), total_label("小計").part
    (True, None, True)
    """
    text = text.strip()
    if not text or len(text) > MAX_LABEL:
        return None
    if text.isascii() and _KNOWN.isdisjoint(_ASCII.findall(text.lower())):
        return None  # most texts
    plain = _plain(_BRACKETS.sub(" ", text)).replace("_", " ")
    if plain.strip(" :") in _SIGNS:
        return TotalLabel()
    if _HAN.search(text):
        return _han_label("".join(plain.split()))
    if _SPACED.fullmatch(plain.strip()):
        plain = plain.replace(" ", "")
    return _label([_MARKS.sub("", word) for word in _WORD.findall(plain)])


def _label(words: list[str]) -> TotalLabel | None:
    rest, part, found = list(words), False, False
    for at, pair in enumerate(pairwise(words)):
        if (two := " ".join(pair)) in _JOINED:
            found, part = True, part or _JOINED[two]
            rest[at : at + 2] = ["", ""]
    rest = [word for word in rest if word]
    sums = [word for word in rest if word in _TOTALS or word in _SUBS]
    statistic = [word for word in rest if word in _STATISTICS]
    weak = [word for word in rest if word in _WEAKS]
    known = set(sums or statistic or weak)
    if not (found or known):
        return None
    part = part or any(word in _SUBS for word in sums) or "sub" in rest
    other = [word for word in rest if word not in known and word not in _QUALIFYING]
    named = any(not _DIGITS.fullmatch(word) for word in other)
    summed = bool(found or sums)
    kind = _STATISTICS[statistic[0]] if statistic and not summed else None
    return TotalLabel(named, part, weak=not (summed or statistic), kind=kind)


def _han_label(text: str) -> TotalLabel | None:
    """The same for a label in Chinese, Japanese or Korean, which has no blanks between words."""
    for word in _LONGEST_FIRST:
        if text.startswith(word) or text.endswith(word):
            rest = text.removeprefix(word).removesuffix(word)
            if len(word) == 1 and rest:  # one character is part of many words
                continue
            named = any(each.isalpha() for each in rest)
            return TotalLabel(named, word in _SUBS)
    kind = _STATISTICS.get(text)
    return TotalLabel(kind=kind) if kind is not None else None
