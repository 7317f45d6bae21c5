"""Define a corpus with labelled queries, and load the published ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sat_retriever.datasets.edges import load_links
from sat_retriever.datasets.labels.query import Query, read_queries
from sat_retriever.datasets.sheets import load_sheets
from sat_retriever.errors import CorpusError
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord

SPIDER_FILES = {
    "dev": "query_dev.json",
    "train": "query_train.json",
    "train_synonym": "query_train_synonym.json",
}
# The published corpora, by their numbers of sheets and of queries.
_INDUSTRYTAB = {
    (1002, 1797): "industrytab_1k",
    (614, 1453): "industrytab_614",
    (614, 134): "industrytab_614",
}
_MADE = "corpus.json"  # beside a corpus that `sat synth` made


@dataclass(frozen=True, slots=True)
class Split:
    """The use of each query of a data set, and the sheets that training may see.

    `train`, `validation` and `test` are positions in `Dataset.queries`: to learn from, to make all
    choices with, and for the one reported evaluation.
    """

    train: tuple[int, ...] = ()
    validation: tuple[int, ...] = ()
    test: tuple[int, ...] = ()
    seen: frozenset[str] | None = None  # ids of the sheets that training may use, even as negatives


@dataclass(frozen=True, slots=True)
class Dataset:
    """A corpus with labelled queries, for training, choosing and measuring.

    Records are in numeric order of their ids. There are none if `root`, a folder of workbooks,
    holds the sheets, or if these are in a user's index.
    """

    name: str  # stable, for example "industrytab_1k" or "spider_dev"
    records: tuple[SheetRecord, ...]
    queries: tuple[Query, ...]  # in file order
    links: tuple[Link, ...] = ()  # published ones
    files: tuple[Path, ...] = ()  # that it was read from, for provenance
    root: Path | None = None
    split: Split = Split()  # empty until one is chosen

    @property
    def train(self) -> tuple[Query, ...]:
        """Queries to learn from."""
        return chosen(self.queries, self.split.train)

    @property
    def validation(self) -> tuple[Query, ...]:
        """Queries to choose with."""
        return chosen(self.queries, self.split.validation)

    @property
    def test(self) -> tuple[Query, ...]:
        """Queries of the reported evaluation."""
        return chosen(self.queries, self.split.test)

    @property
    def left_out(self) -> int:
        """Number of queries outside training and validation, such as those of the test."""
        return len(self.queries) - len(self.split.train) - len(self.split.validation)


def chosen(queries: Sequence[Query], places: Iterable[int]) -> tuple[Query, ...]:
    """Return the queries at some positions, in the order of the positions."""
    return tuple(queries[place] for place in places)


def divided_dataset(
    name: str,
    train: Sequence[Query],
    validation: Sequence[Query],
    *,
    seen: frozenset[str] | None = None,
) -> Dataset:
    """Make a data set of queries that are already divided; its sheets are in an index.

    A training query that counts twice is repeated.

    >>> found = divided_dataset("own", [Query("a", ("1",))], [Query("b", ("2",))])
    >>> found.split.train, found.split.validation, found.validation[0].text
    ((0,), (1,), 'b')
    """
    queries = (*train, *validation)
    places = tuple(range(len(queries)))
    split = Split(places[: len(train)], places[len(train) :], seen=seen)
    return Dataset(name, (), queries, split=split)


def load_industrytab(folder: str | Path) -> Dataset:
    """Load IndustryTab-1K, IndustryTab-614, or a corpus in the same layout (`sat synth`).

    The queries are those of `query.json`, or else the 134 legacy queries of IndustryTab-614. There
    is one link per pair and type (`edge_all_types`), directed if the release directs it.

    Source: paper, section 4 (data sets). Departs: the release's `split` field is ignored, since
    the reported splits differ from it; see `sat_retriever.datasets.splits`.

    Raises:
        CorpusError: If a file is missing or malformed, names a sheet that does not exist, or has
            a field for cell values.
    """
    folder = Path(folder)
    sheets, edges = folder / "sheets.json", folder / "dependency_edges.json"
    names = ("query.json", "query_legacy_134.json")
    queries = next((folder / each for each in names if (folder / each).is_file()), None)
    if queries is None:
        raise CorpusError(f"{folder} holds none of {', '.join(names)}; is it the corpus folder?")
    records = load_sheets(sheets)
    known = frozenset(record.sheet_id for record in records)
    asked = read_queries(queries, known=known, typed=True)
    name = _INDUSTRYTAB.get((len(records), len(asked)))
    return Dataset(
        name=name if name and not (folder / _MADE).exists() else folder.resolve().name,
        records=records,
        queries=asked,
        links=load_links(edges, known) if edges.is_file() else (),
        files=tuple(path for path in (sheets, queries, edges) if path.is_file()),
    )


def load_spider(
    folder: str | Path, split: Literal["dev", "train", "train_synonym"] = "dev"
) -> Dataset:
    """Load Spider's databases as workbooks: 876 sheets, with one split's questions.

    All splits search the same sheets; no database has questions in both training and dev. Links are
    the declared foreign keys (`join_key`). "train_synonym" is the training part with column and
    table names replaced by synonyms (Spider-Syn).
    """
    if split not in SPIDER_FILES:
        raise CorpusError(f"Spider has no split {split!r}; choose from {', '.join(SPIDER_FILES)}")
    folder = Path(folder)
    sheets, queries, links = (
        folder / name for name in ("sheets.json", SPIDER_FILES[split], "links.json")
    )
    records = load_sheets(sheets)
    known = frozenset(record.sheet_id for record in records)
    return Dataset(
        name=f"spider_{split}",
        records=records,
        queries=read_queries(queries, known=known),
        links=load_links(links, known),
        files=(sheets, queries, links),
    )


def load_bird(folder: str | Path, *, evidence: bool = False) -> Dataset:
    """Load BIRD's development part: 75 sheets, 1,534 questions, no links.

    `evidence` appends the published hint to the question, and the data set is called
    "bird_dev_evidence" instead of "bird_dev". Off by default, since a hint names the columns to use
    and no user writes one.
    """
    folder = Path(folder)
    sheets, path = folder / "sheets.json", folder / "query_dev.json"
    records = load_sheets(sheets)
    known = frozenset(record.sheet_id for record in records)
    queries = read_queries(path, known=known, evidence=evidence)
    name = "bird_dev_evidence" if evidence else "bird_dev"
    return Dataset(name=name, records=records, queries=queries, files=(sheets, path))


def load_eps(folder: str | Path) -> Dataset:
    """Load the questions over the Energy Policy Simulator's workbooks; without records.

    Sheet ids are `<path below folder>#<sheet>`, as the indexing of `root` makes them.
    """
    folder = Path(folder)
    path = folder / "query.json"
    return Dataset(
        name="eps", records=(), queries=read_queries(path, known=None), files=(path,), root=folder
    )
