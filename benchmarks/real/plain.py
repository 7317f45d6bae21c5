"""Plain parts of a ranking: BM25 over words, an encoder's cosine over a text, and their sum.

Nothing here is this package's: no stems, links, periods or copies. What stays without a figure to
choose it by is as in `models/README.md` beside the data.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

import numpy as np

from benchmarks.real.sources import SheetRows
from sat_retriever.records.tokens import FloatArray

ROWS = CELLS = 12  # of a sheet, and of a row, that an encoder reads
CHARS = 40  # of such a cell
PIECES = 256  # of such a text, with the first and the last
K1, B = 1.2, 0.75
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_STOP = frozenset(
    "a an and are as at be by did do does for from how in is it its many much of on or that the "
    "these this to was were what when where which who with".split()
)
_HEADING = 10  # rows among which the headers are


def words(text: str) -> list[str]:
    """Words of a text, in lower case, without a plural's s.

    >>> words("TotalCO2_by Sectors")
    ['total', 'co2', 'by', 'sector']
    """
    found = re.findall("[a-z0-9]+", _HUMP.sub(" ", text).lower())
    return [word[:-1] if len(word) > 1 and word.endswith("s") else word for word in found]


def name_text(sheet_id: str, rows: SheetRows) -> str:
    """File, tab and twelve headers: the longest of the first ten rows."""
    return _under_names(sheet_id, [max(rows[:_HEADING], key=len)])


def row_text(sheet_id: str, rows: SheetRows) -> str:
    """File, tab and twelve cells of each of the first twelve rows."""
    return _under_names(sheet_id, rows[:ROWS])


def cell_text(sheet_id: str, rows: SheetRows) -> str:
    """File, tab and all cells that were read."""
    return "\n".join([*_names(sheet_id), *(cell for row in rows for cell in row)])


def _under_names(sheet_id: str, rows: SheetRows) -> str:
    lines = (" | ".join(x.replace("_", " ")[:CHARS] for x in row[:CELLS]) for row in rows)
    return " | ".join([*_names(sheet_id), "\n".join(lines)])


def _names(sheet_id: str) -> tuple[str, ...]:
    """File and tab of a sheet; none of a table, which has an id alone.

    >>> _names("a/Sales 2024.xlsx#May"), _names("table-7")
    (('Sales 2024', 'May'), ())
    """
    path, is_sheet, tab = sheet_id.partition("#")
    return (PurePosixPath(path).stem, tab) if is_sheet else ()


def bm25(texts: Sequence[str], questions: Sequence[str]) -> FloatArray:
    """BM25 of every question and text, (q, n); a word counts once a question.

    Source: Robertson and Zaragoza (2009), with the idf of Lucene.
    """
    counts = [Counter(words(text)) for text in texts]
    sizes = np.array([count.total() for count in counts])
    norms = K1 * (1 - B + B * sizes / max(sizes.mean(), 1))
    having: dict[str, list[int]] = defaultdict(list)
    for place, count in enumerate(counts):
        for word in count:
            having[word].append(place)
    scores = np.zeros((len(questions), len(texts)), dtype=np.float32)
    for row, question in zip(scores, questions, strict=True):
        for word in dict.fromkeys(words(question)):
            if word in having and word not in _STOP:
                at = having[word]
                idf = math.log(1 + (len(texts) - len(at) + 0.5) / (len(at) + 0.5))
                often = np.array([counts[place][word] for place in at])
                row[at] += idf * often * (K1 + 1) / (often + norms[at])
    return scores


def scaled(scores: FloatArray) -> FloatArray:
    """Scores (q, n) brought to 0…1 over the texts of each question.

    >>> scaled(np.float32([[1, 3, 2], [5, 5, 5]])).tolist()
    [[0.0, 1.0, 0.5], [0.0, 0.0, 0.0]]
    """
    low, high = scores.min(1, keepdims=True), scores.max(1, keepdims=True)
    found: FloatArray = (scores - low) / np.where(high > low, high - low, 1)
    return found


def cutter(tokenizer: str) -> Callable[[str], str]:
    """Return a function that cuts a text after the word pieces that an encoder has room for.

    Args:
        tokenizer: File of the tokenizer.
    """
    from tokenizers import Tokenizer

    pieces = Tokenizer.from_file(tokenizer)
    pieces.no_truncation()
    pieces.no_padding()

    def cut(text: str) -> str:
        ends = pieces.encode(text, add_special_tokens=False).offsets
        return text[: ends[PIECES - 3][1]] if len(ends) > PIECES - 2 else text

    return cut
