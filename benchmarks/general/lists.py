"""Lists of candidates for the feature reranker: of many kinds of corpora, none of them learnt.

The general encoder has learnt from no question of these corpora: other companies, other
databases, other tables. So its lists are as hard as those of a user's questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from benchmarks.corpora import CORPORA, INDUSTRYTAB_1K
from benchmarks.general.corpora import HELD_OUT, SIZES, Wanted, parts
from benchmarks.general.corpora import Part as GeneralPart
from benchmarks.general.lessons import TABLES
from benchmarks.indexes import Links, fill, made_once
from benchmarks.progress import progress_lines
from benchmarks.related.made import made_workbooks
from benchmarks.related.sets import SETS, Part, Places
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.tables import load_tables
from sat_retriever.encoder import SheetEncoder
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.grouping import evenly
from sat_retriever.train.reranker.featurelists import FeatureLists, feature_lists

Use = Literal["taught", "judged", "watched"]
LEARNT, ASKED = 1500, 400  # most questions of a corpus
_ASKS = "value=.15,note=.15,label=.15"


@dataclass(frozen=True, slots=True)
class ListCorpus:
    """A corpus whose lists are learnt from or judged by.

    Attributes:
        name: Name in result files.
        dataset: Sheets, or the folder of its workbooks.
        queries: The questions.
        use: "taught": its lists are learnt. "judged": they choose the epoch. "watched": neither;
            only the bounds of the guard were chosen with the help of one of them.
        contents: What its index keeps of cells.
        found_links: True to find links in the sheets; False takes the published ones.
    """

    name: str
    dataset: Dataset
    queries: tuple[Query, ...]
    use: Use
    contents: ContentsPolicy = ContentsPolicy.NAMES
    found_links: bool = False


def list_corpora(data: Path, folder: Path) -> Iterator[ListCorpus]:
    """Yield the corpora; made ones are kept in a folder.

    Args:
        data: Folder of the published corpora.
        folder: Folder of the made ones.
    """
    wanted = Wanted(SIZES["full"])
    yield from _spider(data)
    for part in parts(wanted, data, folder / "general"):
        yield from _of_part(part)
    yield from _tables(data)
    yield from _workbooks(wanted, folder / "workbooks")
    yield from _related(Places(data, folder / "related"))
    yield from _watched(data)


def _spider(data: Path) -> Iterator[ListCorpus]:
    """Yield Spider's held-out databases: every other one is learnt, the others judge."""
    for name in CORPORA:
        if not name.startswith("spider_train"):
            continue
        dataset = CORPORA[name].read(data)
        uses: tuple[Use, Use] = ("taught", "judged")
        for use, databases in zip(uses, held_out_halves(dataset), strict=True):
            kept = [query for query in _held_out(dataset) if query.workbook in databases]
            yield _some(f"{name}_{use}", dataset, kept, use, found_links=True)


def _held_out(dataset: Dataset) -> list[Query]:
    """Return the questions about databases that the encoder has not learnt."""
    chosen = CORPORA["spider_train"].validation
    return [] if chosen is None else [dataset.queries[place] for place in chosen(dataset)]


def held_out_halves(dataset: Dataset) -> tuple[list[str], list[str]]:
    """Return the held-out databases, those in even places and those in odd ones."""
    databases = sorted({query.workbook for query in _held_out(dataset)})
    return databases[::2], databases[1::2]


def _related(places: Places) -> Iterator[ListCorpus]:
    """Yield questions that need several linked sheets: made ones are learnt, others watched.

    Of Spider's held-out databases those that `_spider` judges are watched.
    """
    judged = held_out_halves(CORPORA["spider_train"].read(places.data))[1]
    for name, each in SETS.items():
        parts: tuple[tuple[Part, Use], ...] = (("train", "taught"), ("validation", "watched"))
        for part, use in parts:
            if part not in each.parts or (use == "taught" and name.startswith("spider")):
                continue
            for number, asked in enumerate(each.read(part, places)):
                dataset = asked.dataset
                kept = [
                    query for query in dataset.queries
                    if not name.startswith("spider") or query.workbook in judged
                ]  # fmt: skip
                yield _some(
                    f"{name}_{part}_{number}", dataset, kept, use,
                    contents=ContentsPolicy.ALL, found_links=asked.links == "found",
                )  # fmt: skip


