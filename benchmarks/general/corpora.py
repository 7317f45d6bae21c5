"""Build the corpora of the general model, for training and for choosing.

It learns from made corpora and from the training questions of Spider's taught databases. It is
chosen with other companies, other seeds, naming conventions that training has not seen, and
Spider's held-out training databases. No question or sheet of a test set is used.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from benchmarks.general.domains import DomainOptions, domain_corpus
from sat_retriever.datasets.dataset import Dataset, Split, load_industrytab
from sat_retriever.datasets.splits import held_out_workbooks, spider_training
from sat_retriever.synth.corpus import MANIFEST, synthesize
from sat_retriever.synth.options import SynthOptions
from sat_retriever.synth.words.vocabulary import Vocabulary
from sat_retriever.synth.words.wordfiles import FOLDER as PACKAGED_WORDS

PAPERS = frozenset({"published"})  # the naming convention of the paper's corpora
HELD_OUT = ("numbered", "iso_dates")  # naming conventions of validation only
COMPANIES = 14  # of each corpus; no two corpora share one
YEARS = ("2019-2025", "2014-2018", "2020-2023", "2009-2016")
_RERANKED = 50  # number of the first corpus that Stage 2 alone learns from
_JUDGED = 100  # number of the first corpus to choose with
Use = Literal["taught", "reranked", "judged", "both"]


@dataclass(frozen=True, slots=True)
class Size:
    """The sizes of the corpora.

    Attributes:
        corpora: Number of made training corpora of each kind.
        sheets: Visible sheets of a training corpus of templates.
        others: Visible sheets of a validation corpus of templates.
        queries: Questions of a training corpus.
        asked: Questions of a validation corpus.
        domains: Databases behind a corpus of other subjects; None for all.
        spider: Spider's questions for training, and as many for validation; None for all.
        names: Training questions of a corpus, half of them asked again under other names.
        tables: Questions about tables of the web by contents, half of them asked again under other
            names, and half as many by names.
        made: Number of corpora of made workbooks, asked by contents.
        made_sheets: Visible sheets of each of these.
    """

    corpora: int = 2
    sheets: int = 1000
    others: int = 500
    queries: int = 2000
    asked: int = 400
    domains: int | None = None
    spider: int | None = None
    names: int = 600
    tables: int = 600
    made: int = 1
    made_sheets: int = 300


SIZES: Mapping[str, Size] = MappingProxyType(
    {
        "full": Size(),
        "tiny": Size(
            1,
            sheets=30,
            others=30,
            queries=60,
            asked=20,
            domains=3,
            spider=60,
            names=40,
            tables=8,
            made=1,
            made_sheets=12,
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Part:
    """One corpus with its use.

    Attributes:
        dataset: Sheets, links and questions.
        use: "taught": Stage 1 learns its training questions. "reranked": Stage 2 does, and Stage 1
            does not know the corpus. "judged": its validation questions are used. "both": taught
            and judged.
        about: Description for the model card.
    """

    dataset: Dataset
    use: Use
    about: str

    @property
    def name(self) -> str:
        """Name of the corpus."""
        return self.dataset.name


@dataclass(frozen=True, slots=True)
class Wanted:
    """The selection of corpora.

    Attributes:
        size: Sizes of the corpora.
        apart: Leave out the paper's eleven categories and its naming convention.
        every_convention: Learn every naming convention; none is then left to choose with.
        seed: Seed of all made corpora.
    """

    size: Size
    apart: bool = False
    every_convention: bool = False
    seed: int = 42

    @property
    def conventions(self) -> tuple[str, ...]:
        """The naming conventions that training sees."""
        known = (str(each["name"]) for each in Vocabulary.load().naming)
        out = set(() if self.every_convention else HELD_OUT) | (PAPERS if self.apart else set())
        return tuple(name for name in known if name not in out)

    @property
    def unseen(self) -> tuple[str, ...]:
        """The naming conventions that only validation sees; all of training's if none is left."""
        return self.conventions if self.every_convention else HELD_OUT


def parts(wanted: Wanted, data: Path, folder: Path, *, reranked: bool = True) -> list[Part]:
    """Return all corpora; those of templates are made once and kept in a folder.

    Args:
        wanted: The selection.
        data: Folder of the published corpora; only Spider's training part is read.
        folder: Folder of the made corpora.
        reranked: Those that Stage 2 alone learns from, too.
    """
    spider = _spider(data, wanted.size.spider)
    found = [Part(spider, "both", "Spider's training questions, original and with synonyms")]
    names = companies_of(wanted.seed)
    if not wanted.apart:
        found += _templates(wanted, names, folder)
    found += _domains(wanted, names, spider)
    if reranked:
        found += _reranked(wanted, names, spider, folder)
    return found


