"""What a corpus is to be, and what it has become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

WORKBOOKS = "workbooks"
"""Folder of the workbooks below the corpus's own."""

SynthProgress = Callable[[str, int, int], None]
"""Called with what is being made, how many are done, and of how many (0: unknown)."""


@dataclass(frozen=True, slots=True)
class SynthOptions:
    """What to make. Equal options give equal bytes.

    Attributes:
        scale: "small" (20 to 40 workbooks), "paper-614", "paper-1k", or a number of visible
            sheets.
        seed: Of everything random.
        companies: Number of simulated companies; a corpus too large for them has more.
        years: Years covered: "2019-2026", "2024" or "2019,2021".
        queries: Number of labelled queries; None for the scale's own.
        vocabulary: Folder of word files that replace those of the same name; None for none.
        language: Language of titles, headers and values, for example "de".
        translations: Folder of translations into it, `<language>.json`; None for the
            packaged ones alone.
        translator: Ollama model that translates what is in no file, and without which that
            stays English; its answers are added to `translations`. Empty for none.
        paraphrase: Ollama model that says queries in other words; empty for none.
    """

    scale: str = "small"
    seed: int = 0
    companies: int = 18
    years: str = "2019-2026"
    queries: int | None = None
    vocabulary: Path | None = None
    language: str = "en"
    translations: Path | None = None
    translator: str = ""
    paraphrase: str = ""


@dataclass(frozen=True, slots=True)
class SynthReport:
    """What was made.

    Attributes:
        workbooks: Number of workbooks.
        sheets: Number of sheets, hidden ones too.
        hidden: Number of hidden sheets; a scale counts the others.
        categories: Sheets by category.
        conventions: Sheets by naming convention.
        links: Links by type.
        queries: Queries by type.
        pairs: Rows of `train.json`.
        seconds: Time taken.
    """

    workbooks: int
    sheets: int
    hidden: int
    categories: Mapping[str, int]
    conventions: Mapping[str, int]
    links: Mapping[str, int]
    queries: Mapping[str, int]
    pairs: int
    seconds: float
