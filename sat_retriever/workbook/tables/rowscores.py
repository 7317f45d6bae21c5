"""Scores of rows as the header of a block: features, weights and their sum."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sat_retriever.workbook.tables.sample import MIN_STEPS, Family, Sample, steps
from sat_retriever.workbook.values.cells import plain_text
from sat_retriever.workbook.values.grid import Value

# Weights, tuned on the tuning part of benchmarks/reading/header_labels.json and on the tuning
# seeds of benchmarks/reading/headers.py.
W_CONTRAST = 1.0
W_FILL = 0.5
W_REPEAT = 0.4
W_LONG = 0.5
W_DATA_ABOVE = 0.45
W_TEXT_ABOVE = 0.03
W_NOTHING_BELOW = 0.5
THRESHOLD = 0.20  # least score of a header
CLEAR = 0.50  # least score of a header inside a table that has already begun

NEARLY = 0.20  # largest deficit of an earlier row against the best score, in a table of texts only
# Number of first non-empty rows of a block that are searched for its header.
MAX_HEADER_POSITION = 30
YEAR_OVER_NUMBERS = 0.8
DATE_OVER_NUMBERS = 0.9
DATE_ALONE = -0.3
CODE_OVER_NUMBERS = 0.7
NUMBER_OVER_NUMBERS = -1.0
NUMBER_OVER_UNKNOWN = -0.5
# Share of a number that a formula without a saved value counts as below words or years.
UNKNOWN_IS_NUMBER = 0.7
LONE_HEADER = 0.3
MAX_DATA_ABOVE = 2.0
# Share of a note, rather than data, that a code or address above a row counts as.
CODE_IS_TEXT = 0.5
STEPS_BELOW = 5
LABELLED_BELOW = 2  # number of rows right below formula headings that must each have a label
WIDE_BELOW = 12

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]
Families = NDArray[np.uint8]
MAX_LABEL = 60  # most characters of a text that can be one of several headers or keys
MAX_TEXT_STYLE = 0.6
MIN_ALIKE = 3
MIN_REPEATED = 4

_DIGIT = re.compile(r"\d")


def best_header(sample: Sample) -> tuple[int, float]:
    """The sampled row that is most likely the header's last row, and its score."""
    scores = row_scores(sample, min(len(sample.rows), MAX_HEADER_POSITION))
    if len(scores) == len(sample.rows) and not _is_all_names(sample, len(scores) - 1):
        scores[-1] -= W_NOTHING_BELOW
    best = max(range(len(scores)), key=scores.__getitem__)
    best = _first_of_lists(sample, scores, best)
    return best, scores[best]


def _first_of_lists(sample: Sample, scores: Sequence[float], best: int) -> int:
    """The header row if the best row is amid columns of texts only; else the best row.

    In such columns only wording distinguishes a header, and wording is unreliable if few texts
    are below. So an earlier row with nearly the same score is preferred if it is as full and
    not part of one header with the best row.
    """
    words = np.asarray((sample.families <= Family.WORDS).all(axis=1))
    names = sample.filled.sum(axis=1).tolist()
    first = best
    while first and names[first - 1] >= max(names[best], 2) and words[first - 1]:
        first -= 1
    if not words[best:].all():
        return best
    enough = max(THRESHOLD, scores[best] - NEARLY)
    return next((row for row in range(first, best - 1) if scores[row] >= enough), best)


def _is_all_names(sample: Sample, row: int) -> bool:
    """True if a row is the only one and has only words: an empty template."""
    families = sample.families[row]
    return len(sample.rows) == 1 and bool((families[families > 0] == Family.WORDS).all())


def row_scores(sample: Sample, stop: int) -> list[float]:
    """Header scores of the first `stop` sampled rows, each with the rows below as its data.

    A score is the mean contrast of the row's cells with the columns below them, plus the share of
    data columns that the row names, minus penalties for repeated names, long names, and rows
    above that look like data. A score of `THRESHOLD` or more means a header.
    """
    stepping = [steps(line) for line in sample.values[: stop + STEPS_BELOW]]
    filled, data = sample.filled[:stop], sample.below[1:, 1 : stop + 1].sum(axis=0) > 0
    widths = (filled | data).sum(axis=1).tolist()
    header_steps = np.array(_header_steps(sample, stepping, stop))[:, None]
    headings = np.array([are_formula_headings(sample, row) for row in range(stop)])[:, None]
    families = _with_years(sample.families[:stop], header_steps, headings)
    header_steps = np.where(headings, 1.0, header_steps)
    fills = _fills(filled & (families != Family.UNKNOWN), data)
    above = _data_above(sample, stepping, stop)
    contrasts = _contrasts(sample, families, header_steps).tolist()
    empty_or_lone = _are_empty_or_lone(sample, stop)
    scores = []
    for row in range(stop):
        if empty_or_lone[row]:
            scores.append(-1.0)
            continue
        texts = sample.texts(row)
        scores.append(
            W_CONTRAST * sum(contrasts[row]) / widths[row]
            + W_FILL * (fills[row] - 0.5)
            - W_REPEAT * _repeats(texts)
            - W_LONG * _long(texts)
            - above[row]
        )
    return scores