def _spider(data: Path, most: int | None) -> Dataset:
    """Return Spider's training part, or an even selection of its questions."""
    dataset = spider_training(data / "spider")
    if most is None:
        return dataset
    split = dataset.split
    train, validation = (
        places[:: max(1, len(places) // most)][:most] for places in (split.train, split.validation)
    )
    return replace(dataset, split=replace(split, train=train, validation=validation))


def companies_of(seed: int) -> Iterator[tuple[str, ...]]:
    """Yield names of companies for one corpus after the other; none is repeated."""
    lists = Vocabulary.load().lists
    pairs = product(lists["company_first_words"], lists["company_business_words"])
    known = set(lists["companies"])
    names = [name for first, last in pairs if (name := f"{first} {last}") not in known]
    random.Random(f"companies {seed}").shuffle(names)
    while len(names) >= COMPANIES:
        yield tuple(names[:COMPANIES])
        del names[:COMPANIES]


def _templates(wanted: Wanted, names: Iterator[tuple[str, ...]], folder: Path) -> Iterator[Part]:
    """Yield corpora of `sat synth`: the eleven categories, with real formulas and links."""
    size = wanted.size
    for number in range(size.corpora):
        made = _synthesized(wanted, number, next(names), wanted.conventions, folder)
        yield taught_part(
            made, f"workbooks of templates, conventions {_listed(wanted.conventions)}"
        )
    for place, known in enumerate((wanted.conventions, wanted.unseen)):
        made = _synthesized(wanted, _JUDGED + place, next(names), known, folder)
        yield judged_part(
            made, f"workbooks of templates, other companies, conventions {_listed(known)}"
        )


def _synthesized(
    wanted: Wanted,
    number: int,
    companies: tuple[str, ...],
    conventions: tuple[str, ...],
    folder: Path,
) -> Dataset:
    """Return a corpus in the folder, made now if it is missing."""
    out = folder / f"templates-{number}"
    words = folder / f"templates-{number}.words"
    size = wanted.size
    judged = number >= _JUDGED
    write_words(words, companies, conventions)
    options = SynthOptions(
        scale=str(size.others if judged else size.sheets),
        seed=wanted.seed * 1000 + number,
        companies=COMPANIES,
        years=YEARS[number % len(YEARS)],
        queries=size.asked if judged else size.queries,
        vocabulary=words,
    )
    if not _complete(out, options):
        shutil.rmtree(out, ignore_errors=True)
        synthesize(out, options)
        shutil.rmtree(out / "workbooks")  # training needs only the records
    return replace(load_industrytab(out), name=f"templates-{number}")


def write_words(folder: Path, companies: tuple[str, ...], conventions: tuple[str, ...]) -> None:
    """Write word files with other companies and a part of the naming conventions."""
    folder.mkdir(parents=True, exist_ok=True)
    naming = json.loads((PACKAGED_WORDS / "naming.json").read_text(encoding="utf-8"))
    kept = [each for each in naming["conventions"] if each["name"] in conventions]
    content = {
        "lists.json": {"companies": list(companies)},
        "naming.json": naming | {"conventions": kept},
    }
    for name, value in content.items():
        (folder / name).write_text(json.dumps(value), encoding="utf-8")


def _complete(out: Path, options: SynthOptions) -> bool:
    """True if the corpus of these options exists."""
    try:
        content = json.loads((out / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    found = content["options"]
    same = all(found[name] == getattr(options, name) for name in ("scale", "seed", "queries"))
    return bool(content["complete"] and same)


def _domains(wanted: Wanted, names: Iterator[tuple[str, ...]], spider: Dataset) -> Iterator[Part]:
    """Yield corpora of other subjects: taught databases for training, held-out ones to choose."""
    size = wanted.size
    taught, others = _databases(spider)
    for number in range(size.corpora):
        own = taught[number :: size.corpora][: size.domains]
        options = _domain_options(wanted, number, next(names), wanted.conventions)
        made = domain_corpus(_of(spider, own), options)
        yield taught_part(made, f"{len(own)} databases kept as workbooks by made companies")
    options = _domain_options(wanted, _JUDGED, next(names), wanted.unseen)
    made = domain_corpus(_of(spider, others[: size.domains]), options)
    yield judged_part(
        made, f"held-out databases, other companies, conventions {_listed(wanted.unseen)}"
    )


def _reranked(
    wanted: Wanted, names: Iterator[tuple[str, ...]], spider: Dataset, folder: Path
) -> Iterator[Part]:
    """Yield corpora of companies that Stage 1 has not learnt from.

    Stage 1 finds better candidates for questions that it has learnt than for later ones. A Stage 2
    trained on them would learn to leave their order unchanged.
    """
    known = f"other companies, conventions {_listed(wanted.conventions)}"
    if not wanted.apart:
        made = _synthesized(wanted, _RERANKED, next(names), wanted.conventions, folder)
        yield taught_part(made, f"workbooks of templates, {known}", "reranked")
    options = _domain_options(wanted, _RERANKED, next(names), wanted.conventions)
    tables = _of(spider, _databases(spider)[0][: wanted.size.domains])
    yield taught_part(domain_corpus(tables, options), f"the same databases, {known}", "reranked")


def _databases(spider: Dataset) -> tuple[list[str], list[str]]:
    """Return the names of Spider's taught databases, and of those held out."""
    held_out = held_out_workbooks(spider.queries)
    asked = {query.workbook for query in spider.queries}
    return sorted(asked - held_out), sorted(held_out)


def _domain_options(
    wanted: Wanted, number: int, companies: tuple[str, ...], conventions: tuple[str, ...]
) -> DomainOptions:
    asked = wanted.size.asked if number >= _JUDGED else wanted.size.queries
    seed = wanted.seed * 1000 + number
    return DomainOptions(f"domains-{number}", companies, conventions, (2010, 2025), asked, seed)


def _of(dataset: Dataset, workbooks: list[str]) -> Dataset:
    kept = tuple(record for record in dataset.records if record.workbook in workbooks)
    return replace(dataset, records=kept)


def taught_part(dataset: Dataset, about: str, use: Use = "taught") -> Part:
    """Return a training corpus; one question is for validation, which training data needs."""
    places = tuple(range(len(dataset.queries)))
    return Part(replace(dataset, split=Split(places[1:], places[:1])), use, about)


def judged_part(dataset: Dataset, about: str) -> Part:
    """Return a validation corpus; one question is for training, which training data needs."""
    places = tuple(range(len(dataset.queries)))
    return Part(replace(dataset, split=Split(places[:1], places[1:])), "judged", about)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names)
