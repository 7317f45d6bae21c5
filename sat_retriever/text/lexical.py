"""Score sheets by the words that they share with a query, using BM25.

The inverted index is the store's FTS5 table; the scores are computed here, on arrays.
FTS5's own `bm25()` visits every posting of every query word, which is slow for common
words (91 ms at 100,000 sheets). Here the scores of a word are computed once and kept, so
all words of a query count and a repeated word costs nothing.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.segment import forms, stem, stems

_COMMON_WORDS = "common_words.txt"  # made by `python -m benchmarks run common_words`
_LEAST_RARITY = 0.05
_NUMBER_RARITY = 0.8  # a year, a code: its absence tells nearly as much as that of a name
# Zipf values (log10 of occurrences in a billion words) of a word that tells nothing, and of one
# that tells all. Words that are not on the list are names and terms: they tell all.
_EVERYWHERE, _RARE = 7.0, 2.5


def rarity(word: str) -> float:
    """How telling a stem is, in [0.05, 1]: 1 for names and terms, little for common words.

    >>> [round(rarity(word), 2) for word in ("total", "kauna", "2023")]
    [0.36, 1.0, 0.8]
    """
    if any(map(str.isdigit, word)):
        return _NUMBER_RARITY
    zipf = _zipf_values().get(word, _RARE)
    return min(max((_EVERYWHERE - zipf) / (_EVERYWHERE - _RARE), _LEAST_RARITY), 1.0)


@cache
def _zipf_values() -> Mapping[str, float]:
    lines = Path(__file__).with_name(_COMMON_WORDS).read_text(encoding="utf-8").splitlines()
    found = {}
    for line in lines:
        if not line.startswith("#"):
            zipf, *stems = line.split()
            found.update(dict.fromkeys(stems, float(zipf)))
    return found


Found = TypeVar("Found")
WORD_COST = (
    64  # numbers that a word counts for by itself: there is no end of words that no sheet has
)


class KeptWords(Generic[Found]):
    """A cache of lookups of words; the words that were not asked for longest go first.

    At most `most` numbers of 8 bytes are kept. A word counts for 64, for its letters, and for the
    `size` of what it finds.

    >>> kept = KeptWords(look_up=str.upper, size=len, most=200)
    >>> kept["fare"], kept["fare"]
    ('FARE', 'FARE')
    """

    def __init__(
        self, look_up: Callable[[str], Found], size: Callable[[Found], int], most: int
    ) -> None:
        self._look_up = look_up
        self._size_of = size
        self._most = most
        self._kept: OrderedDict[str, Found] = OrderedDict()
        self._size = 0

    def __getitem__(self, word: str) -> Found:
        if word in self._kept:
            self._kept.move_to_end(word)
            return self._kept[word]
        found = self._kept[word] = self._look_up(word)
        self._size += self._cost(word, found)
        while self._size > self._most and len(self._kept) > 1:
            self._size -= self._cost(*self._kept.popitem(last=False))
        return found

    def _cost(self, word: str, found: Found) -> int:
        return WORD_COST + len(word) // 8 + self._size_of(found)


# Saturation of repeated words: FTS5's value, which held-out tables of WikiTableQuestions' training
# part and EPS's development questions chose as well.
K1 = 1.2
B = 0.4  # normalisation by the length of names
B_CONTENTS = 0.5  # by that of contents; chosen on the validation sets of real lists
# The weight of a word by its field: workbook name, sheet name, headers, folder.
# Chosen on Spider's training questions and 1K's validation split (benchmarks/LOG.md).
FIELD_WEIGHTS = (1.0, 3.0, 1.0, 1.0)
MAX_QUERY_WORDS = 256

# Function words and verbs of requests; content words of any domain are kept.
STOP_WORDS = frozenset(
    """
    a an and any are as at be been by can could did do does each for from had has have how i if in
    is it its many me much my no not of on or our s should so such than that the their them then
    there these they this those to was we were what when where which who whom whose why will with
    would you your all also find give list return show tell
    """.split()
)

Find = Callable[[str], tuple[NDArray[np.intp], FloatArray]]
"""Positions of the sheets with a word, ascending, and how much of it each of them has."""


def sheet_words(record: SheetRecord) -> tuple[list[str], ...]:
    """Return the words of a record by field: workbook name, sheet name, headers, folder.

    Headers of every table on the sheet are included.

    >>> record = SheetRecord("2023/SalesReports.xlsx#Q1", "Q1", "SalesReports.xlsx",
    ...                      "2023/SalesReports.xlsx")
    >>> sheet_words(record)
    (['sale', 'report'], ['q1'], [], ['2023'])
    """
    return tuple(stems(text) for text in sheet_texts(record))


def sheet_texts(record: SheetRecord) -> tuple[str, str, str, str]:
    """Return the texts of a record by field: workbook name, sheet name, headers, folder."""
    folder = record.path.rpartition("/")[0]
    return record.workbook_name, record.sheet, "\n".join(_header_names(record)), folder


def query_words(query: str) -> list[str]:
    """Return the distinct content words of a query in order; all words if all are stop words.

    >>> query_words("Which sheets have the singers' names?")
    ['sheet', 'singer', 'name']
    """
    found = forms(query)
    content = [each for each in found if each[0] not in STOP_WORDS] or found
    return list(dict.fromkeys(stem(form) for each in content for form in each))[:MAX_QUERY_WORDS]


@dataclass(frozen=True, slots=True)
class WordScores:
    """The BM25 scores of one word."""

    rows: NDArray[np.intp]  # positions of the sheets that contain it, ascending
    scores: FloatArray  # their scores, same length, float32
    limit: float  # upper bound of a sheet's score
    sheets: int  # number of sheets that contain it, of all sheets; more than `rows` in a part

    def among(self, places: NDArray[np.intp]) -> WordScores:
        """The scores at some positions, each given as its place among these.

        >>> word = WordScores(np.array([2, 5]), np.float32([0.5, 0.25]), 1.0, 2)
        >>> found = word.among(np.array([1, 5, 9]))
        >>> found.rows.tolist(), found.scores.tolist(), found.sheets
        ([1], [0.25], 2)
        """
        if not len(self.rows):
            return self
        at = np.minimum(np.searchsorted(self.rows, places), len(self.rows) - 1)
        there = np.flatnonzero(self.rows[at] == places)
        return WordScores(there, self.scores[at[there]], self.limit, self.sheets)

    def fill(self, shares: NDArray[np.uint8], most: int) -> None:
        """Write the scores over those of all sheets, as shares of the limit from 0 to `most`."""
        if len(self.rows):
            scale = np.float32(most / self.limit)
            shares[self.rows] = np.ceil(self.scores * scale).clip(1, most)


def counted(postings: Sequence[NDArray[np.intp]]) -> tuple[NDArray[np.intp], FloatArray]:
    """Positions of the sheets that contain a word, ascending, and its weighted count in each.

    `postings` has one array per field. A word counts once per field, by the field's weight.

    >>> rows, counts = counted([np.array(each, dtype=np.intp) for each in ([2, 5], [5], [], [])])
    >>> rows.tolist(), counts.tolist()
    ([2, 5], [1.0, 4.0])
    """
    weights = np.repeat(FIELD_WEIGHTS, [len(rows) for rows in postings])
    found, place = np.unique(np.concatenate(postings), return_inverse=True)
    return found, np.bincount(place, weights, len(found)).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Bm25:
    """BM25 over n sheets: what each word adds to their scores.

    Source: Robertson and Zaragoza (2009), with the idf of Lucene, ln(1 + (n - df + ½) /
    (df + ½)), which is positive even for words in most sheets.
    """

    norms: FloatArray  # K1, normalised by the number of words of each sheet, (n,)
    sheets: int  # sheets that count: a word may be in them
    most: float  # largest share of idf · (K1 + 1) that a sheet can have

    @classmethod
    def of_names(cls, lengths: FloatArray) -> Bm25:
        """BM25 over names, whose words count by their fields."""
        return cls(_norms(lengths, len(lengths), B), len(lengths), 1.0)

    @classmethod
    def of_contents(cls, lengths: FloatArray) -> Bm25:
        """BM25 over contents, where a word counts once a sheet; sheets without any do not count."""
        sheets = int(np.count_nonzero(lengths))
        norms = _norms(lengths, sheets, B_CONTENTS)
        return cls(norms, sheets, 1 / (1 + K1 * (1 - B_CONTENTS)))

    def idf(self, having: int) -> float:
        """Idf of a word that so many sheets have; 0 for none."""
        return float(np.log1p((self.sheets - having + 0.5) / (having + 0.5))) if having else 0.0

    def limit(self, having: int) -> float:
        """Most that a word adds to a score if so many sheets have it; 0 for none."""
        return self.idf(having) * (K1 + 1) * self.most

    def shares(self, rows: NDArray[np.intp], counts: FloatArray) -> FloatArray:
        """Scores of a word in some sheets, (m,) float32, as shares of the limit in (0, 1].

        `counts` says how much each of them has of the word; see `counted`.
        """
        found: FloatArray = counts / (counts + self.norms.take(rows))
        return found if self.most == 1 else found / np.float32(self.most)

    def word(self, rows: NDArray[np.intp], counts: FloatArray, sheets: int) -> WordScores:
        """The scores of a word in some of the sheets that have it, which are so many."""
        limit = self.limit(sheets)
        return WordScores(rows, np.float32(limit) * self.shares(rows, counts), limit, sheets)


def _norms(lengths: FloatArray, sheets: int, b: float) -> FloatArray:
    mean = float(lengths.sum()) / max(sheets, 1)
    norms: FloatArray = K1 * (1 - b + b * lengths / max(mean, 1.0))
    return norms


def byte_weights(limits: Sequence[float]) -> list[int]:
    """Weights of words, which fit one byte together.

    >>> byte_weights([3.0, 1.0])
    [191, 63]
    """
    total = sum(limits)
    return [int(255 * limit / total) if total else 0 for limit in limits]


@dataclass(frozen=True, slots=True)
class WordShares:
    """The contributions of a query's words to the scores of some sheets."""

    limits: FloatArray  # largest possible contribution of each word, (w,); they sum to 1, or w is 0
    shares: FloatArray  # actual contributions, (w, n); a column sums to the sheet's lexical score
    words: tuple[str, ...] = ()


