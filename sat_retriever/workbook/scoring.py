"""How much one row of a block reads like its header: features, weights and their sum."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sat_retriever.workbook.grid import Value
from sat_retriever.workbook.sample import Family, Sample, steps

# Weights, chosen on the tuning part of benchmarks/header_labels.json and on the
# tuning seeds of benchmarks/headers.py.
W_CONTRAST = 1.0
W_FILL = 0.5
W_REPEAT = 0.4
W_LONG = 0.5
W_DATA_ABOVE = 0.45
W_TEXT_ABOVE = 0.03
W_NOTHING_BELOW = 0.5
THRESHOLD = 0.20
"""Score from which a row is a header."""
CLEAR = 0.50
"""Score from which a row is a header even where a table is already going on."""

MAX_HEADER_POSITION = 30
"""Rows of a block, empty ones not counted, among which its header is looked for."""
MAX_LABEL = 60
"""Characters up to which a text can be one of several headers or keys."""
YEAR_OVER_NUMBERS = 0.8
DATE_OVER_NUMBERS = 0.9
CODE_OVER_NUMBERS = 0.7
NUMBER_OVER_NUMBERS = -1.0
LONE_HEADER = 0.3
MAX_TEXT_STYLE = 0.6
MIN_ALIKE = 3

_DIGIT = re.compile(r"\d")


def best_header(sample: Sample) -> tuple[int, float]:
    """The sampled row that reads most like the header's last row, and its score."""
    scores = [row_score(sample, row) for row in range(min(len(sample.rows), MAX_HEADER_POSITION))]
    if len(scores) == len(sample.rows) and not _is_all_names(sample, len(scores) - 1):
        scores[-1] -= W_NOTHING_BELOW
    best = max(range(len(scores)), key=scores.__getitem__)
    return best, scores[best]


def _is_all_names(sample: Sample, row: int) -> bool:
    """Whether a row is the only one and holds words throughout: an empty template."""
    families = sample.families[row]
    return len(sample.rows) == 1 and bool((families[families > 0] == Family.WORDS).all())


def row_score(sample: Sample, row: int) -> float:
    """Header score of a sampled row, with the rows below it as its data.

    The sum of: mean contrast of a column's cell with the column below it; how many
    of the data columns it names; minus repeated names, long names, and rows above
    it that look like data already. Scores from `THRESHOLD` on mean a header.
    """
    filled = [j for j in range(len(sample.cols)) if sample.values[row][j] is not None]
    if not filled or _is_lone(sample, row, filled):
        return -1.0
    number_steps = _header_steps(sample, row)
    contrasts = [cell_contrast(sample, row, col, number_steps) for col in filled]
    return (
        W_CONTRAST * sum(contrasts) / _width(sample, row, filled)
        + W_FILL * (_fill(sample, row) - 0.5)
        - W_REPEAT * _repeats(sample, row)
        - W_LONG * _long(sample, row)
        - _data_above(sample, row)
    )


def _width(sample: Sample, row: int, filled: Sequence[int]) -> int:
    """Columns that this row or the rows below fill."""
    data = sample.below[1:, row + 1].sum(axis=0) > 0
    return int(data.sum()) + sum(not data[col] for col in filled)


def _is_lone(sample: Sample, row: int, filled: Sequence[int]) -> bool:
    """Whether a row is one cell in the first column above rows that hold more."""
    if len(filled) > 1 or filled[0] > 0:
        return False
    below = (sample.families[row + 1 : row + 13] > 0).sum(axis=1)
    return bool(len(below)) and 2 * int((below > 1).sum()) >= len(below)


def cell_contrast(sample: Sample, row: int, col: int, number_steps: float) -> float:
    """Contrast of one header cell with the cells below it, in [-1, 1]."""
    family = int(sample.families[row, col])
    counts = sample.below[:, row + 1, col]
    total = int(counts[1:].sum())
    if not family:
        return 0.0
    if total == 0:
        return LONE_HEADER if family == Family.WORDS else 0.0 if number_steps else -LONE_HEADER
    share = {kind: float(counts[kind]) / total for kind in Family}
    words, numbers = share[Family.WORDS], share[Family.NUMBER]
    match family:
        case Family.WORDS:
            style = text_style(str(sample.values[row][col]), sample.column(col, row + 1))
            contrast = 1.0 - words + words * style
        case Family.CODE:
            contrast = CODE_OVER_NUMBERS * numbers + 0.3 * words - 0.4 * share[Family.CODE]
        case Family.NUMBER if number_steps:
            contrast = YEAR_OVER_NUMBERS * number_steps * (numbers + 0.7 * words)
        case Family.NUMBER:
            contrast = NUMBER_OVER_NUMBERS * numbers - 0.3 * words
        case Family.DATE:
            contrast = DATE_OVER_NUMBERS * numbers - 0.8 * share[Family.DATE]
        case _:
            contrast = -0.8
    return contrast


