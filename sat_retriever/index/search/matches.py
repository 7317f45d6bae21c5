"""Match the words of a query with every sheet: in names, in contents, as whole phrases."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.search.fusion import (
    WORD_OF_CONTENTS,
    Rareness,
    covered_by_names,
    word_of_contents,
)
from sat_retriever.index.search.snapshot import Snapshot
from sat_retriever.index.store.store import Store
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.contents import (
    SPELLED,
    asked_words,
    asks_for_documentation,
    content_texts,
    holds,
    phrases,
)
from sat_retriever.text.lexical import STOP_WORDS, WordScores, query_words, sheet_texts
from sat_retriever.text.segment import forms, stem
from sat_retriever.text.spelling import forms_of, initials_of

_SIZES = (3, 4)  # letters of a code, with which the word begins
_LEFT = 2  # letters of the word after them, at least
_LEAST, _MOST = 2, 2_000  # sheets with a code in their names
# Of these sheets, the least share that says the word, and how many times the share of all sheets
# that must be. On real lists shares of .2 to .5 and 1.2 to 2 times give the same rankings; with .1,
# *travel* is read as TRA (benchmarks/LOG.md).
_SHARE = 0.3
_LIFT = 2.0
_CHECKED = 100  # sheets with all words of a phrase whose texts are read
_INITIALS = 4  # letters of initials, at least: those of three are words by chance
_MISSPELT = 4  # words of a query that are looked for under another spelling
_MEANT = 3  # words that one of them may mean


@dataclass(frozen=True, slots=True)
class Code:
    """A code in lower case that stands for a word, and BM25 scores of the names that have it."""

    text: str
    names: WordScores


def codes_of(
    snapshot: Snapshot, word: str, contents: WordScores | None, sheets: float
) -> tuple[Code, ...]:
    """Codes in names that stand for a word (a stem) of a question, as the index itself says.

    `TRA_NEW` is found for *transport*, since sheets with `TRA` in their names say *transport* in
    their cells. It is not found for *travel*, which they do not say. Of a part of a large index,
    all its sheets say what a code stands for. Without scores in contents, no code is known;
    `sheets` is the number of all sheets that have the word.
    """
    if contents is None or not word.isalpha():
        return ()
    whole = snapshot.whole or snapshot
    rare = whole.lexical.formula.limit(min(_MOST, whole.sheets))  # a common word is never read
    found = []
    for code in (word[:size] for size in _SIZES if len(word) >= size + _LEFT):
        if whole.lexical.limit(code) < rare:
            continue
        named = whole.lexical.word(code).rows
        if len(named) >= _LEAST:
            saying = np.zeros(len(named), dtype=np.bool_)
            for place in (whole.contents, whole.lexical):
                saying[place.among(word, named).rows] = True
            if saying.mean() >= max(_SHARE, _LIFT * sheets / whole.sheets):
                found.append(Code(code, snapshot.lexical.word(code)))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class FoundWord:
    """One word of a query, and the sheets that have it."""

    word: str  # the word, as a stem or a code
    names: WordScores | None  # its BM25 scores in names; None if no sheet has it there
    contents: WordScores | None  # the same in contents
    sheets: float  # number of all sheets that have it, as if names and contents had it by chance
    codes: tuple[Code, ...] = ()  # codes in names that stand for it in this index

    def among(self, rows: NDArray[np.intp]) -> FoundWord:
        """The word in some of the sheets; how many of all have it stays."""
        names, contents = self.names, self.contents
        return replace(
            self,
            names=names and names.among(rows),
            contents=contents and contents.among(rows),
            codes=tuple(replace(code, names=code.names.among(rows)) for code in self.codes),
        )

    def better(self, share: FloatArray, of_contents: float = 1.0) -> NDArray[np.intp]:
        """Positions of the sheets that have the word; sorting them would cost more than all else.

        In `share`, zeros (n,), each of them gets the better of its scores, by names or by contents,
        as a share of the most possible, in [0, 1]. A score in contents counts `of_contents` of one
        in names.
        """
        found: list[NDArray[np.intp]] = []
        coded = ((code.names, WORD_OF_CONTENTS) for code in self.codes)
        for scored, counts in ((self.names, 1.0), (self.contents, of_contents), *coded):
            if scored is not None:
                own = scored.scores * np.float32(counts / scored.limit)
                before = share[scored.rows] if found else None
                share[scored.rows] = own if before is None else np.maximum(before, own)
                found.append(scored.rows if before is None else scored.rows[before == 0])
        return np.concatenate(found) if found else np.empty(0, dtype=np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """Matches of a query's words with the n sheets of a snapshot."""

    words: tuple[str, ...]  # words that names are searched for, as stems, in order
    read_as: str  # the query, with words of the index in place of misspelt ones
    names: FloatArray  # BM25 over names as a share of the best possible, (n,) in [0, 1]
    contents: FloatArray  # the same over contents
    # The same over both: each word counts once a sheet, by the better of its places.
    together: FloatArray
    rareness: Rareness  # how much the words tell that names and contents have
    covered: float  # most of the query that the names of one sheet cover, in [0, 1]
    # True for the sheets that hold all phrases in quotation marks, (n,); None if there are none,
    # or no sheet does. Without contents, phrases have two words or more.
    phrase: NDArray[np.bool_] | None
    explaining: bool  # true if the query asks for documentation
    # Each word that counts, also one that no sheet has, and where it stands.
    found: tuple[FoundWord, ...]

    def part(self, rows: NDArray[np.intp]) -> Matches:
        """Matches with the sheets at some ascending positions."""
        return replace(
            self,
            names=self.names[rows],
            contents=self.contents[rows],
            together=self.together[rows],
            phrase=None if self.phrase is None else self.phrase[rows],
            found=tuple(each.among(rows) for each in self.found),
        )