class LexicalScorer:
    """Scores of words in the sheets of one state of the index; those of words asked for are kept.

    `find` gives the positions of the sheets with a word, ascending, and how much each has of it,
    which `formula` makes a score of. At most `max_kept` scores are kept; see `KeptWords`.
    """

    def __init__(self, find: Find, formula: Bm25, *, max_kept: int = 8_000_000) -> None:
        def look_up(word: str) -> WordScores:
            rows, counts = find(word)
            return formula.word(rows, counts, len(rows))

        self.formula = formula
        self._words = KeptWords(look_up, lambda found: len(found.rows), max_kept)

    @classmethod
    def of(cls, records: Iterable[SheetRecord]) -> LexicalScorer:
        """A scorer of names of records; positions and scores equal those of an index of them."""
        fields: tuple[dict[str, list[int]], ...] = tuple(defaultdict(list) for _ in FIELD_WEIGHTS)
        lengths = []
        for row, record in enumerate(records):
            found = sheet_words(record)
            lengths.append(sum(map(len, found)))
            for field, own in zip(fields, found, strict=True):
                for word in dict.fromkeys(own):
                    field[word].append(row)

        def find(word: str) -> tuple[NDArray[np.intp], FloatArray]:
            postings = [np.array(field.get(word, ()), dtype=np.intp) for field in fields]
            return counted(postings)

        return cls(find, Bm25.of_names(np.array(lengths, dtype=np.float32)))

    def __len__(self) -> int:
        return len(self.formula.norms)

    def part(self, places: NDArray[np.intp]) -> LexicalScorer:
        """A scorer of the sheets at some positions, with the same scores as in this one.

        Rareness and mean length stay those of all sheets. Places ascend; the part counts from 0.
        """
        return _Part(self, places)

    def knows(self, word: str) -> bool:
        """True if a sheet has a word."""
        return self.limit(word) > 0

    def rareness(self, word: str) -> float:
        """Idf of a word; 0 if no sheet has it."""
        return self.limit(word) / (K1 + 1) / self.formula.most

    def limit(self, word: str) -> float:
        """Most that a word adds to a score; 0 if no sheet has it."""
        return self.word(word).limit

    def sheets(self, word: str) -> int:
        """Number of all sheets that have a word."""
        return self.word(word).sheets

    def shares(self, word: str, most: int = 255) -> NDArray[np.uint8]:
        """What every sheet has of a word, (n,): its score as a share of the limit, up to `most`."""
        found = np.zeros(len(self), dtype=np.uint8)
        self.word(word).fill(found, most)
        return found

    def having(self, words: Sequence[str]) -> NDArray[np.intp]:
        """Positions of the sheets that have all of some words, ascending; none without words."""
        if not words or not all(map(self.knows, words)):
            return np.empty(0, dtype=np.intp)
        rarest, *others = sorted(words, key=self.limit, reverse=True)
        rows = self.word(rarest).rows
        for word in others:
            rows = rows[self.among(word, rows).rows]
        return rows

    def scores(self, query: Sequence[str]) -> FloatArray:
        """Scores as a share of the best possible one, shape (n,), in [0, 1].

        The best possible score is the sum of the limits of the query words that any sheet has.
        """
        total = np.zeros(len(self), dtype=np.float32)
        limit = 0.0
        for word in query:
            found = self.word(word)
            if found.sheets:
                total[found.rows] += found.scores
                limit += found.limit
        return total / np.float32(limit) if limit else total

    def by_word(self, query: Sequence[str], places: NDArray[np.intp]) -> WordShares:
        """Compute the scores of the sheets at some positions, separately for each known word."""
        scored_words = ((word, self.among(word, places)) for word in query)
        known = [(word, scored) for word, scored in scored_words if scored.sheets]
        found = [scored for _, scored in known]
        limits = np.array([scored.limit for scored in found], dtype=np.float32)
        shares = np.zeros((len(found), len(places)), dtype=np.float32)
        for row, scored in enumerate(found):
            shares[row, scored.rows] = scored.scores
        total = np.float32(limits.sum()) if found else np.float32(1)
        return WordShares(limits / total, shares / total, tuple(word for word, _ in known))

    def word(self, word: str) -> WordScores:
        """Return the scores of one word in all sheets that have it."""
        return self._words[word]

    def among(self, word: str, places: NDArray[np.intp]) -> WordScores:
        """Return the scores of one word at some positions, each given as its place among these.

        Positions come in any order; -1 is a sheet that is not there.
        """
        return self.word(word).among(places)


