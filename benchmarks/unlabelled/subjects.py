"""The corpora that models are adapted to without labels, and the questions they are asked then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.corpora import CORPORA, INDUSTRYTAB_1K, Corpus
from benchmarks.general.corpora import Size, Wanted, parts
from benchmarks.indexes import fill, made_once
from benchmarks.training.corpus import index_of
from sat_retriever.datasets.dataset import (
    Dataset,
    load_industrytab,
)
from sat_retriever.datasets.splits import grouped_split
from sat_retriever.encoder import SheetEncoder
from sat_retriever.encoder.source import MINILM
from sat_retriever.index.index import SheetIndex
from sat_retriever.synth.corpus import MANIFEST, synthesize
from sat_retriever.synth.options import SynthOptions
from sat_retriever.train.data.holdout import families, held_out_families
from sat_retriever.train.data.reading import read_records

ALL, GROUPED = "all", "grouped"
TINY = "tiny"  # thirty made sheets, for trials
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
    """The folders of the data and of the runs.

    Attributes:
        data: Published corpora.
        runs: Made corpora, adaptations and indexes.
    """

    data: Path
    runs: Path


def subject_of(name: str, places: Places, seeds: Sequence[int]) -> Subject:
    """Return a corpus with its test questions, and the unseen families of each seed.

    Args:
        name: Name of a corpus in `benchmarks.corpora`, or "tiny".
        places: The folders.
        seeds: Seeds of the unseen families.
    """
    if name == TINY:
        return _divided(_tiny(places), seeds)
    corpus = CORPORA[name]
    if corpus.made:
        return _made(corpus, places, seeds)
    dataset = corpus.read(places.data)
    if name == INDUSTRYTAB_1K:
        return _industrytab(corpus, dataset, seeds)
    if dataset.root is not None:
        return _divided(_read(dataset, places), seeds, (dataset.root,))
    return _whole(dataset, places, seeds)


def _industrytab(corpus: Corpus, dataset: Dataset, seeds: Sequence[int]) -> Subject:
    """Return all questions, the parts of the corpus, unseen families as the paper's."""
    splits = {seed: grouped_split(dataset, seed=seed) for seed in seeds}
    unseen = {seed: Unseen(split.seen or frozenset(), split.test) for seed, split in splits.items()}
    tests = {ALL: tuple(range(len(dataset.queries)))}
    tests |= {part: places_of(dataset) for part, places_of in corpus.parts.items()}
    return Subject(dataset, tests, unseen, dataset.files)


def _read(asked: Dataset, places: Places) -> Dataset:
    """Return a corpus of workbooks, read once, with the links found in them."""
    file = places.runs / "corpora" / f"{asked.name}.sat"
    made_once(file, SheetEncoder.load(MINILM), lambda index: fill(index, asked))
    with SheetIndex.open(file) as index:
        records, links = tuple(read_records(index)), tuple(index.all_links())
    return replace(asked, records=records, links=links, root=None)


def _tiny(places: Places) -> Dataset:
    """Return thirty made sheets for a quick check that all of it runs."""
    folder = places.runs / "corpora" / TINY
    if not (folder / MANIFEST).is_file():
        options = SynthOptions(str(TINY_SHEETS), seed=7, queries=TINY_QUERIES)
        synthesize(folder, options, force=True, workers=1)
    return load_industrytab(folder)


def _whole(asked: Dataset, places: Places, seeds: Sequence[int]) -> Subject:
    """Return a corpus with the links that an index finds in it, and without unseen families."""
    with index_of(asked, MINILM, "found", places.runs / "corpora") as index:
        dataset = replace(asked, links=tuple(index.all_links()))
    unseen = dict.fromkeys(seeds, Unseen(frozenset(), ()))
    return Subject(dataset, {ALL: tuple(range(len(dataset.queries)))}, unseen, dataset.files)


def _made(corpus: Corpus, places: Places, seeds: Sequence[int]) -> Subject:
    """Return a made corpus with conventions unseen by the general model in training."""
    wanted = Wanted(MADE, seed=MADE_SEED)
    found = parts(wanted, places.data, places.runs / "corpora" / f"made.{MADE_SEED}")
    part = next(each for each in found if each.name == corpus.made)
    return _divided(replace(part.dataset, name=corpus.dataset), seeds)


def _divided(dataset: Dataset, seeds: Sequence[int], data: tuple[Path, ...] = ()) -> Subject:
    """Return the unseen families as any index has them, since the paper's are told by its names."""
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
