"""Find the spoken forms of names of folders, files and tabs; drop names without meaning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from sat_retriever.links.join.names import KeyKind, KeyName, key_name
from sat_retriever.records.links import Link, LinkType
from sat_retriever.text.identifiers import read_words
from sat_retriever.text.period.spellings import spelled
from sat_retriever.text.segment import words

MAX_WORDS = 11  # of a phrase; people say less
MAX_CHARS = 80
# Names that programs give, or that have no meaning of their own.
_GENERIC = frozenset(
    "sheet sheets tab table tables data main page list worksheet tabelle tabellenblatt blatt "
    "daten feuil feuille hoja datos planilha foglio dati blad arkusz ark list лист лист1 "
    "工作表 工作簿 数据 表 表格 シート book workbook mappe arbeitsmappe classeur libro cartel "
    "export import exports imports download downloads upload document documents doc docs file "
    "files excel xls xlsx csv new neu neue copy kopie copie copia untitled unbenannt temp tmp test "
    "output input result results misc other various general default archive old backup shared "
    "desktop attachments inbox folder ordner root raw reports".split()
)
# Additions to a name that do not change its subject.
_NOISE = frozenset(
    "final copy kopie copie copia draft entwurf rev revised updated backup bak tmp temp "
    "version latest".split()
)
# Names of tabs in many workbooks, which are informative only together with the file's name.
_WEAK = frozenset(
    "about info information notes note readme cover contents content index legend help overview "
    "summary total totals year annual calc calcs calculation calculations values form lists "
    "sources source log changelog instructions template results result details detail parameters "
    "settings assumptions weeks months days quarters years lookup lookups chart charts graph "
    "graphs pivot dashboard report "
    "ubersicht zusammenfassung notizen gesamt resumen resume 说明 汇总 备注 目录 总计".split()
)
# Tabs with the same content as their neighbours for a longer time.
_WHOLE = frozenset("year full annual yearly total jahr gesamtjahr annee ano anno 全年 年度".split())
_VERSION = re.compile(r"v\d+|rev\d*")
_COPY = re.compile(r"\s*\(\d{1,3}\)\s*$")  # "report (12)"
_FILED = re.compile(r"0\d{1,2}|\d\d")  # "09 Commercial", "11 Year-end": numbers that nobody says
_COUNTED = frozenset("year years month months week weeks day days hour hours percent".split())
# Abbreviations with inner capitals, kept as they are: AVMC, SoCC, BAADTbVT; not SalesNorth.
_SHORT_FORM = re.compile(r"(?<![^\W_])(?=[A-Za-z]{3,12}(?![^\W_]))(?:[A-Z]{1,4}[a-z]{0,2}){2,}")
_HUMPS = re.compile(r"[A-Z][a-z]{2,}")
_MIXED = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_CODE = re.compile(r"(?=\w*\d)(?=\w*[^\W\d_])\w{9,}|[0-9a-f]{8,}|\d{6,}")  # ids, hashes, stamps
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


@lru_cache(maxsize=65_536)
def name_words(name: str) -> tuple[str, ...]:
    """Return a name's words without its period, ordering numbers and marks of copies.

    >>> name_words("Sales_North 2024 (final) v2"), name_words("库存台账 2024")
    (('sales', 'north'), ('库存台账',))
    >>> name_words("09 Commercial (3)"), name_words("10 year plan")
    (('commercial',), ('10', 'year', 'plan'))
    """
    name = _COPY.sub("", name)
    short = {form.casefold(): form for form in _short_forms(name)}
    for low, form in short.items():
        name = name.replace(form, low)
    words = [word.strip("_") for word in spelled(name).rest.split()]
    kept = [short.get(word, word) for word in words if word and word not in _NOISE]
    while len(kept) > 1 and _VERSION.fullmatch(kept[-1]):
        kept.pop()
    if _FILED.fullmatch(kept[0] if kept else "") and says_something(kept[1:]):
        counts = kept[1] in _COUNTED and kept[2:3] != ["end"]  # "10 year plan"
        kept = kept if counts else kept[1:]
    return tuple(kept)


def initials(words: Sequence[str]) -> str:
    """Return the first letters of the words, case-folded.

    >>> initials(("social", "cost", "of", "carbon"))
    'scoc'
    """
    return "".join(word[0] for word in words).casefold()


def _short_forms(name: str) -> list[str]:
    """Return the words whose capitals abbreviate several words.

    >>> _short_forms("BAADTbVT-passengers SalesNorth HR_IT netProfit")
    ['BAADTbVT']
    >>> _short_forms("kWhPerMonth NOx GmbH")
    ['NOx', 'kWh', 'GmbH']
    """
    found = [form for form in _SHORT_FORM.findall(name) if not _HUMPS.search(form)]
    read = (word.text for word in read_words(name))
    found += [word for word in read if word.isalpha() and _MIXED.search(word)]
    return list(dict.fromkeys(found))


def whole_time(words: Sequence[str]) -> bool:
    """True if a tab's name says only that it covers all of the time.

    >>> whole_time(("full", "year")), whole_time(("year", "end"))
    (True, False)
    """
    return bool(words) and all(word in _WHOLE for word in words)


def says_something(words: Sequence[str]) -> bool:
    """True if words name something, rather than only numbers, codes or default names.

    >>> [says_something(x.split()) for x in ("sheet1", "tabelle 3", "9f3a77c0de", "orders")]
    [False, False, False, True]
    """
    return any(_telling(word) for word in words)


def speakable(words: Sequence[str]) -> bool:
    """True if people would say these words: few, informative, and without codes."""
    return (
        0 < len(words) <= MAX_WORDS
        and len(phrase(words)) <= MAX_CHARS
        and says_something(words)
        and not any(_CODE.fullmatch(word) for word in words)
    )


def weak(words: Sequence[str]) -> bool:
    """True if a tab's name is informative only together with its file's name.

    >>> weak(("summary",)), weak(("sales", "summary"))
    (True, False)
    """
    return all(word in _WEAK or word in _GENERIC or word.isdigit() for word in words)


def phrase(words: Sequence[str]) -> str:
    """Join words into one text; unspaced scripts stay without spaces.

    >>> phrase(("stock", "ledger")), phrase(("库存", "台账"))
    ('stock ledger', '库存台账')
    """
    text = ""
    for word in words:
        joined = text and _WIDE.match(text[-1]) and _WIDE.match(word[0])
        text += word if not text or joined else f" {word}"
    return text


def without(words: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Remove the first run of words that equals the others.

    >>> without(("sales", "north", "eu"), ("north", "eu")), without(("a", "b"), ("c",))
    (('sales',), ('a', 'b'))
    """
    size = len(others)
    for start in range(len(words) - size + 1) if size else ():
        if tuple(words[start : start + size]) == tuple(others):
            return (*words[:start], *words[start + size :])
    return tuple(words)


