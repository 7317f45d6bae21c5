"""Make a whole corpus: workbooks with their records, links, labels and pairs."""

from __future__ import annotations

import json
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sat_retriever._extras import require
from sat_retriever._version import __version__
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.labels.write import write_queries
from sat_retriever.errors import InputError
from sat_retriever.llm.chat import Chat
from sat_retriever.questions.contents.make import Contents
from sat_retriever.questions.contents.versions import CopiesOf
from sat_retriever.questions.facts import SheetFacts
from sat_retriever.questions.generate import Made
from sat_retriever.questions.paraphrase import reworded
from sat_retriever.records.files import draft_of, make_folder
from sat_retriever.records.hits import Copies
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Visibility
from sat_retriever.synth.answers.ask import Answer
from sat_retriever.synth.answers.make import ANSWERS, chosen, kept, write_answers
from sat_retriever.synth.corpusfiles import EdgesFile, SheetsFile, write_rows
from sat_retriever.synth.histories.histories import history_unit
from sat_retriever.synth.labels import Told, asks, corpus_queries, with_asked
from sat_retriever.synth.options import WORKBOOKS, SynthOptions, SynthProgress, SynthReport
from sat_retriever.synth.pairs import PairSheet, train_pairs
from sat_retriever.synth.plan.plan import Plan
from sat_retriever.synth.plan.scales import scale, years
from sat_retriever.synth.unit import MadeUnit, Retold, made_units
from sat_retriever.synth.words.vocabulary import Vocabulary

MANIFEST = "corpus.json"
FORMAT = 1
QUERIES_A_SHEET = 1.8  # as in IndustryTab-1K
MOST_QUERIES = 20_000
_LATER = ("asks", "histories", "answers")
"""Entries of the manifest that are left out if empty: it is then that of earlier versions."""


@dataclass(slots=True)
class _Held:
    told: Told | None
    groups: dict[str, str] = field(default_factory=dict)
    facts: list[SheetFacts] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    pairs: list[PairSheet] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    workbooks: int = 0
    hidden: int = 0
    categories: Counter[str] = field(default_factory=Counter)
    conventions: Counter[str] = field(default_factory=Counter)
    link_types: Mapping[str, int] = field(default_factory=dict)

    @property
    def sheets(self) -> int:
        return len(self.pairs)


def synthesize(
    out: str | Path,
    options: SynthOptions | None = None,
    *,
    llm_url: str | None = None,
    workers: int | None = None,
    force: bool = False,
    progress: SynthProgress | None = None,
) -> SynthReport:
    """Write a corpus into a folder, and report its contents.

    The folder gets `workbooks/` and, in the published form, `sheets.json`, `query.json`,
    `train.json` and `dependency_edges.json`; `answers.json` has questions with their SQL and
    answer, if they are wanted; `corpus.json` describes how it was made. The JSON
    files appear at the end, each complete or not at all. After an interruption, the same call
    starts again and gives the same bytes.

    Source: paper, appendix on data sets; `paper-614` and `paper-1k` have its numbers of
    sheets per category and of queries. Departs: links come from real formulas and keys, not
    from names; labels are complete.

    Args:
        out: The folder; created if missing.
        options: Options of the corpus; None for the defaults.
        llm_url: Address of the models' server; see `served_model`. The corpus does not name it.
        workers: Number of processes; all cores by default. The corpus does not depend on it.
        force: Replace a complete corpus in the folder.

    Raises:
        InputError: If an option is malformed, or the folder contains other files.
        OutputError: If a file cannot be written.
        LanguageModelError: If a requested language model does not answer.
        MissingExtraError: Without the extra `synth`, or that of a language model.
    """
    start = time.perf_counter()
    options = options or SynthOptions()
    out = Path(out)
    vocabulary = Vocabulary.load(options.vocabulary)
    size, spanned = scale(options.scale), years(options.years)
    plan = Plan(size, spanned, options.companies, options.seed, vocabulary)
    retold = None
    if options.language != "en":
        retold = Retold(options.language, options.translations, options.translator, llm_url)
    rewords = Chat(options.paraphrase, llm_url) if options.paraphrase else None
    _check(plan, retold, options)
    _prepare(out, options, force=force)
    wanted = bool(asks(options.asks))
    by_type: Counter[str] = Counter()
    with Told() if wanted else nullcontext() as told:
        held = _write_sheets(plan, out, options, retold, workers, progress, told)
        chance = random.Random(f"pairs {options.seed}")  # noqa: S311 - repeatable, no secret
        pairs = write_rows(train_pairs(held.pairs, chance), out / "train.json")
        number = options.queries
        if number is None:
            number = plan.scale.queries or min(MOST_QUERIES, round(QUERIES_A_SHEET * held.sheets))
        made = _queries(held, vocabulary, options, number)
        if rewords is not None:
            made = reworded(list(made), rewords, out / "paraphrases.json").made
        write_queries(out / "query.json", _counted(made, by_type, number, progress))
    answers = chosen(held.answers, options.answers)
    if answers:
        write_answers(answers, out / ANSWERS)
    report = SynthReport(
        workbooks=held.workbooks,
        sheets=held.sheets,
        hidden=held.hidden,
        categories=dict(held.categories),
        conventions=dict(held.conventions),
        links=held.link_types,
        queries=dict(by_type),
        pairs=pairs,
        seconds=round(time.perf_counter() - start, 3),
        answers=dict(Counter(each.kind for each in answers)),
    )
    _write_manifest(out, options, report)
    return report