def find_matches(
    store: Store, snapshot: Snapshot, query: str, known: Matches | None = None
) -> Matches:
    """Match a query's words with the sheets; the caller holds a read transaction.

    `known` are matches of the same words with the best of all sheets, if these are others: they say
    how much of the query names cover.
    """
    read_as = respelled(store, snapshot, query)
    words = tuple(query_words(read_as))
    names = snapshot.lexical.scores(words)
    asked_inside = asked_words(read_as)
    said = any(map(snapshot.contents.knows, asked_inside))
    contents = snapshot.contents.scores(asked_inside)
    contents = _spoken_for(snapshot, contents) if said else contents
    rareness = rareness_of(snapshot, words, asked_inside)
    covered = covered_by_names(float(names.max(initial=0.0)), rareness)
    covered = covered if known is None else known.covered
    asked = asked_phrases(snapshot, query)
    found = tuple(
        _found(snapshot, word, in_names=word in words, in_contents=word in asked_inside)
        for word in dict.fromkeys((*words, *asked_inside))
    )
    return Matches(
        words=words,
        read_as=read_as,
        names=names,
        contents=contents,
        together=_by_initials(
            snapshot, query, _together(snapshot, found, contents, covered) if said else names
        ),
        rareness=rareness,
        covered=covered,
        phrase=_holding(store, snapshot, asked, names + contents) if asked else None,
        explaining=asks_for_documentation(query),
        found=found,
    )


def rareness_of(snapshot: Snapshot, words: Sequence[str], asked: Sequence[str]) -> Rareness:
    """How much words that names, and contents, are searched for tell in a snapshot."""
    in_names = {word: snapshot.lexical.rareness(word) for word in words}
    in_contents = {word: snapshot.contents.rareness(word) for word in asked}
    return Rareness(
        names=sum(in_names.values()),
        contents=sum(in_contents.values()),
        contents_alone=sum(idf for word, idf in in_contents.items() if not in_names.get(word)),
    )


def having_of(snapshot: Snapshot, word: str, *, in_names: bool, in_contents: bool) -> float:
    """Number of all sheets that have a word, as if names and contents had it by chance."""
    places = ((snapshot.lexical, in_names), (snapshot.contents, in_contents))
    found = [place.sheets(word) for place, looked_in in places if looked_in]
    sheets = snapshot.sheets
    return (1 - math.prod(1 - each / max(sheets, 1) for each in found)) * sheets


def idf_of(having: float, sheets: int) -> float:
    """Idf of a word that so many of all sheets have."""
    return math.log1p((sheets - having + 0.5) / (having + 0.5))


def _found(snapshot: Snapshot, word: str, *, in_names: bool, in_contents: bool) -> FoundWord:
    scored = (
        snapshot.lexical.word(word) if in_names else None,
        snapshot.contents.word(word) if in_contents else None,
    )
    names, contents = (each if each and len(each.rows) else None for each in scored)
    having = having_of(snapshot, word, in_names=in_names, in_contents=in_contents)
    codes = codes_of(snapshot, word, contents, having)
    return FoundWord(word, names, contents, having, codes)


def _together(
    snapshot: Snapshot, found: Sequence[FoundWord], contents: FloatArray, covered: float
) -> FloatArray:
    """BM25 over names and contents as one, as a share of the best possible, (n,) in [0, 1].

    A word counts by its idf among all sheets that have it in either place, once a sheet, by the
    better place: in contents three fifths of what it counts in names, and less the more of the
    query names cover. A mixture of both scores counts a word of one place as missing in the other.
    Beside documentation a sheet has at least three fifths of the score by contents of that
    documentation; it does not count less by what names cover, which costs .017 on EPS's
    development questions (benchmarks/LOG.md).
    """
    total, share = np.zeros((2, len(contents)), dtype=np.float32)  # `share` of one word
    limit, sheets = 0.0, snapshot.sheets
    of_contents = word_of_contents(covered)
    for word in found:
        if word.sheets:
            idf = idf_of(word.sheets, sheets)
            limit += idf
            having = word.better(share, of_contents)
            total[having] += np.float32(idf) * share[having]
            share[having] = 0
    total /= np.float32(limit or 1)
    spoken_for = snapshot.documentation
    said = np.float32(WORD_OF_CONTENTS) * spoken_for.best(contents)
    total[spoken_for.others] = np.maximum(total[spoken_for.others], said)
    return total


