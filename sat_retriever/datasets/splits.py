"""Split queries into training, validation and test, and load corpora in these splits."""

from __future__ import annotations

import random
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sat_retriever.datasets.dataset import Dataset, Split, load_industrytab, load_spider
from sat_retriever.datasets.labels import Query
from sat_retriever.errors import InputError
from sat_retriever.records.grouping import connected
from sat_retriever.records.sheets import SheetRecord

_LONG_FORMS = {
    "Inventory_Inventory_Check_": "Inventory_Inventory_Check_Records_",
    "Inventory_Warehouse_Entry_": "Inventory_Warehouse_Entry_Details_",
    "Inventory_Warehouse_Exit_": "Inventory_Warehouse_Exit_Details_",
}
_PERIOD = re.compile(r"20\d\d(?:[-_]\d\d)?(?:_Q\d)?")
_TARGETS = (0.70, 0.15, 0.15)


def standard_split(num_queries: int, *, ratio: float = 0.1, seed: int = 42) -> Split:
    """Return the paper's split: queries shuffled, the last ones held out.

    IndustryTab-1K uses ratio 0.1 and seed 42 for every training seed. IndustryTab-614 uses ratio
    0.2 and the training seed.

    Source: the released recipe. Test = last int(ratio * n), validation = last
    int(0.1 * rest).

    >>> split = standard_split(1797)
    >>> len(split.train), len(split.validation), len(split.test)
    (1457, 161, 179)
    """
    if not 0 < ratio < 1:
        raise InputError(f"ratio must lie between 0 and 1, not {ratio}")
    order = list(range(num_queries))
    random.Random(seed).shuffle(order)  # noqa: S311 - a published seed, no secret
    known = num_queries - int(ratio * num_queries)
    taught = known - int(0.1 * known)
    return Split(tuple(order[:taught]), tuple(order[taught:known]), tuple(order[known:]))


def family(name: str) -> str:
    """Return an IndustryTab sheet name without its period and side.

    Source: the released grouped evaluation.

    >>> family("Stock_Market__Stock_2025_Q3_source")
    'Stock_Market_Data__Stock_YEAR'
    """
    name = name.removeprefix("Synthetic_Data__")
    if name.startswith("Stock_Market__"):
        name = name.replace("Stock_Market__", "Stock_Market_Data__", 1)
    for short, long in _LONG_FORMS.items():
        if short in name and long not in name:
            name = name.replace(short, long)
    name = re.sub(r"_(?:source|target)$", "", name)
    return _PERIOD.sub("YEAR", name)


def sheet_groups(records: Sequence[SheetRecord]) -> list[list[str]]:
    """Group sheet ids that share a family or header set, also through others; in numeric order."""
    return connected((record.sheet_id, _keys(record)) for record in records)


def _keys(record: SheetRecord) -> Iterator[Hashable]:
    yield "family", family(record.sheet)
    yield "headers", *sorted(column.name.strip().lower() for column in record.columns)


def grouped_split(dataset: Dataset, *, seed: int = 42) -> Split:
    """Return a split in which training sees no family and no header set of a test sheet.

    A query belongs to the part that holds all its relevant sheets; other queries are left out.
    Training may not use held-out sheets, not even as negatives: see `Split.seen`.

    Source: the released grouped evaluation; parts of .70/.15/.15 of the sheets.
    """
    if not dataset.records:
        raise InputError(f"data set {dataset.name!r} has no records to group")
    rng = random.Random(seed)  # noqa: S311 - a published seed, no secret
    part_of = _assign(sheet_groups(dataset.records), len(dataset.records), rng)
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for place, query in enumerate(dataset.queries):
        homes = {part_of.get(sheet) for sheet in query.positives}
        home = homes.pop()
        if not homes and home is not None:
            parts[home].append(place)
    for part in parts:
        rng.shuffle(part)
    train, validation, test = (tuple(part) for part in parts)
    seen = frozenset(sheet for sheet, part in part_of.items() if part == 0)
    return Split(train, validation, test, seen)


def _assign(groups: list[list[str]], num_sheets: int, rng: random.Random) -> dict[str, int]:
    """Return the part (0 train, 1 validation, 2 test) of every sheet, largest groups first."""
    order = list(range(len(groups)))
    rng.shuffle(order)
    order.sort(key=lambda place: -len(groups[place]))
    targets = [share * num_sheets for share in _TARGETS]
    sizes = [0, 0, 0]
    part_of: dict[str, int] = {}
    for place in order:
        # max takes the first of equal parts: train before validation before test
        part = max(range(3), key=lambda part: (targets[part] - sizes[part]) / targets[part])
        sizes[part] += len(groups[place])
        part_of.update(dict.fromkeys(groups[place], part))
    return part_of


def held_out_workbooks(
    queries: Iterable[Query], *, share: float = 0.25, seed: int = 42
) -> frozenset[str]:
    """Choose workbooks to hold out for validation, so that training sees none of their questions.

    On Spider's training questions this gives a database-disjoint validation part.

    >>> queries = [Query("?", ("1",), workbook=name) for name in "abcd"]
    >>> len(held_out_workbooks(queries, share=0.5))
    2
    """
    if not 0 < share < 1:
        raise InputError(f"share must lie between 0 and 1, not {share}")
    names = sorted({query.workbook for query in queries})
    random.Random(seed).shuffle(names)  # noqa: S311 - a repeatable choice, no secret
    return frozenset(names[: int(share * len(names))])


def standard_dataset(folder: str | Path, *, seed: int = 42) -> Dataset:
    """Load an IndustryTab corpus, or one that `sat synth` made, in the paper's split.

    Source: the released recipe. IndustryTab-614 is split by the training seed, 1K and other corpora
    always by seed 42.
    """
    dataset = load_industrytab(folder)
    number = len(dataset.queries)
    if dataset.name == "industrytab_614":
        return replace(dataset, split=standard_split(number, ratio=0.2, seed=seed))
    return replace(dataset, split=standard_split(number))


def grouped_dataset(folder: str | Path, *, seed: int = 42) -> Dataset:
    """Load such a corpus in the split of unseen families: training sees no held-out sheet.

    Source: the released grouped evaluation; the split's seed is the training seed.
    """
    dataset = load_industrytab(folder)
    return replace(dataset, split=grouped_split(dataset, seed=seed))


def spider_training(folder: str | Path) -> Dataset:
    """Load Spider's training questions, original and with synonyms, without those of dev.

    A quarter of the training databases is held out: their questions are for validation. Training
    uses neither their sheets nor those of dev's databases. Questions that the synonyms left
    unchanged occur once.
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