def _check(plan: Plan, retold: Retold | None, options: SynthOptions) -> None:
    """Refuse options that cannot be used, before an old corpus is removed."""
    for name, wanted in (("asks", bool(asks(options.asks))), ("answers", options.answers > 0)):
        if wanted and plan.scale.fabricated:
            raise InputError(
                f"the scale {options.scale!r} cuts its sheets as the paper does, so nothing can be "
                f"asked about their contents; choose another scale, or leave out {name}"
            )
    for module in ("xlsxwriter", "anyascii"):
        require(module, "synth")
    next(plan.units())
    if retold is not None:
        retold.translator()
    elif options.translator or options.translations:
        raise InputError("translations and translators need a language other than 'en'; name it")
    for name in ("histories", "queries", "answers"):
        number = getattr(options, name)
        if number is not None and number < 0:
            raise InputError(f"the number of {name} must be 0 or more, not {number}")


def _prepare(out: Path, options: SynthOptions, *, force: bool) -> None:
    """Create an empty corpus folder; remove the rest of an unfinished call."""
    manifest = out / MANIFEST
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; name a folder")
    if manifest.is_file():
        if _is_complete(manifest) and not force:
            raise InputError(
                f"{out} already holds a corpus; replace it with force, or name another"
            )
        shutil.rmtree(out / WORKBOOKS, ignore_errors=True)
        for name in (
            "sheets.json", "query.json", "train.json", "dependency_edges.json", ANSWERS
        ):  # fmt: skip
            (out / name).unlink(missing_ok=True)
        _remove_drafts(out)  # left by a run that was killed
    elif out.is_dir() and any(out.iterdir()):
        raise InputError(f"{out} is not empty and holds no corpus; name a new folder")
    make_folder(out)
    _write_manifest(out, options, None)  # first of all, to mark the folder as a corpus
    make_folder(out / WORKBOOKS)