class _Part(LexicalScorer):
    def __init__(self, whole: LexicalScorer, places: NDArray[np.intp]) -> None:
        self.formula = whole.formula
        self._count = len(places)
        self._whole = whole
        self._words = KeptWords(
            lambda word: whole.among(word, places), lambda found: len(found.rows), 8_000_000
        )

    def __len__(self) -> int:
        return self._count

    def limit(self, word: str) -> float:
        """Most that a word adds to a score, also one that no sheet of the part has."""
        return self._whole.limit(word)

    def sheets(self, word: str) -> int:
        """Number of all sheets that have a word, also of those outside the part."""
        return self._whole.sheets(word)


_HEADERS = 10  # of a sheet that are named as a reason


class QueryWords:
    """The words of a query, to be found in the names of sheets.

    >>> from sat_retriever.records.sheets import Column
    >>> record = SheetRecord("a#Q1", "Q1", columns=(Column("Net Sales"), Column("Region")))
    >>> QueryWords("Sale in Q1").matched(record)
    (('sale', 'q1'), ('Net Sales',))
    """

    def __init__(self, query: str) -> None:
        self._wanted = frozenset(query_words(query))
        self._forms = [[(form, stem(form)) for form in each] for each in forms(query)]

    def matched(self, record: SheetRecord) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the words that a sheet has, and its headers that share one with the query.

        Words are spelled as in the query, in lower case. At most ten headers are returned, those
        that share most words, in the order of the sheet.
        """
        workbook, sheet, _, folder = sheet_texts(record)
        common = self._wanted.intersection(stems(f"{workbook}\n{sheet}\n{folder}"))
        headers: dict[str, int] = {}  # and the number of words that each shares
        for name in _header_names(record):
            if shared := self._wanted.intersection(stems(name)):
                headers[name] = len(shared)
                common |= shared
        most = set(sorted(headers, key=lambda name: -headers[name])[:_HEADERS])
        return self.spelled(common), tuple(name for name in headers if name in most)

    def spelled(self, found: Set[str]) -> tuple[str, ...]:
        """The words of the query that have some stems, as it spells them, in lower case."""
        own = ([form for form, each in word if each in found] for word in self._forms)
        spelled = dict.fromkeys(each[0] for each in own if each)
        pairs = [word for word in spelled if len(word) == 2 and not word.isascii()]
        # A CJK character that is part of a matched pair adds no information.
        return tuple(x for x in spelled if len(x) > 1 or not any(x in pair for pair in pairs))


def _header_names(record: SheetRecord) -> list[str]:
    tables = [table.columns for table in record.tables] or [record.columns]
    return list(dict.fromkeys(column.name for columns in tables for column in columns))
