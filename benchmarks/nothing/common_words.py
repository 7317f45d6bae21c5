"""Make the list of common English words that `sat_retriever.text.rarity` reads.

    python -m benchmarks run common_words --counts unigrams.txt

The counts are Peter Norvig's, of the Google Web Trillion Word Corpus (MIT licence): lines of a
word, a tab and its number. The package `wordsegment` has them as `unigrams.txt`, as the page
https://norvig.com/ngrams has them as `count_1w.txt`. The counts of words with the same stem are
added up; the list has the 3,000 commonest stems, a line for each tenth of the logarithm.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.results import ROOT
from sat_retriever.text.segment import stem

LIST = ROOT / "sat_retriever" / "text" / "common_words.txt"
_STEMS = 3_000
_COUNTED = 1.024908267229e12  # words of that corpus
_HEAD = """# Common English stems by Zipf value: log10 of their occurrences in a billion words.
# From the counts of the Google Web Trillion Word Corpus by Peter Norvig (MIT licence),
# https://norvig.com/ngrams; made by `python -m benchmarks run common_words`.
"""


def common_words(lines: Iterable[str], most: int = _STEMS) -> str:
    r"""The list, as text.

    Args:
        lines: Words and their counts, separated by a tab.
        most: Number of stems that are kept.

    >>> print(common_words(["of\t1024908267", "years\t2000000", "year\t2000000"])[len(_HEAD):])
    6.0 of
    3.6 year
    <BLANKLINE>
    """
    counts: dict[str, float] = defaultdict(float)
    for line in lines:
        word, _, count = line.partition("\t")
        counts[stem(word)] += float(count)
    commonest = sorted(counts, key=lambda word: (-counts[word], word))[:most]
    steps: dict[str, list[str]] = defaultdict(list)
    for word in commonest:
        steps[f"{math.log10(counts[word] / _COUNTED * 1e9):.1f}"].append(word)
    return _HEAD + "".join(f"{zipf} {' '.join(words)}\n" for zipf, words in steps.items())


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--counts", type=Path, required=True, help="words and their counts")
    parser.add_argument("--out", type=Path, default=LIST)
    options = parser.parse_args(arguments)
    with options.counts.open(encoding="utf-8") as lines:
        options.out.write_text(common_words(lines), encoding="utf-8")
