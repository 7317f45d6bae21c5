"""The corpora that trainings are measured on, and indexes of them by a given encoder."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.corpora import INDUSTRYTAB_614, PUBLISHED, used
from benchmarks.indexes import fill, made_once
from benchmarks.links.quality import bird_links
from benchmarks.results import data_hash
from benchmarks.training.plan import Corpus, Links
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.splits import grouped_dataset, spider_training, standard_dataset
from sat_retriever.encoder import SheetEncoder
from sat_retriever.index.index import SheetIndex

STANDARD_SEED = 42  # of the standard split, whatever the training seed


def corpus_of(name: str, split: str, seed: int, data: Path, limit: int | None) -> Corpus:
    """Return the corpus of a training seed: the standard split of most is one for all seeds.

    Args:
        name: Below the folder of data, or the path of a folder.
        split: "standard" or "grouped".
        seed: Training seed.
        data: Folder of the published corpora.
        limit: Training and validation questions used; None for all.
    """
    folder = data / name
    if not (data / name).is_dir():
        sys.exit(f"not run: there is no corpus {folder} (--data DIR, --corpus NAME or FOLDER)")
    known = Path(name).name
    if split == "standard" and known == INDUSTRYTAB_614 and not (folder / "query.json").is_file():
        split = "legacy"
    drawn = split == "grouped" or known == INDUSTRYTAB_614
    own = "" if name in PUBLISHED else data_hash(sorted(folder.glob("*.json"))) or ""
    return Corpus(name, split, seed if drawn else STANDARD_SEED, limit, own)


def dataset_of(corpus: Corpus, data: Path) -> Dataset:
    """Return the training corpus; a limit keeps the first training and validation questions."""
    if corpus.name == "spider":
        found = spider_training(data / "spider")
    elif corpus.split == "grouped":
        found = grouped_dataset(data / corpus.name, seed=corpus.seed)
    else:
        found = standard_dataset(data / corpus.name, seed=corpus.seed)
    if corpus.limit is None:
        return found
    split = replace(
        found.split,
        train=found.split.train[: corpus.limit],
        validation=found.split.validation[: corpus.limit],
    )
    return replace(found, split=split)


def spider_tests(data: Path, bird_tables: Path | None) -> list[Dataset]:
    """Return questions over databases that Spider's training part does not have.

    Declared keys that are in a file of their own are links where that file is at hand.
    """
    found = []
    for corpus in used("transfer").values():
        dataset = corpus.read(data)
        if corpus.keys_apart and bird_tables is not None:
            links = bird_links(bird_tables, dataset.records)
            dataset = replace(dataset, links=links, files=(*dataset.files, bird_tables))
        found.append(dataset)
    return found


def index_of(
    dataset: Dataset,
    encoder: str | Path,
    links: Links,
    folder: Path,
    dense_weight: float | None = None,
) -> SheetIndex:
    """Return the index of a data set by an encoder; make it if it does not exist.

    Args:
        dataset: Sheets, and the links it publishes.
        encoder: What `SheetEncoder.load` takes.
        links: Links to store.
        folder: Folder of the index: one for each encoder, so that no index outlives its encoder.
        dense_weight: Default share of the cosine in its scores.
    """
    opened = SheetEncoder.load(encoder)
    held = (dataset.records, dataset.links if links == "given" else None, dense_weight)
    key = hashlib.sha256(repr(held).encode("utf-8")).hexdigest()[:10]
    path = folder / f"{links}-{key}.sat"
    made_once(path, opened, lambda index: fill(index, dataset, links), dense_weight=dense_weight)
    return SheetIndex.open(path, opened, times=False)


def numbers(sheet_ids: Sequence[str]) -> dict[str, int]:
    """Return the number of each sheet, as result files name it."""
    return {sheet: number for number, sheet in enumerate(sheet_ids)}
