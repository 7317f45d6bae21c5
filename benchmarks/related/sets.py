"""The sets of questions that need several sheets, with the corpora they are asked of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from benchmarks.corpora import CORPORA
from benchmarks.general.corpora import HELD_OUT, Size, Wanted
from benchmarks.related.formulas import formula_questions, formula_reads
from benchmarks.related.made import QUESTIONS, SHEETS, made_workbooks
from sat_retriever.datasets.dataset import Dataset, load_eps
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.splits import spider_training
from sat_retriever.records.grouping import evenly

Part = Literal["train", "validation", "test"]
Links = Literal["given", "found"]
MADE = Path("runs/related")  # made corpora and indexes, shared by several suites
MOST = 10  # relevant sheets of a question: all of them can be among the first ten
ASKED = 150  # most questions of a made corpus in a set
_MADE: Mapping[Part, tuple[int, ...]] = {"validation": (1, 2), "test": (3, 4), "train": (5, 6)}


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of the data, and of what is made from it.

    Attributes:
        data: Published corpora.
        runs: Made corpora and indexes.
    """

    data: Path
    runs: Path


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions about one corpus.

    Attributes:
        dataset: The corpus; its questions are those that are asked.
        links: The links of its index: those that it publishes, or those that the index finds.
    """

    dataset: Dataset
    links: Links

    @property
    def data(self) -> tuple[Path, ...]:
        """Files or folder that it was read from."""
        return self.dataset.files if self.dataset.root is None else (self.dataset.root,)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A set of questions that need several sheets.

    Attributes:
        name: Its name in result files.
        title: Its name in tables.
        read: Reads the questions of a part, by corpus.
        parts: Parts that it has.
    """

    name: str
    title: str
    read: Callable[[Part, Places], Iterator[Asked]]
    parts: tuple[Part, ...] = ("train", "validation", "test")


def with_several(queries: Iterable[Query], least: int = 2, most: int = MOST) -> tuple[Query, ...]:
    """Return the questions with so many relevant sheets.

    >>> asked = [Query("a", ("1",)), Query("b", ("1", "2")), Query("c", ("1", "2", "3"))]
    >>> [query.text for query in with_several(asked)], len(with_several(asked, 3))
    (['b', 'c'], 1)
    """
    return tuple(query for query in queries if least <= len(set(query.positives)) <= most)


def _spider(
    part: Part, places: Places, *, links: Links, tables: tuple[int, int]
) -> Iterator[Asked]:
    """Yield Spider's databases with questions of as many tables.

    Validation is over the held-out training databases, and the test is the dev part.
    """
    if part == "test":
        dataset = CORPORA["spider_dev"].read(places.data)
        queries = dataset.queries
    else:
        dataset = spider_training(places.data / "spider")
        queries = dataset.train if part == "train" else dataset.validation
        if part == "train" and dataset.split.seen is not None:
            dataset = _among(dataset, dataset.split.seen)
    yield Asked(replace(dataset, queries=with_several(queries, *tables)), links)


def _among(dataset: Dataset, seen: frozenset[str]) -> Dataset:
    """Return a data set with some of its sheets, and the links among them."""
    records = tuple(each for each in dataset.records if each.sheet_id in seen)
    links = tuple(each for each in dataset.links if {each.source, each.target} <= seen)
    return replace(dataset, name=f"{dataset.name}_seen", records=records, links=links)


def _made(part: Part, places: Places, *, query_type: str) -> Iterator[Asked]:
    """Yield made corpora with questions of a type; all but training's have unseen conventions."""
    conventions = Wanted(Size()).conventions if part == "train" else HELD_OUT
    for number in _MADE[part]:
        dataset = made_workbooks(
            number, conventions, places.runs / "corpora", sheets=SHEETS, questions=QUESTIONS
        )
        asked = with_several(each for each in dataset.queries if each.query_type == query_type)
        yield Asked(replace(dataset, queries=tuple(evenly(asked, ASKED))), "found")


def _formulas(part: Part, places: Places) -> Iterator[Asked]:
    """Yield EPS with questions for input variables and what their formulas read."""
    dataset, chosen = _eps(part, places, "input_variable")
    reads = _eps_reads(places.data / CORPORA["eps"].folder)
    found = formula_questions(dataset.queries, reads)
    kept = (query for place, query in found.items() if place in chosen)
    yield Asked(replace(dataset, queries=with_several(kept)), "found")


def _computed(part: Part, places: Places) -> Iterator[Asked]:
    """Yield EPS with its labelled questions for computed variables."""
    dataset, chosen = _eps(part, places, "computed_variable")
    kept = (query for place, query in enumerate(dataset.queries) if place in chosen)
    yield Asked(replace(dataset, queries=with_several(kept)), "found")


def _eps(part: Part, places: Places, query_type: str) -> tuple[Dataset, frozenset[int]]:
    """Return EPS, and the places of a part's questions of a type."""
    whole = CORPORA["eps_whole"]
    dataset = load_eps(places.data / whole.folder)
    own = whole.parts["development" if part == "validation" else "test"](dataset)
    typed = (place for place in own if dataset.queries[place].query_type == query_type)
    return dataset, frozenset(typed)


@cache
def _eps_reads(root: Path) -> Mapping[str, frozenset[str]]:
    files = (
        sheet.partition("#")[0] for query in load_eps(root).queries for sheet in query.positives
    )
    return formula_reads(root, files)


_THREE, _TWO = (3, MOST), (2, 2)
_CHOSEN: tuple[Part, ...] = ("validation", "test")

SETS: Mapping[str, QuestionSet] = MappingProxyType(
    {
        each.name: each
        for each in (
            QuestionSet(
                "spider_keys",
                "Spider, three tables or more, declared keys",
                partial(_spider, links="given", tables=_THREE),
            ),
            QuestionSet(
                "spider_hidden",
                "the same, keys hidden",
                partial(_spider, links="found", tables=_THREE),
            ),
            QuestionSet(
                "spider_two_keys",
                "Spider, two tables, declared keys",
                partial(_spider, links="given", tables=_TWO),
            ),
            QuestionSet(
                "spider_two_hidden",
                "the same, keys hidden",
                partial(_spider, links="found", tables=_TWO),
            ),
            QuestionSet(
                "made_formulas",
                "made workbooks, formula tracing",
                partial(_made, query_type="formula_tracing"),
            ),
            QuestionSet(
                "made_summaries",
                "made workbooks, sources of summaries",
                partial(_made, query_type="summary_source"),
            ),
            QuestionSet(
                "made_joins",
                "made workbooks, joins",
                partial(_made, query_type="join_key_reasoning"),
            ),
            QuestionSet(
                "eps_formulas", "EPS, variables and what their formulas read", _formulas, _CHOSEN
            ),
            QuestionSet("eps_computed", "EPS, computed variables as labelled", _computed, _CHOSEN),
        )
    }
)
