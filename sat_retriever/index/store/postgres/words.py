"""Words of names and contents in PostgreSQL: an inverted index, and spellings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from sat_retriever.index.store.damage import RowDamage, contents_of, record_of
from sat_retriever.index.store.postgres.session import PostgresSession
from sat_retriever.index.store.rows import LEXICAL_FIELDS
from sat_retriever.index.store.words import spellings
from sat_retriever.text.contents import content_words
from sat_retriever.text.segment import stem

_LONGEST = 1_000  # bytes of a word in the index, which takes up to 2,700
_PLACES = range(len(LEXICAL_FIELDS))


def names_of(words: Sequence[Sequence[str]]) -> list[str]:
    """Distinct words of a sheet's names as they are stored: behind the number of their field.

    >>> names_of([["fare"], ["q1", "q1"], [], []])
    ['0fare', '1q1']
    """
    fields = zip(_PLACES, words, strict=True)
    return list(dict.fromkeys(key_of(f"{place}{word}") for place, own in fields for word in own))


def key_of(word: str) -> str:
    """A word as it is stored; a very long one by its beginning and a digest."""
    data = word.encode()
    if len(data) <= _LONGEST:
        return word
    digest = blake2b(data, digest_size=16).hexdigest()
    return f"{data[:_LONGEST].decode(errors='ignore')} {digest}"


def in_names(word: str, places: Iterable[int] = _PLACES) -> list[str]:
    """A word as it is stored in the names, once for each field."""
    return [key_of(f"{place}{word}") for place in places]


def add_spellings(session: PostgresSession, words: Iterable[str]) -> None:
    """Add words that misspelt ones may mean."""
    found = sorted(set(words))
    session.execute(
        "INSERT INTO spellings (word, reversed, stem) "
        "SELECT * FROM unnest(?::text[], ?::text[], ?::text[]) ON CONFLICT DO NOTHING",
        (found, [word[::-1] for word in found], list(map(stem, found))),
    )


def spellings_of(session: PostgresSession, ids: Sequence[int]) -> set[str]:
    """Spellings of the sheets that have contents and are not damaged, by row id."""
    rows = session.execute(
        "SELECT s.record, s.crc, c.packed, c.crc FROM contents c JOIN sheets s ON s.id = c.id "
        "WHERE c.id = ANY(?)",
        (list(ids),),
    ).fetchall()
    found: set[str] = set()
    for text, crc, data, data_crc in rows:
        try:
            record, contents = record_of(text, crc), contents_of(data, data_crc)
        except RowDamage:
            continue
        found.update(spellings(record, content_words(contents)))
    return found


def drop_spellings(session: PostgresSession, words: Iterable[str]) -> None:
    """Drop those of some spellings that no sheet has, in names or contents."""
    found = sorted(words)
    if not found:
        return
    stems = [stem(word) for word in found]
    session.execute(
        "DELETE FROM spellings WHERE word IN (SELECT each.word FROM "
        "unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[]) "
        "AS each (word, inside, a, b, c, d) "
        "WHERE NOT EXISTS (SELECT FROM words w WHERE w.contents @> ARRAY[each.inside]) "
        "AND NOT EXISTS (SELECT FROM words w WHERE "
        "w.names && ARRAY[each.a, each.b, each.c, each.d]))",
        (
            found,
            [key_of(each) for each in stems],
            *([key_of(f"{place}{each}") for each in stems] for place in _PLACES),
        ),
    )