def _by_initials(snapshot: Snapshot, query: str, together: FloatArray) -> FloatArray:
    """Word scores, (n,), where a sheet whose name has the initials of the query has three fifths.

    Such a sheet may share no word with the query, and would not be among the candidates.
    """
    for asked in forms_of(query):
        initials = initials_of(asked)
        rows = snapshot.lexical.word(stem(initials)).rows if len(initials) >= _INITIALS else ()
        if len(rows):
            together = together.copy()
            together[rows] = np.maximum(together[rows], np.float32(WORD_OF_CONTENTS))
    return together


def respelled(store: Store, snapshot: Snapshot, query: str) -> str:
    """The query with up to three known words in place of each that no sheet has.

    Only words of five letters or more are read otherwise, and only in an index with contents.
    """
    if not snapshot.has_contents:
        return query
    left = _MISSPELT

    def known(found: re.Match[str]) -> str:
        nonlocal left
        read = forms(found[0])
        first = read[0][0]
        if left == 0 or len(read) > 1 or first in STOP_WORDS or _has(snapshot, read[0]):
            return found[0]
        left -= 1
        meant = [word for word in store.spelled_near(first) if _has(snapshot, [word])]
        return " ".join(meant[:_MEANT]) or found[0]

    return SPELLED.sub(known, query)


def _has(snapshot: Snapshot, word: Sequence[str]) -> bool:
    found = [stem(form) for form in word]
    return any(snapshot.lexical.knows(each) or snapshot.contents.knows(each) for each in found)


def _spoken_for(snapshot: Snapshot, own: FloatArray) -> FloatArray:
    """Scores of contents, (n,), where documentation speaks for the sheets of its workbook.

    Each of these has the best score of its workbook's documentation, if its own is less. On
    EPS's development questions nDCG@10 rises by .042, 95 % interval .008 to .077
    (benchmarks/LOG.md); a part of that score, or a sum with it, gives less.
    """
    spoken_for = snapshot.documentation
    found = own.copy()
    found[spoken_for.others] = np.maximum(own[spoken_for.others], spoken_for.best(own))
    return found


def _holding(
    store: Store, snapshot: Snapshot, asked: Sequence[str], scores: FloatArray
) -> NDArray[np.bool_] | None:
    """True for the sheets that hold all phrases, (n,); None if none does.

    Of the hundred best sheets that have all words of the phrases, names are read, and contents
    that have one of the phrases.
    """
    having = with_phrases(snapshot, asked)
    best = having[np.argsort(-scores[having], kind="stable")[:_CHECKED]]
    sheets = store.sheet_ids(snapshot.ids[best].tolist())
    names = list(sheets.values())
    records, contents = store.records(names), store.contents(names, phrases=asked)
    found = np.zeros(len(scores), dtype=np.bool_)
    for row, row_id in zip(best.tolist(), snapshot.ids[best].tolist(), strict=True):
        sheet_id = sheets.get(row_id)
        if sheet_id is None or sheet_id not in records:
            continue
        texts = [line for text in sheet_texts(records[sheet_id]) for line in text.split("\n")]
        if sheet_id in contents:
            texts += content_texts(contents[sheet_id])
        found[row] = all(holds(texts, phrase) for phrase in asked)
    return found if found.any() else None


def with_phrases(snapshot: Snapshot, asked: Sequence[str]) -> NDArray[np.intp]:
    """Positions of the sheets that have all words of some phrases, in names or in contents."""
    words = [word for phrase in asked for word in dict.fromkeys(map(stem, _whole(phrase)))]
    return np.union1d(snapshot.lexical.having(words), snapshot.contents.having(words))


def with_words(
    snapshot: Snapshot, groups: Sequence[Sequence[str]]
) -> tuple[NDArray[np.intp], FloatArray]:
    """Positions of the sheets that have all words of a group, ascending, and their scores.

    A group has one stem or more, which names or contents have together. All groups' words score.
    """
    found = [
        part.having(group) for group in groups for part in (snapshot.lexical, snapshot.contents)
    ]
    rows = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *found]))
    words = list(dict.fromkeys(word for group in groups for word in group))
    names, contents = snapshot.lexical.part(rows), snapshot.contents.part(rows)
    return rows, names.scores(words) + contents.scores(words)


def asked_phrases(snapshot: Snapshot, query: str) -> list[str]:
    """Phrases of a query that sheets may hold.

    Without contents one word in quotation marks does not count: it is mostly a value, which
    other sheets' names hold by chance (benchmarks/LOG.md).
    """
    asked = phrases(query)
    return [each for each in asked if snapshot.has_contents or len(_whole(each)) > 1]


def _whole(phrase: str) -> list[str]:
    return [whole for whole, *_ in forms(phrase)]
