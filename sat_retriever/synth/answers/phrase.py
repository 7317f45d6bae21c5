"""Put a question into words."""

from __future__ import annotations

import random
from datetime import date

from sat_retriever.synth.answers.ask import Ask, Condition
from sat_retriever.synth.book.model import Value
from sat_retriever.synth.words.vocabulary import Vocabulary
from sat_retriever.text.period.spans import MONTHS

_REDUCED = {"sum": "total", "avg": "average", "max": "highest", "min": "lowest"}


def question_of(ask: Ask, words: Vocabulary, chance: random.Random) -> str:
    """Return the question in English; its form is drawn from the list that it names.

    Args:
        ask: The question.
        words: Words with the lists of forms.
        chance: Decides the form.
    """
    form = chance.choice(words.lists[ask.form])
    key = ask.on[0].column.spoken if ask.on else ""
    sentence = form.format(
        shown=_shown(ask),
        given=ask.given,
        sheet=ask.tables[0].subject,
        other=ask.tables[-1].subject,
        by=ask.by.column.spoken if ask.by else "",
        key=key,
        most=ask.most,
    )
    sentence = " ".join(sentence.split()).replace(" ,", ",").replace(" ?", "?").replace(" ;", ";")
    return sentence[0].upper() + sentence[1:]


def given_by(*conditions: Condition) -> str:
    """Return conditions in words: "for order number 17", "with a quantity above 5"."""
    said = []
    for place, each in enumerate(conditions):
        name, value = each.field.column.spoken, spoken_value(each.value)
        if each.operator == "=":
            said.append(f"{'and' if place else 'for'} {name} {value}")
        else:
            said.append(f"with {name} above {value}")
    return " ".join(said)


def spoken_value(value: Value) -> str:
    """Return a value as a question names it.

    >>> spoken_value(date(2024, 3, 9)), spoken_value("A 7")
    ('9 March 2024', 'A 7')
    """
    if isinstance(value, date):
        return f"{value.day} {MONTHS[value.month]} {value.year}"
    return str(value)


def _shown(ask: Ask) -> str:
    if ask.shows is None:
        return "number of records"
    name = ask.shows.column.spoken
    return f"{_REDUCED[ask.reduce]} {name}" if ask.reduce else name