def _of_part(part: GeneralPart) -> Iterator[ListCorpus]:
    """Yield corpora of the general model that its encoder has not learnt from."""
    if part.use == "reranked":
        yield _some(part.name, part.dataset, part.dataset.queries, "taught")
    if part.use == "judged":
        yield _some(part.name, part.dataset, part.dataset.queries, "judged")


def _tables(data: Path) -> Iterator[ListCorpus]:
    """Yield tables of the web with their cells, with and without telling names.

    The questions are about tables that the encoder has not learnt, among those that it has.
    """
    known = load_tables(data / "contents", TABLES, part="validation").records
    uses: tuple[Use, Use] = ("taught", "judged")
    for titles in (True, False):
        dataset = load_tables(data / "contents", TABLES, titles=titles)
        for use, records in zip(uses, (known[::2], known[1::2]), strict=True):
            tables = {each.sheet_id for each in records}
            kept = [query for query in dataset.queries if tables.issuperset(query.positives)]
            yield _some(f"{dataset.name}_{use}", dataset, kept, use, contents=ContentsPolicy.ALL)


def _workbooks(wanted: Wanted, folder: Path) -> Iterator[ListCorpus]:
    """Yield made workbooks, asked by names and by contents, with and without contents."""
    made: tuple[tuple[int, Sequence[str], int, int, str, Use], ...] = (
        (11, wanted.conventions, 250, 700, "", "taught"),
        (12, wanted.conventions, 250, 700, "", "taught"),
        (13, wanted.conventions, 300, 700, _ASKS, "taught"),
        (14, HELD_OUT, 150, 300, "", "judged"),
        (15, HELD_OUT, 150, 300, _ASKS, "judged"),
    )
    for number, conventions, sheets, questions, asks, use in made:
        dataset = made_workbooks(
            number, conventions, folder, sheets=sheets, questions=questions, asks=asks
        )
        for level in (ContentsPolicy.ALL, ContentsPolicy.NAMES):
            name = f"{dataset.name}_{level.value}"
            if level is ContentsPolicy.ALL or not asks:
                yield _some(name, dataset, dataset.queries, use, contents=level)


def _watched(data: Path) -> Iterator[ListCorpus]:
    """Yield corpora of other kinds, that nothing is learnt from or chosen with."""
    corpus = CORPORA[INDUSTRYTAB_1K]
    dataset = corpus.read(data)
    places = () if corpus.validation is None else corpus.validation(dataset)
    asked = tuple(dataset.queries[place] for place in places)
    yield _some("industrytab_1k_validation", dataset, asked, "watched")
    eps = CORPORA["eps_development"].read(data)
    yield _some("eps_development", eps, eps.queries, "watched", contents=ContentsPolicy.ALL)
    yield _some("eps_development_names", eps, eps.queries, "watched")


def _some(
    name: str,
    dataset: Dataset,
    queries: Sequence[Query],
    use: Use,
    *,
    contents: ContentsPolicy = ContentsPolicy.NAMES,
    found_links: bool = False,
) -> ListCorpus:
    most = LEARNT if use == "taught" else ASKED
    kept = tuple(evenly([each for each in queries if each.positives], most))
    return ListCorpus(name, replace(dataset, name=name), kept, use, contents, found_links)


def lists_of(corpus: ListCorpus, encoder: SheetEncoder, folder: Path) -> FeatureLists:
    """Return the lists of a corpus's questions by an encoder; its index is kept in a folder."""
    links: Links = "found" if corpus.found_links else "given"
    path = made_once(
        folder / f"{corpus.name}-{encoder.fingerprint}.sat",
        encoder,
        lambda index: fill(index, corpus.dataset, links),
        contents=corpus.contents,
    )
    with SheetIndex.open(path, encoder) as index:
        return feature_lists(
            index, corpus.queries, corpus.name, progress=progress_lines(corpus.name)
        )
