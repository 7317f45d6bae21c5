"""Load published and made corpora in the splits that trainings use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sat_retriever.datasets.dataset import Dataset, Split, load_industrytab, load_spider
from sat_retriever.datasets.splits import grouped_split, held_out_workbooks, standard_split


def standard_dataset(folder: str | Path, *, seed: int = 42) -> Dataset:
    """Load an IndustryTab corpus, or one that `sat synth` made, in the paper's split.

    Source: the released recipe. IndustryTab-614 is split by the training seed, 1K and other corpora
    always by seed 42.

    Raises:
        CorpusError: If the folder does not hold such a corpus.
    """
    dataset = load_industrytab(folder)
    number = len(dataset.queries)
    if dataset.name == "industrytab_614":
        return replace(dataset, split=standard_split(number, ratio=0.2, seed=seed))
    return replace(dataset, split=standard_split(number))


def grouped_dataset(folder: str | Path, *, seed: int = 42) -> Dataset:
    """Load such a corpus in the split of unseen families: training sees no held-out sheet.

    Source: the released grouped evaluation; the split's seed is the training seed.

    Raises:
        CorpusError: If the folder does not hold such a corpus.
    """
    dataset = load_industrytab(folder)
    return replace(dataset, split=grouped_split(dataset, seed=seed))


def spider_training(folder: str | Path) -> Dataset:
    """Load Spider's training questions, original and with synonyms, without those of dev.

    A quarter of the training databases is held out: their questions are for validation. Training
    uses neither their sheets nor those of dev's databases. Questions that the synonyms left
    unchanged occur once.

    Raises:
        CorpusError: If a file is missing or malformed.
    """
    dataset = load_spider(folder, "train")
    reworded = load_spider(folder, "train_synonym")
    first = {(query.text.casefold(), query.positives) for query in dataset.queries}
    new = (q for q in reworded.queries if (q.text.casefold(), q.positives) not in first)
    queries = (*dataset.queries, *new)
    held_out = held_out_workbooks(dataset.queries)
    places = range(len(queries))
    taught = {query.workbook for query in queries} - held_out
    split = Split(
        train=tuple(place for place in places if queries[place].workbook not in held_out),
        validation=tuple(place for place in places if queries[place].workbook in held_out),
        seen=frozenset(one.sheet_id for one in dataset.records if one.workbook in taught),
    )
    files = tuple(dict.fromkeys((*dataset.files, *reworded.files)))
    return Dataset("spider_train", dataset.records, queries, dataset.links, files, split=split)
