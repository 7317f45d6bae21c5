"""The corpora that models are adapted to without labels, and the questions they are asked then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from benchmarks.general_corpora import Size, Wanted, parts
from benchmarks.train_corpus import index_of
from sat_retriever.datasets.dataset import (
    Dataset,
    load_bird,
    load_eps,
    load_industrytab,
    load_spider,
)
from sat_retriever.datasets.splits import grouped_split, standard_split
from sat_retriever.encoder import SheetEncoder
from sat_retriever.encoder.source import MINILM
from sat_retriever.index.index import SheetIndex
from sat_retriever.synth.corpus import MANIFEST, synthesize
from sat_retriever.synth.options import SynthOptions
from sat_retriever.training.data.families import families
from sat_retriever.training.data.holdout import held_out_families
from sat_retriever.training.data.reading import read_records

ALL, STANDARD, GROUPED = "all", "standard", "grouped"
SHARE = 0.3  # of the sheets held out, as validation and test of the paper's grouped split together
MADE_SEED = 900  # of the made corpora; the general model's are made with others
MADE = Size(corpora=0, others=1000, asked=1000)
TINY_SHEETS, TINY_QUERIES = 30, 60


@dataclass(frozen=True, slots=True)
class Unseen:
    """Families that an inductive adaptation does not see.

    Attributes:
        seen: Ids of all other sheets.
        asked: Places of the questions that only sheets out of the unseen families answer.
    """

    seen: frozenset[str]
    asked: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """A corpus, with its test questions; none of them is shown to an adaptation.

    Attributes:
        dataset: Records, links and questions.
        tests: Places of the questions by part: all of them, and the standard test split.
        unseen: Unseen families by seed.
        data: Files or folders that it was read from.
    """

    dataset: Dataset
    tests: Mapping[str, tuple[int, ...]]
    unseen: Mapping[int, Unseen]
    data: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """Where things lie.

    Attributes:
        data: Published corpora.
        runs: Made corpora, adaptations and indexes.
    """

    data: Path
    runs: Path


Load = Callable[[Places, Sequence[int]], Subject]


def industrytab(places: Places, seeds: Sequence[int]) -> Subject:
    """IndustryTab-1K: all questions, the standard test split, unseen families as the paper's."""
    dataset = load_industrytab(places.data / "industrytab_1k")
    every = tuple(range(len(dataset.queries)))
    splits = {seed: grouped_split(dataset, seed=seed) for seed in seeds}
    unseen = {seed: Unseen(split.seen or frozenset(), split.test) for seed, split in splits.items()}
    tests = {ALL: every, STANDARD: standard_split(len(every)).test}
    return Subject(dataset, tests, unseen, dataset.files)


def templates(places: Places, seeds: Sequence[int]) -> Subject:
    """Workbooks of templates by naming conventions that the general model has not learnt."""
    return _made("templates-101", places, seeds)


def domains(places: Places, seeds: Sequence[int]) -> Subject:
    """Spider's held-out training databases as workbooks, by such conventions."""
    return _made("domains-100", places, seeds)


def eps(places: Places, seeds: Sequence[int]) -> Subject:
    """The Energy Policy Simulator's workbooks, read once, with the links found in them."""
    asked = load_eps(places.data / "eps")
    root = places.data / "eps"
    file = places.runs / "corpora" / "eps.sat"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".partial.sat")
        for old in file.parent.glob(f"{draft.name}*"):
            old.unlink()
        with SheetIndex.create(draft, SheetEncoder.load(MINILM)) as index:
            index.sync([root])
        draft.rename(file)
    with SheetIndex.open(file) as index:
        records, links = tuple(read_records(index)), tuple(index.all_links())
    dataset = replace(asked, records=records, links=links, root=None)
    return _divided(dataset, seeds, (root,))


def spider_dev(places: Places, seeds: Sequence[int]) -> Subject:
    """Spider's development questions about unseen databases, over the sheets of all of them."""
    return _whole(load_spider(places.data / "spider"), places, seeds)


def bird_dev(places: Places, seeds: Sequence[int]) -> Subject:
    """BIRD's development questions as they are asked."""
    return _whole(load_bird(places.data / "bird_dev"), places, seeds)


def bird_dev_evidence(places: Places, seeds: Sequence[int]) -> Subject:
    """BIRD's development questions with what their authors added to explain them."""
    return _whole(load_bird(places.data / "bird_dev", evidence=True), places, seeds)


def tiny(places: Places, seeds: Sequence[int]) -> Subject:
    """Thirty made sheets, for a look at whether all of it runs."""
    folder = places.runs / "corpora" / "tiny"
    if not (folder / MANIFEST).is_file():
        options = SynthOptions(str(TINY_SHEETS), seed=7, queries=TINY_QUERIES)
        synthesize(folder, options, force=True, workers=1)
    return _divided(load_industrytab(folder), seeds)


CORPORA: Mapping[str, Load] = MappingProxyType(
    {
        "industrytab_1k": industrytab,
        "templates": templates,
        "domains": domains,
        "eps": eps,
        "spider_dev": spider_dev,
        "bird_dev": bird_dev,
        "bird_dev_evidence": bird_dev_evidence,
        "tiny": tiny,
    }
)
ADAPTED = ("industrytab_1k", "templates", "domains", "eps")  # the others judge the general model


def _whole(asked: Dataset, places: Places, seeds: Sequence[int]) -> Subject:
    """A corpus with the links that an index finds in it, and without unseen families."""
    with index_of(asked, None, "found", places.runs / "corpora") as index:
        dataset = replace(asked, links=tuple(index.all_links()))
    unseen = dict.fromkeys(seeds, Unseen(frozenset(), ()))
    return Subject(dataset, {ALL: tuple(range(len(dataset.queries)))}, unseen, dataset.files)


def _made(name: str, places: Places, seeds: Sequence[int]) -> Subject:
    wanted = Wanted(MADE, seed=MADE_SEED)
    found = parts(wanted, places.data, places.runs / "corpora" / f"made.{MADE_SEED}")
    part = next(each for each in found if each.name == name)
    dataset = part.dataset
    return _divided(replace(dataset, name=f"made_{name.partition('-')[0]}"), seeds)


def _divided(dataset: Dataset, seeds: Sequence[int], data: tuple[Path, ...] = ()) -> Subject:
    """Unseen families as any index has them, since the paper's are told by its names."""
    groups = families(dataset.records, dataset.links)
    unseen = {}
    for seed in seeds:
        held_out = held_out_families(groups, share=SHARE, seed=seed)
        asked = tuple(
            place
            for place, query in enumerate(dataset.queries)
            if query.positives and held_out.issuperset(query.positives)
        )
        seen = frozenset(record.sheet_id for record in dataset.records) - held_out
        unseen[seed] = Unseen(seen, asked)
    tests = {ALL: tuple(range(len(dataset.queries)))}
    return Subject(dataset, tests, unseen, data or dataset.files)