def _are_empty_or_lone(sample: Sample, stop: int) -> list[bool]:
    """For each row, True if it is empty or a single cell in the first column above wider rows."""
    counts = sample.filled[:stop].sum(axis=1).tolist()
    wide = ((sample.families > 0).sum(axis=1) > 1).tolist()
    found = []
    for row, count in enumerate(counts):
        below = wide[row + 1 : row + 1 + WIDE_BELOW]
        lone = count == 1 and bool(sample.filled[row, 0]) and bool(below)
        found.append(count == 0 or (lone and 2 * sum(below) >= len(below)))
    return found


def are_formula_headings(sample: Sample, row: int) -> bool:
    """True if a row has only formulas of unknown value, perhaps years, over labelled rows.

    The row itself has no label, and each of the rows right below has one.
    """
    line, following = sample.families[row], sample.families[row + 1 : row + 1 + LABELLED_BELOW]
    filled = line > 0
    if line[0] or filled.sum() < MIN_STEPS or not (line[filled] == Family.UNKNOWN).all():
        return False
    labelled = len(following) > 0 and bool((following[:, 0] == Family.WORDS).all())
    return labelled and 2 * int((filled & (following[0] > Family.WORDS)).sum()) >= filled.sum()


def _with_years(families: Families, header_steps: Matrix, headings: Mask) -> Families:
    """Families with likely years as numbers: formulas right of years, and rows of headings."""
    behind = (families == Family.NUMBER).cumsum(axis=1) > 0
    years = (behind & (header_steps >= 1.0)) | headings
    years &= families == Family.UNKNOWN
    return np.where(years, np.uint8(Family.NUMBER), families)


def _contrasts(sample: Sample, families: Families, row_steps: Matrix) -> Matrix:
    """Contrast of each cell of the first rows with the cells below it; 0 for an empty cell.

    `families` are those of the rows, (rows, cols); `row_steps` are their `steps`, (rows, 1).
    """
    stop = len(families)
    below = sample.below[:, 1 : stop + 1]
    total = below[1:].sum(axis=0)
    shares = below / np.maximum(total, 1)
    words, unknown = shares[Family.WORDS], shares[Family.UNKNOWN]
    numbers = shares[Family.NUMBER] + UNKNOWN_IS_NUMBER * unknown
    are_words, over_any = families == Family.WORDS, total > 0
    styles = _styles(sample, are_words & (words > 0))
    years = YEAR_OVER_NUMBERS * row_steps * (numbers + 0.7 * words)
    plain = NUMBER_OVER_NUMBERS * shares[Family.NUMBER] - 0.3 * words
    plain += NUMBER_OVER_UNKNOWN * unknown
    dates = DATE_OVER_NUMBERS * numbers
    by_family = {
        Family.WORDS: 1.0 - words - (1 - UNKNOWN_IS_NUMBER) * unknown + words * styles,
        Family.NUMBER: np.where(row_steps > 0, years, plain),
        Family.BOOLEAN: np.full(total.shape, -0.8),
        Family.DATE: np.where(_date_series(sample, stop), dates, DATE_ALONE)
        - 0.8 * shares[Family.DATE],
        Family.CODE: CODE_OVER_NUMBERS * numbers + 0.3 * words - 0.4 * shares[Family.CODE],
    }
    contrasts = np.zeros(total.shape)
    for family, values in by_family.items():
        np.copyto(contrasts, values, where=(families == family) & over_any)
    alone = np.where(are_words, LONE_HEADER, np.where(row_steps > 0, 0.0, -LONE_HEADER))
    known = (families > 0) & (families != Family.UNKNOWN)
    np.copyto(contrasts, alone, where=known & ~over_any)
    return contrasts


def _styles(sample: Sample, wanted: Mask) -> Matrix:
    styles = np.zeros(wanted.shape)
    for col in np.flatnonzero(wanted.any(axis=0)).tolist():
        rows = set(wanted[:, col].nonzero()[0].tolist())
        for row, style in text_styles([line[col] for line in sample.values], rows).items():
            styles[row, col] = style
    return styles


def _header_steps(sample: Sample, stepping: Sequence[float], stop: int) -> list[float]:
    """`steps` of each row; 0 if the rows right below step in the same way."""
    found = []
    for row, own in enumerate(stepping[:stop]):
        first = sample.values[row][0]
        titled = own >= 1.0 or first is None or isinstance(first, str)
        following = stepping[row + 1 : row + 1 + STEPS_BELOW]
        same = sum(each >= own for each in following)
        found.append(own if titled and 2 * same < max(len(following), 1) else 0.0)
    return found


