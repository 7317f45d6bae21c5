"""Find the texts of a workbook to translate, and keep their style."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sat_retriever.synth.book.model import Book, Column
from sat_retriever.synth.house.naming import MONTHS
from sat_retriever.synth.words.vocabulary import Vocabulary

Say = Callable[[str], str]
Proper = Callable[[str], bool]

MAX_DISTINCT = 40  # text columns with more values contain names and codes
PROPER = (
    "companies markets institutions sources suppliers customers cities countries indices".split()
)
"""The lists of names."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TIMES = "|".join(rf"{month}|{month[:3]}" for month in MONTHS)
_KEPT = rf"[^\W_]*\d[^\W_]*|{_TIMES}|final|rev"  # numbers, versions and months stay in names
_EDGES = re.compile(r"^([\W_]*)(.*?)([\W_]*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Wording:
    """The parts of names that are translated, and those that are equal in every language.

    Attributes:
        kept: Pattern of the parts that stay: the company's name, times, numbers.
        proper: Predicate for values that are names and stay.
    """

    kept: re.Pattern[str]
    proper: Proper

    @classmethod
    def of(cls, book: Book, proper: Proper) -> Wording:
        """Find the parts that stay in one workbook."""
        entities = {sheet.facts.entity for sheet in book.sheets if sheet.facts is not None}
        spelled = (
            r"[\W_]+".join(map(re.escape, name.split())) for name in sorted(entities) if name
        )
        what = "|".join([*spelled, _KEPT])
        return cls(
            re.compile(rf"[\W_]*(?<![^\W_])(?:{what})(?![^\W_])[\W_]*", re.IGNORECASE), proper
        )

    def values(self, column: Column) -> Sequence[str]:
        """Return the text values to translate, if a column repeats a few.

        Columns with a key have none: two things may have the same translation.
        """
        if column.key or column.placeholder or column.style != "text":
            return ()
        found = dict.fromkeys(
            cell for cell in column.cells if isinstance(cell, str) and _wordy(cell)
        )
        told = [text for text in found if not self.proper(text)]
        return told if len(found) <= MAX_DISTINCT else ()

    def spoken(self, text: str) -> list[str]:
        """Return the words of a name that are translated."""
        return [words for _, words, _ in self._pieces(text) if words]

    def retold(self, text: str, say: Say) -> str:
        """Replace those words of a name by their translations."""
        return "".join(
            f"{before}{say(words)}{after}" for before, words, after in self._pieces(text)
        )

    def _pieces(self, text: str) -> list[tuple[str, str, str]]:
        """Split a text into separators, words and separators; the words of kept parts are empty."""
        found: list[tuple[str, str, str]] = []
        start = 0
        for kept in (*self.kept.finditer(text), None):
            words = text[start : kept.start() if kept else len(text)]
            match = _EDGES.match(words)
            if words and match:
                found.append((match[1], match[2], match[3]))
            if kept:
                found.append((kept[0], "", ""))
                start = kept.end()
        return found


def proper_names(vocabulary: Vocabulary) -> Proper:
    """Return a predicate for names of a person, company, place or market in these words."""
    lists = vocabulary.lists
    whole = {name for noun in PROPER for name in lists.get(noun, ())}
    given, family = set(lists["given_names"]), set(lists["family_names"])
    first, second = set(lists["company_first_words"]), set(lists["company_business_words"])

    def proper(text: str) -> bool:
        one, _, other = text.partition(" ")
        return (
            text in whole
            or (one in given and other in family)
            or (one in first and other in second)
        )

    return proper


def _wordy(text: str) -> bool:
    """True if a value consists of words rather than a code or number."""
    return not re.search(r"\d", text) and re.search(r"[^\W\d_]{2}", text) is not None


def plain(text: str) -> str:
    """Separate the words of a header for a translator.

    >>> plain("material_code"), plain("materialCode"), plain("Unit Price")
    ('material code', 'material Code', 'Unit Price')
    """
    if " " in text:
        return text
    return re.sub(r"_+", " ", _HUMP.sub(" ", text)).strip() or text


def like(text: str, said: str, seen: str) -> str:
    """Give a translation the letter case and the separators of its text.

    >>> like("item_code", "Artikelnummer", "item code"), like("NET PAY", "netto", "NET PAY")
    ('artikelnummer', 'NETTO')
    """
    if said == seen:
        return text
    if "_" in text and " " not in text:
        said = said.replace(" ", "_")
    elif text != seen:  # words joined by capitals
        first, *rest = said.split()
        said = first[0].lower() + first[1:] + "".join(word[0].upper() + word[1:] for word in rest)
    if text.isupper() and len(text) > 3:
        return said.upper()
    return said.lower() if text.islower() else said
