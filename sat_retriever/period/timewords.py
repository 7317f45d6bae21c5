"""Words by which names speak of time, in seven European languages, and their numbers."""

from __future__ import annotations

from collections.abc import Mapping

_MONTH_WORDS = (
    "january jan januar janvier janv enero ene janeiro januari janner jaenner gennaio gen",
    "february feb februar fevrier fevr fev febrero fevereiro februari febbraio",
    "march mar marz maerz mars marzo marco maart mrt mrz",
    "april apr avril avr abril abr aprile",
    "may mai mayo maio mei maggio mag",
    "june jun juni juin junio junho giugno giu",
    "july jul juli juillet juil julio julho luglio lug",
    "august aug aout agosto ago augustus",
    "september sep sept septembre septiembre setiembre setembro settembre",
    "october oct oktober okt octobre octubre outubro ottobre ott",
    "november nov novembre noviembre novembro",
    "december dec dezember dez decembre diciembre dic dezembro dicembre",
)
_ORDINAL_WORDS = (
    "first erstes premier primer primeiro",
    "second zweites deuxieme segundo",
    "third drittes troisieme tercer terceiro",
    "fourth viertes quatrieme cuarto quarto",
)
OFTEN_ELSE = frozenset("ago gen mag giu lug ott marco".split())  # months only alone or with a year
# A year's digits after one of these, or before one of those, number or count something.
NOT_AFTER = frozenset(
    "table tabelle tab version ver v rev revision no nr number id top model room form part item "
    "iso din windows chapter section figure fig page step sku ref level grade route".split()
)
NOT_BEFORE = frozenset(
    "items item rows row units pieces pcs records samples entries pages words points km kg m mm cm "
    "mb gb kb hz ml usd eur gbp dollars euros percent times hours minutes seconds days weeks "
    "months years ad bc".split()
)


def _numbered(tables: tuple[str, ...]) -> dict[str, int]:
    return {word: n for n, words in enumerate(tables, 1) for word in words.split()}


def either(words: Mapping[str, int]) -> str:
    """A pattern of the words, longer ones first."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


MONTHS = _numbered(_MONTH_WORDS)
ORDINALS = _numbered(_ORDINAL_WORDS)