def _telling(word: str) -> bool:
    word = word.casefold()
    bare = word.rstrip("0123456789")
    if not bare or word in _GENERIC or bare in _GENERIC or _CODE.fullmatch(word):
        return False
    return len(bare) > 1 or bool(_WIDE.match(bare))


_NUMBERS = re.compile(r"\d+")
_JOIN = re.compile(r"(?P<left>.+) = (?P<right>.+?)(?: \((?:headers|.* values)\))?")
_NONE: frozenset[str] = frozenset()


@lru_cache(maxsize=65_536)
def header_words(header: str) -> str:
    """Return a header's words without numbers, so that columns of other years are equal.

    >>> header_words("Net_Profit 2024"), header_words("ClubID 2")
    ('net profit', 'club id')
    """
    return " ".join(_NUMBERS.sub(" ", " ".join(words(header))).split())


def linked(
    links: Iterable[Link], headers: Mapping[str, frozenset[str]]
) -> tuple[set[str], set[str]]:
    """Return the sheets that gather from others, and the headers that join sheets.

    A header counts if both ends of a join have it and it names a key, or if the evidence of the
    join names it on both sides.
    """
    summaries: set[str] = set()
    joined: set[str] = set()
    for link in links:
        if link.type == LinkType.SUMMARY_SOURCE:
            summaries.add(link.source)
        elif link.type == LinkType.JOIN_KEY:
            common = headers.get(link.source, _NONE) & headers.get(link.target, _NONE)
            joined.update(each for each in common if key_name(each).kind is not KeyKind.NONE)
            joined.update(_named_headers(link))
    return summaries, {
        header for header in joined if (name := key_name(header)).words and not name.generic
    }


def spoken_keys(joined: Collection[str], sheets: Iterable[Collection[str]]) -> Mapping[str, str]:
    """Return the most frequent spelling of each key, by every header with that meaning.

    Every sheet with such a header has the key, with or without a link for it.
    """
    meant = {key_name(header) for header in joined}
    written = Counter(header for headers in sheets for header in headers)
    ways: dict[KeyName, list[str]] = {}
    for header in sorted(written):
        name = key_name(header)
        if name in meant and speakable(header.split()):
            ways.setdefault(name, []).append(header)
    return {
        header: min(same, key=lambda way: (-written[way], way))
        for same in ways.values()
        for header in same
    }


def _named_headers(link: Link) -> Iterator[str]:
    """Yield the header on both sides of a join's evidence: "Orders.Item = Items.Item (…)"."""
    match = _JOIN.fullmatch(link.evidence)
    if match is None or "!" in link.evidence.partition(" ")[0]:  # a formula
        return
    sides = []
    for sheet, side in ((link.source, match["left"]), (link.target, match["right"])):
        tab = " ".join(sheet.rpartition("#")[2].split())
        sides.append(side[len(tab) + 1 :] if side.startswith(f"{tab}.") else "")
    same = header_words(sides[0]) == header_words(sides[1])
    if same and not sides[0].endswith("…") and not _NUMBERS.search(sides[0]):
        yield header_words(sides[0])