def _date_series(sample: Sample, stop: int) -> Mask:
    """Mask (rows, 1) of rows with two dates or more, most of them in order; one date is data."""
    found = np.zeros((stop, 1), dtype=np.bool_)
    dated = sample.families[:stop] == Family.DATE
    for row in np.flatnonzero(dated.sum(axis=1) > 1).tolist():
        line = sample.values[row]
        texts = [plain_text(line[col]) for col in np.flatnonzero(dated[row]).tolist()]
        up = sum(after > before for before, after in pairwise(texts))
        down = sum(after < before for before, after in pairwise(texts))
        found[row] = max(up, down) >= len(texts) - 1 - len(texts) // 10
    return found


def _fills(filled: Mask, data: Mask) -> list[float]:
    """Share of the data columns that each row names; an unnamed first one costs nothing."""
    named = (filled & data).sum(axis=1).tolist()
    full = data.sum(axis=1).tolist()
    first = filled[np.arange(len(data)), data.argmax(axis=1)].tolist()
    return [
        names / max(columns - (not start and columns > 1), 1) if columns else 1.0
        for names, columns, start in zip(named, full, first, strict=True)
    ]


def _repeats(texts: Sequence[str]) -> float:
    """Share of a row's texts that repeat another; 0 for a regular pattern such as #, %, #, %."""
    if len(set(texts)) == len(texts):
        return 0.0
    times = Counter(texts)
    if len(times) > 1 and len(set(times.values())) == 1:
        return 0.0
    return 1.0 - len(times) / len(texts)


def _long(texts: Sequence[str]) -> float:
    return sum(len(text) > MAX_LABEL for text in texts) / len(texts) if texts else 0.0


def _data_above(sample: Sample, stepping: Sequence[float], stop: int) -> list[float]:
    """Each row's penalty for the rows above: strong for data, slight for other full rows."""
    counts = (sample.families > 0).sum(axis=1).tolist()
    codes = (sample.families == Family.CODE).sum(axis=1)
    values = ((sample.families > Family.WORDS).sum(axis=1) - CODE_IS_TEXT * codes).tolist()
    penalties, penalty = [], 0.0
    for row in range(stop):
        penalties.append(min(penalty, MAX_DATA_ABOVE))
        if counts[row] >= min(2, len(sample.cols)):
            share = 0.0 if stepping[row] else values[row] / counts[row]
            penalty += max(W_DATA_ABOVE * min(1.0, 2.0 * share), W_TEXT_ABOVE)
    return penalties


def text_styles(column: Sequence[Value], rows: Collection[int]) -> dict[int, float]:
    """Contrast of the cells at `rows` with the texts below each, in [-1, 0.6], by row.

    Headers do not recur below; data repeats itself, has digits, or is longer. The column is
    read once from the bottom up, so that the cost does not grow with the number of rows.
    """
    styles: dict[int, float] = {}
    below = _Below()
    for row in range(len(column) - 1, min(rows, default=len(column)) - 1, -1):
        value = column[row]
        if row in rows:
            styles[row] = below.style(str(value).strip())
        if isinstance(value, str) and (text := value.strip()):
            below.add(text)
    return styles


@dataclass(slots=True)
class _Below:
    texts: set[str] = field(default_factory=set)
    cases: set[str] = field(default_factory=set)
    openings: Counter[str] = field(default_factory=Counter)
    length: int = 0
    count: int = 0
    with_digits: int = 0

    def add(self, text: str) -> None:
        self.texts.add(text)
        self.cases.add(text_case(text))
        self.openings[_opening(text)] += 1
        self.length += len(text)
        self.count += 1
        self.with_digits += _DIGIT.search(text) is not None

    def style(self, head: str) -> float:
        if not self.count:
            return MAX_TEXT_STYLE
        if not head or head in self.texts:
            return -1.0
        style = 0.05
        if self.count >= MIN_REPEATED and len(self.texts) <= 0.7 * self.count:
            style += 0.4
        mean_length = self.length / self.count
        if mean_length > 1.6 * len(head):
            style += 0.2
        if 2 * self.with_digits >= self.count and not _DIGIT.search(head):
            style += 0.35
        if text_case(head) not in self.cases:
            style += 0.25
        if len(head) > max(MAX_LABEL, 2.5 * mean_length):
            style -= 0.4
        if self.count >= MIN_ALIKE and 2 * self.openings[_opening(head)] >= self.count:
            style -= 0.6
        return min(style, MAX_TEXT_STYLE)


def _opening(text: str) -> str:
    return text.split(maxsplit=1)[0] if text[0].isalnum() else text[0]


def text_case(text: str) -> str:
    """Letter case of a text, with the separator of its words as a prefix."""
    joint = "_" if "_" in text else "." if "." in text.strip(".") else " " if " " in text else ""
    if text.isupper():
        return joint + "upper"
    if text.islower():
        return joint + "lower"
    return joint + ("title" if text[0].isupper() else "mixed")
