"""Encodings of delimited files: is every text read as it was written?

    python -m benchmarks run encodings [--show]

Tables of 17 languages (headers, names, places, numbers) in the encodings that programs save them
in: as they are, their first two lines alone, and behind 100 KiB of lines without a letter that
tells the encoding. The decoded text is compared exactly. Half of the languages were held out: no
rule was made or changed for a result on them. Beside it stand charset-normalizer and chardet, if
they are installed.
"""

from __future__ import annotations

import importlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.workbook.opening.encoding import Encoding, find_encoding

_TABLES = Path(__file__).with_name("encoded_tables.json")
_PLAIN_LINES = 6_000
_CONFIDENT = 0.5
Length = Literal["lines", "table", "late"]
LENGTHS: tuple[Length, ...] = ("lines", "table", "late")


@dataclass(frozen=True, slots=True)
class Sample:
    """A text in an encoding.

    Attributes:
        language: Its language.
        codec: The encoding.
        length: Two lines of the table, the table, or the table behind many plain lines.
        text: The text.
        held_out: True if the detection was made without it.
    """

    language: str
    codec: str
    length: Length
    text: str
    held_out: bool


def samples() -> Iterator[Sample]:
    """Yield the samples; those far behind and those of two lines for the first codec alone."""
    for language, told in json.loads(_TABLES.read_text(encoding="utf-8")).items():
        separator = told["separator"]
        lines = [separator.join(row) + "\r\n" for row in told["rows"]]
        plain = (separator.join(("A", "plain", str(n), "0")) + "\r\n" for n in range(_PLAIN_LINES))
        texts: dict[Length, str] = {
            "lines": "".join(lines[:2]),
            "table": "".join(lines),
            "late": "".join([*plain, *lines[1:]]),
        }
        for number, codec in enumerate(told["codecs"]):
            for length in LENGTHS if number == 0 else LENGTHS[1:2]:
                yield Sample(language, codec, length, texts[length], told["held_out"])


def ours(content: bytes) -> Encoding:
    """Return the encoding as the reader of delimited files finds it."""
    return find_encoding(io.BytesIO(content))


def charset_normalizer(content: bytes) -> Encoding:
    """Return the best guess of charset-normalizer, which tells no doubts."""
    best = importlib.import_module("charset_normalizer").from_bytes(content).best()
    return Encoding(best.encoding if best else "cp1252")


def chardet(content: bytes) -> Encoding:
    """Return the guess of chardet, unsure below a confidence of .5."""
    found = importlib.import_module("chardet").detect(content)
    return Encoding(found["encoding"] or "cp1252", found["confidence"] >= _CONFIDENT)


METHODS: Mapping[str, Callable[[bytes], Encoding]] = {
    "sat-retriever": ours,
    "charset_normalizer": charset_normalizer,
    "chardet": chardet,
}


def judged(sample: Sample, method: Callable[[bytes], Encoding]) -> str:
    """Return "right", "unsure" if the text is wrong and told as unsure, else "wrong"."""
    content = sample.text.encode(sample.codec)
    found = method(content)
    if content.decode(found.name, errors="replace") == sample.text:
        return "right"
    return "wrong" if found.sure else "unsure"


@suite("encodings", show=option(False, "print what is not right"))
def main(options: Options) -> Iterator[Result]:
    """Judge all samples by each detector that is installed, half of the languages by half."""
    for name, method in METHODS.items():
        if method is not ours and find_spec(name) is None:
            console.print(f"{name} is not installed: not run")
            continue
        for split in ("development", "held_out"):
            counts, rows = Counter[str](), []
            for number, sample in enumerate(samples()):
                if sample.held_out is not (split == "held_out"):
                    continue
                verdict = judged(sample, method)
                counts[verdict] += 1
                rows.append({"sample": number, "right": int(verdict == "right")})
                if options.show and verdict != "right":
                    console.print(verdict, name, sample.language, sample.codec, sample.length)
            metrics = {
                "samples": counts.total(),
                "right": counts["right"],
                "wrong_told_unsure": counts["unsure"],
                "wrong": counts["wrong"],
                "right_share": round(counts["right"] / counts.total(), 4),
            }
            yield Result(name, "encoded_tables", metrics, split, None, rows, data=[_TABLES])
