"""Recognition of transposed tables, whose first column is the header."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sat_retriever.workbook.tables.margins import is_note
from sat_retriever.workbook.tables.rowscores import MAX_LABEL, THRESHOLD, row_scores, text_case
from sat_retriever.workbook.tables.sample import Family, Sample

# Least excess of purity across over purity down at which a first column beats a header row.
MIN_PURITY_GAIN = 0.2
PURITY_SLACK = 0.05
FORM_COLON = 0.5  # score for a colon after every key
MIN_COLONS = 0.6
MIN_WORDS = 0.9
MAX_FORM_PURITY = 0.85
MIN_REPEATS = 5
REPEATING = 0.7  # largest share of distinct texts in a column that repeats itself
MAX_STAND_INS = 4  # most texts of a row that stand for missing values; more of them are a field
CLOSER = 0.8  # most spread of sizes within fields, as a share of that across them
FULL = 0.5  # least cells of a first full row, as a share of those of the widest
MAX_FORM_ROWS = 60
LIST_SHARE = 0.6  # least share of numbers or dates in the second column of a list of names
# Headers of a column of values beside one of keys. A form of keys and values has no such header,
# and nothing else tells the two apart.
_VALUE_WORDS = frozenset(
    """
    value values wert werte valeur valeurs valor valores valore valori waarde wartość hodnota
    hodnoty érték värde værdi verdi arvo valoare vrijednost vrednost стойност значение значення
    τιμή değer 值 数值 値 값 मान القيمة ערך nilai
    content contents setting entry answer detail details inhalt angabe eintrag contenu contenido
    contenuto inhoud
    """.split()
)


def sideways_score(sample: Sample, best: int, best_score: float) -> float | None:
    """Header score of the first column; None if it is not the header.

    It must have only short, distinct words. It beats a header row if its keys end with colons,
    or if kinds are much purer across than down. Without a header row, it suffices that they are
    no less pure.
    """
    texts = _labels(sample)
    if texts is None or (len(sample.cols) == 2 and _heads_values(sample)):
        return None
    turned = sample.turned()
    colons = sum(text.endswith((":", "：")) for text in texts) / len(texts)
    score = row_scores(turned, 1)[0] + FORM_COLON * colons
    if colons >= MIN_COLONS or (len(sample.cols) == 2 and _is_form(sample)):
        return max(score, THRESHOLD)
    if _is_list(sample) if len(sample.cols) == 2 else _has_header(sample, best, best_score):
        return None
    if best_score >= THRESHOLD:
        regular = sample.kept(_regular(sample))
        gain = _purity(turned, 0) - _purity(regular, _first_full(regular))
        return score if gain > MIN_PURITY_GAIN else None
    if _has_categories(sample) or _purity(turned, 0) < _purity(sample, 0) - PURITY_SLACK:
        return None
    return score


def _labels(sample: Sample) -> list[str] | None:
    """Texts of the first column if they can be headers: short, distinct words; else None."""
    rows, cols = len(sample.rows), len(sample.cols)
    texts = [v.strip() for line in sample.values if isinstance(v := line[0], str)]
    if cols < 2 or rows < 2 or len(texts) < rows or rows > MAX_FORM_ROWS:
        return None
    if len(set(texts)) < rows or max(map(len, texts)) > MAX_LABEL:
        return None
    words = int((sample.families[:, 0] == Family.WORDS).sum())
    return texts if words >= MIN_WORDS * rows else None


def _is_list(sample: Sample) -> bool:
    """True if a name stands over a second column that is mostly numbers, or mostly dates.

    Fields of one record have values of several kinds.
    """
    counts = sample.likely(1)[:, 1]
    most = int(counts[1:].max())
    listed = most >= LIST_SHARE * int(counts.sum()) and most == int(counts[1:].sum())
    named = sample.families[0, 1] == Family.WORDS and not is_note(str(sample.values[0][1]))
    return named and listed


def _heads_values(sample: Sample) -> bool:
    """True if the second column is headed by a word for "value", over keys and their values."""
    head = sample.values[0][1]
    return isinstance(head, str) and head.strip().casefold() in _VALUE_WORDS


def _regular(sample: Sample) -> list[int]:
    """Places of rows without those whose values are all words that stand for a missing one.

    Such words recur, or are written small or in capitals, unlike the names in the first full row:
    "closed", "sold out", "TBD".
    """
    top = _first_full(sample)
    names = zip(sample.values[top], sample.families[top].tolist(), strict=True)
    cases = {_letters(str(name)) for name, family in names if family == Family.WORDS}
    unlike = {"lower", "upper"} - cases
    keep = []
    for row, line in enumerate(sample.values):
        said = sample.texts(row)[1:]
        words = bool((sample.families[row, 1:] <= Family.WORDS).all()) and len(said) > 1
        recurring = len(set(said)) < min(len(said), MAX_STAND_INS)
        stand_in = words and (recurring or set(map(_letters, said)) <= unlike)
        if not stand_in or row <= top or not isinstance(line[0], str):
            keep.append(row)
    return keep if 2 * len(keep) > len(sample.values) else list(range(len(sample.values)))


def _letters(text: str) -> str:
    return text_case(text.strip()).lstrip("_. ")


def _has_header(sample: Sample, best: int, best_score: float) -> bool:
    """True if a header row has been found, and rows do not differ as fields do.

    Fields have values of several kinds, or several have words, or one has many, or their numbers
    differ in size. Any other table of numbers with one row of words is one in which a record has no
    numbers. A row that is no header may stand above the one that has been found.
    """
    if best_score < THRESHOLD:
        return False
    kinds = [set(line[line > 0].tolist()) for line in sample.families[:, 1:]]
    pure = {row: kind.pop() for row, kind in enumerate(kinds) if len(kind) == 1 and (row or best)}
    values = {kind for kind in pure.values() if kind > Family.WORDS}
    said = [sample.texts(row)[1:] for row, kind in pure.items() if row and kind == Family.WORDS]
    if any(len(set(texts)) > MAX_STAND_INS for texts in said):
        return False
    words = len(said)
    alike = len(values) < 2 and words < 2 and 2 * words < sum(row > 0 for row in pure)
    return alike and not (words and _differ_in_size(sample))


def _differ_in_size(sample: Sample) -> bool:
    """True if the numbers of a row are much closer to each other than those of a column."""
    numbers = np.zeros(sample.families.shape)
    for row, col in np.argwhere(sample.families == Family.NUMBER).tolist():
        value = sample.values[row][col]
        numbers[row, col] = value if isinstance(value, (int, float)) else 0.0
    known = np.isfinite(numbers) & (numbers != 0)
    sizes = np.log(np.abs(np.where(known, numbers, 1.0)))
    across, down = _spread(sizes, known), _spread(sizes.T, known.T)
    return across is not None and down is not None and across <= CLOSER * down


def _spread(sizes: NDArray[np.float64], known: NDArray[np.bool_]) -> float | None:
    """Mean standard deviation of the known sizes in each line with two of them; None without."""
    lines = [line[held] for line, held in zip(sizes, known, strict=True) if held.sum() > 1]
    return float(np.mean([line.std() for line in lines])) if lines else None


def _is_form(sample: Sample) -> bool:
    """True if the second of two columns starts with a value and has mixed kinds."""
    counts = sample.likely(1)[:, 1]
    mixed = int(counts.max()) < MAX_FORM_PURITY * int(counts.sum())
    return mixed and int(sample.families[0, 1]) > Family.WORDS


def _has_categories(sample: Sample) -> bool:
    """True if a column of texts right of the first one repeats itself, as in records."""
    for col in range(1, len(sample.cols)):
        texts = [value for value in sample.column(col, 0) if isinstance(value, str)]
        if len(texts) >= MIN_REPEATS and len(set(texts)) <= REPEATING * len(texts):
            return True
    return False


def _first_full(sample: Sample) -> int:
    """The first sampled row with two filled cells or more, and half as many as the widest."""
    filled = (sample.families > 0).sum(axis=1)
    return int((filled >= max(2, FULL * int(filled.max()))).argmax())


def _purity(sample: Sample, header: int) -> float:
    """Mean share of the commonest family in each column except the first, below a row."""
    counts = sample.likely(header + 1)[:, 1:]
    totals = counts.sum(axis=0)
    if not (totals > 0).any():
        return 1.0
    return float((counts.max(axis=0)[totals > 0] / totals[totals > 0]).mean())
