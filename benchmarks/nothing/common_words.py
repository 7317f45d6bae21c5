"""Make the list of common English words that `sat_retriever.text.lexical` reads.

    pip install wordfreq && python -m benchmarks run common_words

The frequencies are those of `wordfreq` (Robyn Speer; data under CC BY-SA 4.0). The frequencies of
words with the same stem are added up; the list has the 3,000 commonest stems, a line for each
tenth of the logarithm.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.results import ROOT
from sat_retriever.text.segment import stem

LIST = ROOT / "sat_retriever" / "text" / "common_words.txt"
_STEMS = 3_000
_WORDS = 20_000  # words that are read; rarer ones change no stem of the list by a tenth
_HEAD = """# Common English stems by Zipf value: log10 of their occurrences in a billion words.
# Derived from the data of wordfreq (Robyn Speer), https://github.com/rspeer/wordfreq, under
# CC BY-SA 4.0, as is this file; made by `python -m benchmarks run common_words`.
"""


def common_words(frequencies: Mapping[str, float], most: int = _STEMS) -> str:
    """Return the list as text.

    Args:
        frequencies: Share of each word in all text, in [0, 1].
        most: Number of stems that are kept.

    >>> print(common_words({"of": 0.001, "years": 2e-6, "year": 2e-6})[len(_HEAD):])
    6.0 of
    3.6 year
    <BLANKLINE>
    """
    shares: dict[str, float] = defaultdict(float)
    for word, share in frequencies.items():
        shares[stem(word)] += share
    commonest = sorted(shares, key=lambda word: (-shares[word], word))[:most]
    steps: dict[str, list[str]] = defaultdict(list)
    for word in commonest:
        steps[f"{math.log10(shares[word] * 1e9):.1f}"].append(word)
    return _HEAD + "".join(f"{zipf} {' '.join(words)}\n" for zipf, words in steps.items())


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=LIST)
    options = parser.parse_args(arguments)
    try:
        from wordfreq import top_n_list, word_frequency
    except ImportError:
        parser.error("wordfreq is missing; install it: pip install wordfreq")
    words = [word for word in top_n_list("en", _WORDS) if word.isalpha()]
    frequencies = {word: word_frequency(word, "en") for word in words}
    options.out.write_text(common_words(frequencies), encoding="utf-8")