def text_style(header: str, below: Sequence[Value]) -> float:
    """Contrast of a header text with texts below it, in [-1, 0.6].

    Headers do not come again below; data repeats itself, has digits, or is longer.
    """
    texts = [text for value in below if isinstance(value, str) and (text := value.strip())]
    if not texts:
        return MAX_TEXT_STYLE
    head = header.strip()
    if not head or head in texts:
        return -1.0
    style = 0.05
    if len(texts) >= 4 and len(set(texts)) <= 0.7 * len(texts):
        style += 0.4
    mean_length = sum(map(len, texts)) / len(texts)
    if mean_length > 1.6 * len(head):
        style += 0.2
    if not _DIGIT.search(head) and 2 * sum(bool(_DIGIT.search(t)) for t in texts) >= len(texts):
        style += 0.35
    if _case(head) not in {_case(text) for text in texts}:
        style += 0.25
    if len(head) > max(MAX_LABEL, 2.5 * mean_length):
        style -= 0.4
    if len(texts) >= MIN_ALIKE and 2 * sum(_opening(t) == _opening(head) for t in texts) >= len(
        texts
    ):
        style -= 0.6
    return min(style, MAX_TEXT_STYLE)


def _opening(text: str) -> str:
    """How a text starts: its first word, or the mark in front of it."""
    return text[:1] if text and not text[0].isalnum() else text.split(maxsplit=1)[0]


def _case(text: str) -> str:
    """Letter case of a text: the style of its words, told apart by their joints."""
    joint = "_" if "_" in text else "." if "." in text.strip(".") else " " if " " in text else ""
    if text.isupper():
        return joint + "upper"
    if text.islower():
        return joint + "lower"
    return joint + ("title" if text[:1].isupper() else "mixed")


def _header_steps(sample: Sample, row: int) -> float:
    """`steps` of a row, 0 where the rows right below step in the same way."""
    line = sample.values[row]
    own = steps(line)
    if not own or (own < 1.0 and not (line[0] is None or isinstance(line[0], str))):
        return 0.0
    following = sample.values[row + 1 : row + 6]
    same = sum(steps(line) >= own for line in following)
    return own if 2 * same < max(len(following), 1) else 0.0


def _fill(sample: Sample, row: int) -> float:
    """Share of the data columns below that this row names; a nameless first one is free."""
    data = (sample.below[1:, row + 1].sum(axis=0) > 0).nonzero()[0]
    if not len(data):
        return 1.0
    named = [col for col in data.tolist() if sample.values[row][col] is not None]
    expected = len(data) - (sample.values[row][int(data[0])] is None and len(data) > 1)
    return len(named) / max(expected, 1)


def _repeats(sample: Sample, row: int) -> float:
    """Share of the row's texts that repeat another; 0 for a pattern such as #, %, #, %."""
    texts = sample.texts(row)
    times = Counter(texts)
    if not texts or (len(times) > 1 and len(set(times.values())) == 1):
        return 0.0
    return 1.0 - len(times) / len(texts)


def _long(sample: Sample, row: int) -> float:
    """Share of the row's texts that are too long for a header."""
    texts = sample.texts(row)
    return sum(len(text) > MAX_LABEL for text in texts) / len(texts) if texts else 0.0


def _data_above(sample: Sample, row: int) -> float:
    """Penalty for the rows above: strong for data, slight for other full rows."""
    penalty = 0.0
    for above in range(row):
        families = sample.families[above]
        filled = int((families > 0).sum())
        if filled < min(2, len(sample.cols)):
            continue
        values = int(((families > 0) & (families != Family.WORDS)).sum())
        share = 0.0 if steps(sample.values[above]) else values / filled
        penalty += max(W_DATA_ABOVE * min(1.0, 2.0 * share), W_TEXT_ABOVE)
    return min(penalty, 2.0)
