"""Encodings of delimited files: is every text read as it was written?

    python -m benchmarks run encodings [--show]

Tables of 17 languages (headers, names, places, numbers) in the encodings that programs save them
in: as they are, their first two lines alone, and behind 100 KiB of lines without a letter that
tells the encoding. The decoded text is compared exactly. Half of the languages were held out: the
detection was written and tuned without a look at its results on them.
"""

from __future__ import annotations

import argparse
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console

from benchmarks.results import Result, write_result
from sat_retriever.workbook.opening.encoding import find_encoding

BENCHMARK = "encodings"
_TABLES = Path(__file__).with_name("encoded_tables.json")
_PLAIN_LINES = 4_000
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


def judged(sample: Sample) -> str:
    """Return "right", "unsure" if the text is wrong and told as unsure, else "wrong"."""
    content = sample.text.encode(sample.codec)
    found = find_encoding(io.BytesIO(content))
    if content.decode(found.name, errors="replace") == sample.text:
        return "right"
    return "wrong" if found.sure else "unsure"


def main(arguments: Sequence[str]) -> None:
    """Judge all samples and write the result.

    Args:
        arguments: Options of the command line.
    """
    parser = argparse.ArgumentParser(prog="encodings", description=__doc__)
    parser.add_argument("--show", action="store_true", help="print what is not right")
    shown = parser.parse_args(arguments).show
    console = Console()
    for held_out in (False, True):
        counts, rows = Counter[str](), []
        for number, sample in enumerate(samples()):
            if sample.held_out is not held_out:
                continue
            verdict = judged(sample)
            counts[verdict] += 1
            rows.append({"sample": number, "right": int(verdict == "right")})
            if shown and verdict != "right":
                console.print(verdict, sample.language, sample.codec, sample.length)
        total = counts.total()
        metrics = {
            "samples": total,
            "right": counts["right"],
            "wrong_told_unsure": counts["unsure"],
            "wrong": counts["wrong"],
            "right_share": round(counts["right"] / total, 4),
        }
        split = "held_out" if held_out else "development"
        console.print(split, metrics)
        result = Result("sat-retriever", "encoded_tables", metrics, split, per_query=rows)
        write_result(BENCHMARK, result, data=[_TABLES])
