"""Column headers read as names of keys: the entity, and the kind of key."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from sat_retriever.text.segment import words

MAX_WORDS = 8

_ID = frozenset("id ids identifier key pk fk guid uuid kennung clave".split())
_CODE = frozenset(
    "no nr num number nummer code cd cod codigo kode ref reference abbr abbreviation ssn sku isbn "
    "iban ean gtin upc vin numero".split()
)
_BY = frozenset("by per nach je par por".split())  # Sales by Region is not a list of regions
_FILLERS = frozenset("the of a an and for de der des la le el".split())
# As the first word, these make a header a quantity or a time, not a key.
_MEASURES = frozenset(
    "no num number nbr count total sum qty quantity amount avg average mean min max date year time "
    "datetime is has percent pct share ratio rate anzahl summe datum nombre".split()
)
_PLURALS = {
    "people": "person",
    "children": "child",
    "men": "man",
    "women": "woman",
    "indices": "index",
}
# Words that end in "id" and are not identifiers.
_NOT_GLUED = frozenset(
    "paid unpaid prepaid valid invalid grid hybrid liquid solid fluid rapid covid avoid void acid "
    "humid mid amid aid bid kid lid said raid squid vivid arid timid orchid pyramid android "
    "asteroid steroid thyroid plaid laid".split()
)
_SHORT = {
    "acct": "account", "addr": "address", "apt": "apartment", "cat": "category",
    "cntry": "country", "co": "company", "comp": "company", "cust": "customer",
    "dept": "department", "dep": "department", "dest": "destination", "div": "division",
    "doc": "document", "emp": "employee", "fac": "faculty", "grp": "group", "inst": "instructor",
    "inv": "invoice", "itm": "item", "loc": "location", "mgr": "manager", "ord": "order",
    "org": "organization", "pers": "person", "prod": "product", "proj": "project",
    "reg": "region", "sec": "section", "src": "source", "stu": "student", "supp": "supplier",
    "trans": "transaction", "txn": "transaction", "veh": "vehicle", "whse": "warehouse",
    "wh": "warehouse", "prof": "professor", "auth": "author", "dist": "district",
    "mfr": "manufacturer", "mfg": "manufacturer", "cty": "city", "staff": "employee",
    "lang": "language", "med": "medication",
}  # fmt: skip
# Headers that many sheets use for different things: no keys by themselves.
GENERIC = frozenset(
    "address age amount amt area category city class color colour comment comments company cost "
    "count country county currency date datetime day department desc description detail details "
    "email end fax first firstname from gender group height hour item kind label last lastname "
    "latitude length level line location longitude manager max min model month name note notes "
    "number order other owner percent percentage period phone place point points position postal "
    "postcode price priority product qty quantity quarter rank rate rating ratio reason region "
    "remark remarks result role row score season section sequence series sex size source start "
    "state status street sum surname text time timestamp title to total type unit units update "
    "updated created url user value version volume week weight year years zip zipcode "
    "half datum jahr monat betrag summe wert menge preis einheit bezeichnung art nombre "
    "fecha importe precio cantidad nom prix montant quantite annee mois".split()
)


class KeyKind(IntEnum):
    """Kind of key that a header's last word names."""

    NONE = 0  # no word for a key
    CODE = 1  # number, code, reference
    ID = 2  # id, key


@dataclass(frozen=True, slots=True)
class KeyName:
    """A header read as the name of a key."""

    # Entity of the key, in the singular, abbreviations expanded: ("contact", "employee").
    words: tuple[str, ...]
    kind: KeyKind

    @property
    def generic(self) -> bool:
        """True if it is too vague for joins: no words, or only common ones and no key word."""
        return not self.words or (self.kind is KeyKind.NONE and all(map(_everyday, self.words)))


@lru_cache(maxsize=65_536)
def key_name(header: str) -> KeyName:
    """A header read as the name of a key.

    >>> key_name("contact_staff_id")
    KeyName(words=('contact', 'employee'), kind=<KeyKind.ID: 2>)
    >>> key_name("CustNo") == key_name("customer number")
    True
    >>> key_name("number of items").words
    ()
    >>> key_name("Club_ID_2").words, key_name("id").words, key_name("unit price").kind.name
    (('club',), (), 'NONE')
    """
    found = [word for word in words(header[:200])[:MAX_WORDS] if word not in _FILLERS]
    if len(found) > 1 and found[-1].isdigit():  # Club_ID_2
        found.pop()
    kind = KeyKind.NONE
    if found and _kind(found[-1]):
        kind = _kind(found.pop())
    elif len(found) > 1 and found[0] in ("id", "code", "cod", "codigo", "nr", "fk", "pk"):
        kind = _kind(found.pop(0))
    elif found and _glued(found[-1]):
        kind = KeyKind.ID
        found[-1] = found[-1].removesuffix("id")
    if kind is KeyKind.NONE and found and found[0] in _MEASURES:
        found = []
    return KeyName(tuple(map(singular_entity, found)), kind)


@lru_cache(maxsize=16_384)
def sheet_words(name: str) -> tuple[str, ...]:
    """Words of a sheet's name in the singular, abbreviations expanded.

    >>> sheet_words("Ref_Dept_Types")
    ('department', 'type')
    >>> sheet_words("Sales by Region")
    ('sale',)
    """
    found = [word for word in words(name[:200])[:MAX_WORDS] if word not in _FILLERS]
    found = found[: next((n for n, word in enumerate(found) if n and word in _BY), None)]
    if len(found) > 1 and found[0] in ("ref", "tbl", "dim", "lookup", "lkp", "lu", "mst", "master"):
        found = found[1:]
    return tuple(map(singular_entity, found))


def singular_entity(word: str) -> str:
    """The singular of a word, expanded if it is a common abbreviation."""
    word = singular(word)
    return _SHORT.get(word, word)


def singular(word: str) -> str:
    """An English noun in the singular, by its ending; not a stem, so that bats is not batting.

    >>> [singular(word) for word in ("categories", "classes", "boxes", "status", "courses")]
    ['category', 'class', 'box', 'status', 'course']
    """
    if word in _PLURALS:
        return _PLURALS[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    return word[:-1]


def _everyday(word: str) -> bool:
    return word in GENERIC or word.isdigit() or (len(word) == 1 and word.isascii())


def _kind(word: str) -> KeyKind:
    return KeyKind.ID if word in _ID else KeyKind.CODE if word in _CODE else KeyKind.NONE


def _glued(word: str) -> bool:
    """True if a word joins an entity and "id": stuid, apid, uid."""
    return len(word) > 2 and word.endswith("id") and word.isascii() and word not in _NOT_GLUED
