"""Tables of the words for times in names and questions, in seven European languages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TypeVar

Key = TypeVar("Key", str, int)

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
# Digits of a year after or before one of these words number or count something.
NOT_AFTER = frozenset(
    "table tabelle tab version ver v rev revision no nr number id top model room form part item "
    "iso din windows chapter section figure fig page step sku ref level grade route".split()
)
NOT_BEFORE = frozenset(
    "items item rows row units pieces pcs records samples entries pages words points km kg m mm cm "
    "mb gb kb hz ml usd eur gbp dollars euros percent times hours minutes seconds days weeks "
    "months years ad bc".split()
)


_COUNT_WORDS = (
    "one ein eine einem einer un une una uno um uma een",
    "two zwei deux dos dois duas due twee",
    "three drei trois tres tre drie",
    "four vier quatre cuatro quatro quattro",
    "five funf cinq cinco cinque vijf",
    "six sechs seis sei zes",
    "seven sieben sept siete sete sette zeven",
    "eight acht huit ocho oito otto",
    "nine neun neuf nueve nove negen",
    "ten zehn dix diez dez dieci tien",
    "eleven elf onze once undici",
    "twelve zwolf douze doce doze dodici twaalf",
)
_SIDE_WORDS = {
    -1: "last past previous prior letzte letzten letztem letzter letztes vergangene vergangenen "
    "vergangenem vergangener vergangenes vorige vorigen vorigem voriger voriges dernier derniers "
    "derniere dernieres ultimo ultimos ultima ultimas ultimi ultime scorso scorsa vorig laatste "
    "afgelopen",
    0: "this current diese diesen diesem dieser dieses laufende laufenden laufendem laufendes "
    "aktuelle aktuellen aktuellem aktuelles ce cet cette este esta neste nesta questo questa dit "
    "deze",
    1: "next coming upcoming nachste nachsten nachstem nachster nachstes kommende kommenden "
    "kommendem kommendes prochain prochaine prochains prochaines proximo proximos proxima "
    "proximas prossimo prossima prossimi prossime volgend volgende komende",
}
_BEHIND_WORDS = {
    -1: "dernier derniere passe passee pasado pasada passado passada scorso scorsa",
    0: "actual corrente",
    1: "prochain prochaine proximo proxima prossimo prossima",
}
# Singulars, then plurals; a plural without a number is too vague to be read.
_UNIT_WORDS = {
    "decade": "decade jahrzehnt decennie decada",
    "year": "year yr jahr jahres geschaftsjahr geschaftsjahres an annee ano anno jaar",
    "half": "half halbjahr halbjahres semestre semester",
    "quarter": "quarter qtr quartal quartals trimestre kwartaal",
    "month": "month monat monats mois mes mese maand",
    "week": "week woche semaine semana settimana",
    "day": "day tag jour dia giorno dag",
}
_UNITS_WORDS = {
    "decade": "decades jahrzehnte jahrzehnten decennies decadas",
    "year": "years yrs jahre jahren geschaftsjahre geschaftsjahren ans annees anos anni jaren",
    "half": "halbjahre halbjahren semestres semestri semesters",
    "quarter": "quarters qtrs quartale quartalen trimestres trimestri kwartalen",
    "month": "months monate monaten meses mesi maanden",
    "week": "weeks wochen semaines semanas settimane weken",
    "day": "days tage tagen jours dias giorni dagen",
}
_PLURAL_SIDES = (
    "derniers dernieres ultimos ultimas ultimi ultime prochains prochaines proximos proximas "
    "prossimi prossime"
)
FIXED = MappingProxyType(
    {
        **dict.fromkeys("yesterday gestern ayer ieri ontem gisteren".split(), ("day", -1)),
        **dict.fromkeys("today heute aujourd'hui hoy oggi hoje vandaag".split(), ("day", 0)),
        "tomorrow": ("day", 1),
        **dict.fromkeys(("heuer", "quest'anno"), ("year", 0)),
        **dict.fromkeys(("vorjahr", "vorjahres", "vorjahrs"), ("year", -1)),
        **dict.fromkeys(("vorquartal", "vorquartals"), ("quarter", -1)),
        **dict.fromkeys(("vormonat", "vormonats"), ("month", -1)),
        "vorwoche": ("week", -1),
    }
)
"""The unit and the number of units from now for words that name a time on their own."""
# Beside a year, these mean the time before that year, not before today.
OF_CONTEXT = ("previous", "prior", "vorig", "vorj", "vorm", "vorq", "vorw")


def _numbered(tables: tuple[str, ...]) -> dict[str, int]:
    return {word: n for n, words in enumerate(tables, 1) for word in words.split()}


def _by_word(table: Mapping[Key, str]) -> dict[str, Key]:
    return {word: key for key, words in table.items() for word in words.split()}


def either(words: Iterable[str]) -> str:
    """Return a pattern of the words, longer ones first."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


MONTHS = _numbered(_MONTH_WORDS)
ORDINALS = _numbered(_ORDINAL_WORDS)
COUNTS = {**_numbered(_COUNT_WORDS), "couple": 2, "couple of": 2}
UNITS = {**_by_word(_UNIT_WORDS), **_by_word(_UNITS_WORDS)}
PLURALS = frozenset({*_by_word(_UNITS_WORDS), *_PLURAL_SIDES.split()})
SIDES = _by_word(_SIDE_WORDS)  # before the unit: -1 the past, 0 the present, 1 the future
SIDES_BEHIND = _by_word(_BEHIND_WORDS)  # the same after the unit
