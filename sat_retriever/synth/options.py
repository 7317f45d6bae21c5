"""The options of a corpus, and the report about a made corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

WORKBOOKS = "workbooks"
"""The folder of the workbooks in the corpus's folder."""

SynthProgress = Callable[[str, int, int], None]
"""A function called with the stage, the number done, and the total (0 if unknown)."""


@dataclass(frozen=True, slots=True)
class SynthOptions:
    """The options of a corpus. Equal options give equal bytes.

    Attributes:
        scale: "small" (20 to 40 workbooks), "paper-614", "paper-1k", or a number of visible
            sheets.
        companies: Number of simulated companies; a corpus too large for them uses more.
        years: Years covered: "2019-2026", "2024" or "2019,2021".
        queries: Number of labelled queries; None for the scale's default.
        vocabulary: Folder of word files that replace packaged files of the same name; or None.
        language: Language of titles, headers and values, for example "de".
        translations: Folder of translations into it, `<language>.json`; None for the
            packaged ones alone.
        translator: Model for texts without a translation, which otherwise stay English;
            its answers are added to `translations`. Empty for none.
        paraphrase: Model that rewords queries, "ollama:MODEL" or "openai:MODEL"; empty for none.
        asks: Shares of the queries about contents, "value=.2,note=.1" or one share for all kinds.
            If given, workbooks get notes, captions, codes, made names and documentation, which
            stay English. Empty for none: queries are about names, headers, periods and links.
        histories: Number of workbooks that are written again below `histories/`: in versions,
            copies and weekly exports, or in series and forms that only look like copies.
        answers: Number of questions whose SQL and answer are told. If given, some sheets get a
            column of amounts with units. 0 for none.
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
    asks: str = ""
    histories: int = 0
    answers: int = 0


@dataclass(frozen=True, slots=True)
class SynthReport:
    """The contents of a made corpus.

    Attributes:
        hidden: Number of hidden sheets; a scale counts only the others.
        answers: Questions with their SQL and answer, by kind.
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
    answers: Mapping[str, int] = field(default_factory=dict)
