"""Define a question about contents before it is known which sheets answer it."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sat_retriever.datasets.labels.query import UNANSWERABLE
from sat_retriever.questions.facts import Words

VALUE, NOTE, LABEL, COPY = "value", "note", "label", "copy"
KINDS = (VALUE, NOTE, LABEL, COPY, UNANSWERABLE)
"""The query types about contents."""
PHRASED = (VALUE, NOTE, LABEL)
"""The query types about a text that some sheet holds."""

_WORD = re.compile(r"[^\W_]+")
_WITH_HEADER = (
    "Which sheet has {header} {text}?",
    "{header} {text}",
    "Where is {header} {text} listed?",
    "find the row with {header} {text}",
)
_ALONE = (
    "Which sheet has {text}?",
    "where is {text} listed",
    "{text}",
    'sheet with "{text}"',
)
_NOTED = (
    'Which sheet says "{text}"?',
    "sheet with the note {text}",
    "where is it written: {text}",
    "the table about {text}",
)
_LABELLED = (
    "{header} of {text}",
    "What is the {header} of {text}?",
    "{text}: {header}",
    "Where do I find {header} for {text}?",
)
_FORMS: Mapping[tuple[str, bool], tuple[str, ...]] = MappingProxyType(
    {
        (VALUE, True): (*_WITH_HEADER, *_ALONE[:2]),
        (VALUE, False): _ALONE,
        (NOTE, False): _NOTED,
        (LABEL, True): _LABELLED,
        (UNANSWERABLE, True): (*_WITH_HEADER, *_LABELLED),
        (UNANSWERABLE, False): _ALONE,
    }
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A question about a text.

    Attributes:
        kind: Its query type.
        text: The text as it stands in a cell, or as it was invented.
        header: Header that the question names; "" for none.
        sheet_id: The sheet that it was drawn from; "" for an invented one.
    """

    kind: str
    text: str
    header: str = ""
    sheet_id: str = ""

    @property
    def phrase(self) -> Words:
        """The words of the text, which stand side by side in a sheet that holds it."""
        return folded(self.text)

    def said(self, chance: random.Random) -> str:
        """The question in words."""
        form = chance.choice(_FORMS[self.kind, bool(self.header)])
        return form.format(header=self.header, text=self.text)


def folded(text: str) -> Words:
    """Return the words and numbers of a text, whatever the case and the signs.

    >>> folded("Part TH-100"), folded("part th 100")
    (('part', 'th', '100'), ('part', 'th', '100'))
    """
    return tuple(_WORD.findall(text.casefold()))


def contains_phrase(text: str, phrase: Words) -> bool:
    """True if a text has a phrase that is no part of a longer code.

    >>> contains_phrase("See TH-100.", ("th", "100")), contains_phrase("TH-100-2", ("th", "100"))
    (True, False)
    """
    said = r"[\W_]+".join(map(re.escape, phrase))
    pattern = rf"(?<![^\W_])(?<![^\W_][-./_:#]){said}(?![-./_:#]?[^\W_])"
    return re.search(pattern, text.casefold()) is not None
