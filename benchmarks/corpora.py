"""List every corpus for measurements, with its names, its loader, its parts and its uses.

A new corpus is one entry here. Benchmarks select corpora by their use; tables use their titles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from sat_retriever.datasets.dataset import (
    Dataset,
    load_bird,
    load_eps,
    load_industrytab,
    load_spider,
)
from sat_retriever.datasets.splits import held_out_workbooks, standard_split
from sat_retriever.datasets.tables import Part, load_tables, tables_name

INDUSTRYTAB_1K, INDUSTRYTAB_614 = "industrytab_1k", "industrytab_614"
PUBLISHED = (INDUSTRYTAB_1K, INDUSTRYTAB_614)  # with the paper's own figures
Use = Literal[
    "counted",  # by `run statistics`
    "untrained",  # asked without training: `run quality`, `run links_quality`
    "chosen",  # its validation part is for choices: `--validation`, `run fusion`
    "keys",  # its declared keys judge joins: `run joins`
    "transfer",  # asked by models that learnt from Spider's training questions: `run spider`
    "judged",  # the general model is judged on it: `run general_tests`
    "adapted",  # models are adapted to its sheets: `run adapted`
    "summary",  # a column of the README's table *Without labels*
    "contents",  # has cells to search: `run contents`
    "contents_chosen",  # of these, the parts that choices may use
    "unchanged",  # has names and no cells, so its ranking stays: `run unchanged`
    "target",  # its tables are a task in the form of the TARGET benchmark: `run target`
]
Places = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """One corpus for measurements.

    Attributes:
        dataset: Its name in result files.
        title: Its name in tables.
        uses: The measurements that it is for.
        load: Reads it from its folder; None for a made corpus.
        folder: Its folder below that of the data.
        made: Name of the made corpus; see `benchmarks.general.corpora`.
        short: Its name as a column.
        source: Place to get the data from.
        parts: Places of the questions of each part besides "all", in the order shown.
        validation: Places of the questions that choices may use.
        databases: True if its sheets are tables of databases.
        keys_apart: True if its declared keys are in another file, given by `--bird-tables`.
        metrics: Metrics that the README shows for it.
    """

    dataset: str
    title: str
    uses: frozenset[Use]
    load: Callable[[Path], Dataset] | None = None
    folder: str = ""
    made: str = ""
    short: str = ""
    source: str = ""
    parts: Mapping[str, Callable[[Dataset], Places]] = field(default_factory=dict)
    validation: Callable[[Dataset], Places] | None = None
    databases: bool = False
    keys_apart: bool = False
    metrics: tuple[str, ...] = ("NDCG@5",)

    def read(self, data: Path) -> Dataset:
        """Read the corpus from the folder of all data.

        Raises:
            CorpusError: If a file is missing or does not have the documented form.
            ValueError: If the corpus is made and cannot be read.
        """
        if self.load is None:
            raise ValueError(f"{self.dataset} is made, not read")
        return self.load(data / self.folder)


@dataclass(frozen=True, slots=True)
class Tables:
    """A corpus of tables with all their cells, in variants.

    Attributes:
        name: Beginning of the names of its files.
        part: Part of it.
    """

    name: str
    part: Part = "all"

    @property
    def dataset(self) -> str:
        """Name of its data set with titles and without distractors."""
        return tables_name(self.name, part=self.part)

    def __call__(self, folder: Path, *, titles: bool = True, distractors: bool = False) -> Dataset:
        """Read a variant from the folder of its files; see `load_tables`."""
        return load_tables(
            folder, self.name, titles=titles, distractors=distractors, part=self.part
        )


def _eps_development(folder: Path) -> Dataset:
    """Return the workbooks of EPS with the questions that choices may use."""
    dataset = load_eps(folder)
    kept = tuple(dataset.queries[place] for place in _in_trans(dataset))
    return replace(dataset, name="eps_development", queries=kept)


def _eps_whole(folder: Path) -> Dataset:
    """Return the workbooks of EPS with all questions, among them those of the test."""
    return replace(load_eps(folder), name="eps_whole")


def _in_trans(dataset: Dataset) -> Places:
    """Return the questions whose sheets all lie in the folder `trans`: those for development."""
    return tuple(
        place
        for place, query in enumerate(dataset.queries)
        if all(sheet.startswith("trans/") for sheet in query.positives)
    )


def _outside_trans(dataset: Dataset) -> Places:
    """Return all other questions: the test."""
    return tuple(sorted(set(range(len(dataset.queries))) - set(_in_trans(dataset))))


def _of_type(query_type: str) -> Callable[[Dataset], Places]:
    """Return a selector of the questions of a type."""
    return lambda dataset: tuple(
        place for place, query in enumerate(dataset.queries) if query.query_type == query_type
    )


def _standard(part: Literal["test", "validation"]) -> Callable[[Dataset], Places]:
    """Return a selector of a part of the paper's standard split."""
    return lambda dataset: getattr(standard_split(len(dataset.queries)), part)


def _held_out(dataset: Dataset) -> Places:
    """Return the questions of the training databases that training leaves out."""
    names = held_out_workbooks(dataset.queries)
    return tuple(n for n, query in enumerate(dataset.queries) if query.workbook in names)


_SPIDER = "https://yale-lily.github.io/spider, tables read as sheets"
_BIRD = "https://bird-bench.github.io, tables read as sheets"
_COMPLETE = ("NDCG@10", "AllRelevant@10")
_EPS = "https://github.com/EnergyInnovation/eps-us, the workbooks below InputData"
_INPUTS = {"input_variable": _of_type("input_variable")}


def _tables(files: Tables, title: str, source: str, uses: frozenset[Use]) -> Corpus:
    return Corpus(files.dataset, title, uses, files, "contents", source=source)