def _is_complete(manifest: Path) -> bool:
    """True if a run was completed; InputError if the file is not a manifest of this package."""
    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        return bool(content["complete"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{manifest} was not written by sat synth; name a new folder") from error


def _write_manifest(out: Path, options: SynthOptions, report: SynthReport | None) -> None:
    """Write how the corpus was made and what it contains, without figures that vary by run."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "generator": f"sat-retriever {__version__}",
        "complete": report is not None,
        "options": {
            key: str(value) if isinstance(value, Path) else value
            for key, value in asdict(options).items()
            if value or key not in _LATER
        },
    }
    if report is not None:
        content |= {
            key: value
            for key, value in asdict(report).items()
            if key != "seconds" and (value or key not in _LATER)
        }
    with draft_of(out / MANIFEST) as draft:
        draft.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _write_sheets(
    plan: Plan,
    out: Path,
    options: SynthOptions,
    retold: Retold | None,
    workers: int | None,
    progress: SynthProgress | None,
    told: Told | None,
) -> _Held:
    held = _Held(told)
    try:
        with (
            SheetsFile(out / "sheets.json") as sheets,
            EdgesFile(out / "dependency_edges.json") as edges,
        ):
            for unit in made_units(
                plan, out / WORKBOOKS, retold, workers,
                asked=told is not None, answered=options.answers > 0,
            ):  # fmt: skip
                _publish(unit, sheets, edges, held)
                held.answers = kept((*held.answers, *unit.answers), options.answers)
                if progress:
                    progress("sheets", held.sheets - held.hidden, plan.scale.sheets or 0)
            if options.histories:
                unit = history_unit(
                    out / WORKBOOKS, options.seed, options.histories, asked=told is not None
                )
                _publish(unit, sheets, edges, held)
            held.link_types = edges.stats()["edge_type_counts_all"]
    finally:  # an interrupt may come while the files are opened, before the block owns them
        _remove_drafts(out)
    return held


def _remove_drafts(out: Path) -> None:
    for draft in out.glob(".*.partial"):
        draft.unlink()


def _publish(unit: MadeUnit, sheets: SheetsFile, edges: EdgesFile, held: _Held) -> None:
    """Number a unit's sheets, write them and their links, and keep the data for queries."""
    number_of = {
        sheet.record.sheet_id: edges.sheets + place for place, sheet in enumerate(unit.sheets)
    }
    for sheet in unit.sheets:
        number = number_of[sheet.record.sheet_id]
        sheets.add(number, sheet.record, sheet.category)
        if held.told is not None:
            told = replace(sheet.record, sheet_id=str(number), contents=sheet.contents)
            held.told.add(told)
        if sheet.group:
            held.groups[str(number)] = sheet.group
        held.pairs.append(sheet.pair(number))
        held.categories[sheet.category] += 1
        held.conventions[sheet.convention] += 1
        held.hidden += sheet.record.visibility is not Visibility.VISIBLE
        if sheet.facts is not None:
            headers = (sys.intern(each.name.casefold()) for each in sheet.record.columns)
            facts = replace(sheet.facts, sheet_id=str(number), columns=tuple(headers))
            held.facts.append(facts)
    links = (*unit.links, *unit.keys)
    edges.add(links, number_of)
    held.workbooks += unit.workbooks
    held.links += (
        Link(str(number_of[link.source]), str(number_of[link.target]), link.type) for link in links
    )


def _queries(
    held: _Held, vocabulary: Vocabulary, options: SynthOptions, number: int
) -> Iterable[Made]:
    made: Iterable[Made] = corpus_queries(held.facts, held.links, vocabulary, number, options.seed)
    if held.told is not None:
        contents, shares = Contents(held.told, _copies(held.groups)), asks(options.asks)
        made = with_asked(made, contents, shares, number, options.seed)
    return made


def _copies(groups: Mapping[str, str]) -> CopiesOf:
    sizes = Counter(groups.values())

    def found(sheet_ids: Sequence[str]) -> Mapping[str, Copies]:
        numbers = {each: sizes[groups[each]] - 1 for each in sheet_ids if each in groups}
        return {each: Copies(number) for each, number in numbers.items() if number}

    return found


def _counted(
    made: Iterable[Made], by_type: Counter[str], number: int, progress: SynthProgress | None
) -> Iterator[Query]:
    for done, each in enumerate(made, start=1):
        by_type[each.query.query_type] += 1
        if progress and done % 100 == 0:
            progress("queries", done, number)
        yield each.query
