"""Find the headers that join sheets, and their names in a question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from sat_retriever.links.join.names import KeyKind, KeyName, key_name
from sat_retriever.questions.spokennames import speakable
from sat_retriever.records.links import Link, LinkType
from sat_retriever.text.segment import words

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

    Args:
        links: Links of an index.
        headers: Header words of each sheet, as `header_words` returns them, by sheet id.
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
    return summaries, {header for header in joined if _tells(key_name(header))}


def spoken_keys(joined: Collection[str], sheets: Iterable[Collection[str]]) -> Mapping[str, str]:
    """Return the most frequent spelling of each key, by every header with that meaning.

    Every sheet with such a header has the key, with or without a link for it.

    Args:
        joined: Headers that join sheets.
        sheets: The headers of every sheet.
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


def _tells(name: KeyName) -> bool:
    return bool(name.words) and not name.generic


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