CORPORA: Mapping[str, Corpus] = MappingProxyType(
    {
        INDUSTRYTAB_1K: Corpus(
            INDUSTRYTAB_1K,
            "IndustryTab-1K",
            frozenset(
                {"counted", "untrained", "unchanged", "chosen", "judged", "adapted", "summary"}
            ),
            load_industrytab,
            INDUSTRYTAB_1K,
            short="1K",
            source="the release of the paper Sheet As Token",
            parts={"standard": _standard("test")},
            validation=_standard("validation"),
        ),
        INDUSTRYTAB_614: Corpus(
            INDUSTRYTAB_614,
            "IndustryTab-614",
            frozenset({"counted"}),
            load_industrytab,
            INDUSTRYTAB_614,
            source="the release of the paper Sheet As Token",
        ),
        "spider_train": Corpus(
            "spider_train",
            "Spider train",
            frozenset({"counted", "chosen"}),
            partial(load_spider, split="train"),
            "spider",
            source=_SPIDER,
            validation=_held_out,
            databases=True,
        ),
        "spider_train_synonym": Corpus(
            "spider_train_synonym",
            "Spider train, with synonyms",
            frozenset({"chosen"}),
            partial(load_spider, split="train_synonym"),
            "spider",
            source=_SPIDER,
            validation=_held_out,
            databases=True,
        ),
        "templates": Corpus(
            "made_templates",
            "made workbooks of templates, unseen naming conventions",
            frozenset({"judged", "adapted", "summary"}),
            made="templates-101",
            short="templates",
        ),
        "domains": Corpus(
            "made_domains",
            "made workbooks of other subjects, unseen naming conventions",
            frozenset({"judged", "adapted", "summary"}),
            made="domains-100",
            short="other subjects",
        ),
        "spider_dev": Corpus(
            "spider_dev",
            "Spider dev",
            frozenset(
                {"counted", "untrained", "unchanged", "keys", "transfer", "judged", "summary"}
            ),
            load_spider,
            "spider",
            short="Spider dev",
            source=_SPIDER,
            databases=True,
            metrics=_COMPLETE,
        ),
        "bird_dev": Corpus(
            "bird_dev",
            "BIRD dev, question only",
            frozenset(
                {"counted", "untrained", "unchanged", "keys", "transfer", "judged", "summary"}
            ),
            load_bird,
            "bird_dev",
            short="BIRD dev",
            source=_BIRD,
            databases=True,
            keys_apart=True,
            metrics=_COMPLETE,
        ),
        "bird_dev_evidence": Corpus(
            "bird_dev_evidence",
            "BIRD dev, question + evidence",
            frozenset({"untrained", "unchanged", "transfer", "judged"}),
            partial(load_bird, evidence=True),
            "bird_dev",
            source=_BIRD,
            databases=True,
            keys_apart=True,
        ),
        "eps": Corpus(
            "eps",
            "EPS, real workbooks",
            frozenset({"counted", "untrained", "judged", "adapted", "summary"}),
            load_eps,
            "eps",
            short="EPS",
            source=_EPS,
        ),
        "wikitablequestions_train": _tables(
            Tables("wikitablequestions_train", "validation"),
            "WikiTableQuestions train, held-out tables",
            "https://github.com/ppasupat/WikiTableQuestions",
            frozenset({"contents", "contents_chosen"}),
        ),
        "eps_development": Corpus(
            "eps_development",
            "EPS, development questions",
            frozenset({"contents", "contents_chosen"}),
            _eps_development,
            "eps",
            source=_EPS,
            parts=_INPUTS,
        ),
        "fetaqa_dev": _tables(
            Tables("fetaqa_dev"),
            "FeTaQA dev",
            "https://github.com/Yale-LILY/FeTaQA",
            frozenset({"contents", "target"}),
        ),
        "tabfact_val": _tables(
            Tables("tabfact_val"),
            "TabFact validation",
            "https://github.com/wenhuchen/Table-Fact-Checking",
            frozenset({"contents", "target"}),
        ),
        "wikitablequestions_dev": _tables(
            Tables("wikitablequestions_dev"),
            "WikiTableQuestions dev, unseen tables",
            "https://github.com/ppasupat/WikiTableQuestions",
            frozenset({"contents"}),
        ),
        "eps_whole": Corpus(
            "eps_whole",
            "EPS, all questions",
            frozenset({"contents"}),
            _eps_whole,
            "eps",
            source=_EPS,
            parts={"development": _in_trans, "test": _outside_trans, **_INPUTS},
        ),
    }
)


def used(use: Use) -> dict[str, Corpus]:
    """Return the corpora of a use by name, in the order of the tables."""
    return {name: corpus for name, corpus in CORPORA.items() if use in corpus.uses}


def title_of(dataset: str) -> str:
    """Return the title of a data set in a result file; its name if it is unknown."""
    titles = {corpus.dataset: corpus.title for corpus in CORPORA.values()}
    return titles.get(dataset, dataset)


def shown_parts(use: Use) -> dict[tuple[str, str], str]:
    """Return the title of each data set and part of a use, in the order of the tables."""
    found = {}
    for corpus in used(use).values():
        for part in corpus.parts:
            found[corpus.dataset, part] = f"{corpus.title}, {part} test"
        found[corpus.dataset, "all"] = corpus.title + (", all queries" if corpus.parts else "")
    return found


def where_to_get(use: Use) -> str:
    """Return the places to get the data of a use from, each folder once."""
    sources = {corpus.folder: corpus.source for corpus in used(use).values()}
    return "; ".join(f"{folder}: {source}" for folder, source in sources.items())
