"""List what users see of a corpus, by section, through the library and the command line."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import sat_retriever
from benchmarks.safety.golden_adapters import adapter_sections
from benchmarks.safety.golden_corpora import ALWAYS, Corpus, sat
from sat_retriever import Content, Filters, Hit, SheetRetriever, hit_text
from sat_retriever.records.grouping import evenly

Section = Callable[[], Sequence[str]]
TODAY = dt.date(2025, 5, 14)
RERANKERS = ("auto", "links", "general", None)
WEIGHTS = (None, 0.0, 1.0)
FILTERS = (
    Filters(path="*a*"),
    Filters(format="xlsx"),
    Filters(visibility=sat_retriever.Visibility.HIDDEN),
    Filters(modified_after=dt.datetime(1980, 1, 1, tzinfo=dt.UTC)),
    Filters(modified_before=dt.datetime(1980, 1, 1, tzinfo=dt.UTC)),
)
_COMMANDS = (
    "", "index", "search", "show", "graph", "mcp", "queries", "bench", "adapt", "status", "synth",
    "train", "train encoder", "train reranker",
)  # fmt: skip
_SHOWN, _FEW, _LISTED = 20, 8, 20
_CHANGING = (  # of a run, not of a corpus
    (re.compile(r'("bytes": )\d+'), r"\1SIZE"),
    (re.compile(r"(?m)^(bytes +)[\d,]+ *$"), r"\1SIZE"),
    (re.compile(r'("[a-z_]*seconds": )[\d.e-]+'), r"\1SECONDS"),
    (re.compile(r"-0\.0(?![\d.])"), "0.0"),
)


def line(value: Any) -> str:
    """Return a value as one line of JSON, floats with six decimals, keys in their order."""
    return json.dumps(_rounded(value), ensure_ascii=False, default=str)


def normalised(text: str, paths: Mapping[Path, str]) -> str:
    """Return a text without parts that differ between machines and runs."""
    for path, name in paths.items():
        text = text.replace(str(path), name)
    for pattern, replacement in _CHANGING:
        text = pattern.sub(replacement, text)
    return text


def interface_sections() -> dict[str, Section]:
    """Return the public names, and the help of every command."""
    work = Path.cwd()
    return {
        "names": lambda: dir(sat_retriever),
        "help": lambda: [sat(work, *name.split(), "--help") for name in _COMMANDS],
    }


def corpus_sections(corpus: Corpus) -> dict[str, Section]:
    """Return all visible sections of one corpus; one without workbooks has no report."""
    return {
        **({"sync": lambda: [line(corpus.report)]} if corpus.has_files else {}),
        **({"made": lambda: _made(corpus)} if corpus.name == "made" else {}),
        "records": lambda: _records(corpus),
        "links": lambda: [line(asdict(link)) for link in corpus.index.all_links()],
        "texts": lambda: _texts(corpus),
        "times": lambda: _times(corpus),
        **{f"hits/{name or 'none'}": _hits_by(corpus, name) for name in RERANKERS},
        "hits/filters": lambda: list(_filtered(corpus)),
        "hits/complete": lambda: list(_complete(corpus)),
        **{
            f"candidates/{'own' if weight is None else weight:.3}": _candidates_by(corpus, weight)
            for weight in WEIGHTS
        },
        **adapter_sections(corpus, TODAY),
        **_command_line(corpus),
    }


def answer(question: str, hits: Sequence[Hit]) -> str:
    """Return a question and its hits in the form of `sat search --json`, a hit a line."""
    return "\n".join([line(question), *(f"  {line(hit.to_dict())}" for hit in hits)])


def _made(corpus: Corpus) -> list[str]:
    """Return the labels of the made corpus; its workbooks are in the records."""
    files = sorted(corpus.folder.glob("*.json"))
    return [f"{file.name}\n{file.read_text(encoding='utf-8')}" for file in files]


def _records(corpus: Corpus) -> list[str]:
    ids = corpus.index.sheet_ids()
    records = corpus.index.records(ids)
    return [line({**asdict(records[sheet]), "citation": records[sheet].citation}) for sheet in ids]


def _texts(corpus: Corpus) -> list[str]:
    """Return some sheets in the forms for language models."""
    ids = evenly(corpus.index.sheet_ids(), _SHOWN)
    records = corpus.index.records(ids)
    forms = (Content("record"), Content("markdown"), Content("html"))
    return [hit_text(corpus.index, records[sheet], form) for sheet in ids for form in forms]


def _times(corpus: Corpus) -> list[str]:
    """Return the periods found in questions, and the notes about their hits."""
    retriever, days = SheetRetriever(corpus.index, None), (TODAY, dt.date(2021, 1, 1))
    return [
        line([asked, str(day), retriever.times(asked, today=day).label,
              retriever.retrieve(asked, 1, today=day).note])
        for asked in corpus.questions
        for day in days
    ]  # fmt: skip


def _hits_by(corpus: Corpus, reranker: str | None) -> Section:
    def hits() -> list[str]:
        retriever = SheetRetriever(corpus.index, reranker)
        return [answer(q, retriever.retrieve(q, 10, today=TODAY)) for q in corpus.questions]

    return hits


def _filtered(corpus: Corpus) -> Iterator[str]:
    retriever = SheetRetriever(corpus.index)
    for asked in evenly(corpus.questions, _FEW):
        for filters in FILTERS:
            found = retriever.retrieve(asked, 5, filters, min_score=0.1, today=TODAY)
            yield answer(f"{asked} {line(asdict(filters))}", found)


def _complete(corpus: Corpus) -> Iterator[str]:
    retriever = SheetRetriever(corpus.index)
    for asked in corpus.questions:
        yield answer(asked, retriever.retrieve_set(asked, today=TODAY))


def _candidates_by(corpus: Corpus, weight: float | None) -> Section:
    """Return a section of the first candidates of all questions, and of all sheets for some."""

    def candidates() -> list[str]:
        index, lines = corpus.index, []
        every = {*ALWAYS, *evenly(corpus.questions, _FEW)}
        for asked in corpus.questions:
            most = len(index) if asked in every else 20
            question = index.question(asked, dense_weight=weight, today=TODAY)
            found = index.candidates(question, most)
            lines += [line(asked), *(f"  {line(asdict(each))}" for each in found)]
        return lines

    return candidates


def _command_line(corpus: Corpus) -> dict[str, Section]:
    """Return the sections of what the commands print."""

    def run(*arguments: str, code: int = 0) -> str:
        return sat(corpus.work, *arguments, "--index", corpus.file, code=code)

    def search(*options: str) -> list[str]:
        asked, days = evenly(corpus.questions, 3), ("--today", TODAY.isoformat())
        return [run("search", question, *days, *options) for question in asked]

    def show(*options: str) -> list[str]:
        ids = evenly(corpus.index.sheet_ids(), 2)
        books = [sheet.partition("#")[0] for sheet in ids[:1] if corpus.has_files]
        return [run("show", name, *options) for name in (*ids, *books)]

    def graph() -> list[str]:
        limited = ("graph", "--limit", str(_LISTED), "--format")
        return [run("graph", "--format", "json"), *(run(*limited, f) for f in ("graphml", "html"))]

    every: dict[str, Section] = {
        "search": lambda: [*search(), *search("--complete", "--reranker", "none")],
        "search_json": lambda: search("--json"),
        "show": show,
        "show_json": lambda: show("--json"),
        "status": lambda: [run("status", "--skipped"), run("status", "--skipped", "--json")],
        "graph": graph,
        "refusals": lambda: [
            run("show", "no such sheet", code=2),
            run("search", " ", code=2),
            run("search", "sales", "--format", "pdf", code=2),
        ],
    }
    ready: dict[str, Section] = {}
    for name, section in every.items():
        ready[f"cli/{name}"] = _indexed(corpus, section)
    return ready


def _indexed(corpus: Corpus, section: Section) -> Section:
    """Return the section, run after its corpus was indexed."""

    def made() -> Sequence[str]:
        _ = corpus.index
        return section()

    return made


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, (list, tuple)) else value
