"""Random searches for random groups, and every place where a hidden sheet shows.

    python -m benchmarks run permissions [--searches 10000 --sheets 400 --compared 8]

Each made sheet has a name of its own, and random groups; some are everyone's, some nobody's. Half
of the searches are in an index file, half in PostgreSQL, there by a role that may only read.
A search is asked with words, years, phrases, and names of hidden sheets, some of them misspelt;
with and without links and filters. All that is said is looked through for the id of a hidden
sheet and for its name: hits with reasons, links and copies; the question as it was read; where a
sheet stands; what agents' tools say; counts; refusals. The answers for some groups are compared
with those of an index that holds only the sheets that they may see.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import psycopg

from benchmarks.pgserver import UnavailableError, new_server
from benchmarks.progress import track
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever import Column, Filters, InputError, Link, SheetIndex, SheetRecord, SheetTools
from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.encoder import SheetEncoder
from sat_retriever.index.store.place import IndexUrl
from sat_retriever.records.contents import CellText, SheetContents, TableContents
from sat_retriever.records.tokens import FloatArray

GROUPS = tuple(f"group{number}" for number in range(8))
AUDIENCES = 24  # sets of groups that ask in each store
WORDS = (
    *("Revenue", "Costs", "Fleet", "Staffing", "Rent", "Fuel", "Stock", "Orders", "Emissions"),
    *("Salary", "Supplier", "Budget", "Region", "Customer", "Invoice", "Holiday", "Machine"),
)
FILTERS = (None, Filters(path="a/*"), Filters(period="2023"), Filters(metadata={"year": 2023}))
_READER = "permissions_reader"


@dataclass(frozen=True, slots=True)
class Corpus:
    """Made sheets.

    Attributes:
        records: The sheets.
        links: Links between them.
        names: The name that only one sheet has, by sheet id.
        groups: Groups that may see each.
        encoder: Encoder of all indexes of them.
    """

    records: Sequence[SheetRecord]
    links: Sequence[Link]
    names: Mapping[str, str]
    groups: Mapping[str, frozenset[str]]
    encoder: Once

    def visible(self, principals: Sequence[str]) -> set[str]:
        """Ids of the sheets that some groups may see, by the definition."""
        asking = {*principals, "*"}
        return {each for each, groups in self.groups.items() if groups & asking}

    def filled(self, place: str | Path, ids: set[str]) -> SheetIndex:
        """A new index of some of the sheets, and of the links between them."""
        index = SheetIndex.create(place, self.encoder)
        index.add_records(
            [each for each in self.records if each.sheet_id in ids],
            [link for link in self.links if {link.source, link.target} <= ids],
            find_links=False,
        )
        return index


def made_corpus(count: int, draw: random.Random) -> Corpus:
    """A corpus of so many sheets."""
    records: list[SheetRecord] = []
    names: dict[str, str] = {}
    groups: dict[str, frozenset[str]] = {}
    kinds = [frozenset(), frozenset("*"), *(frozenset(draw.sample(GROUPS, 2)) for _ in range(10))]
    while len(records) < count:
        name = "".join(draw.choice("bcdfghklmnprst") + draw.choice("aeiou") for _ in range(5))
        if name in names.values():
            continue
        record = _record(len(records), name, draw)
        records.append(record)
        names[record.sheet_id] = name
        groups[record.sheet_id] = draw.choice(kinds)
    ids = [*names]
    pairs = sorted({tuple(draw.sample(ids, 2)) for _ in range(3 * count)})
    links = [Link(one, other, "formula", draw.choice((0.4, 0.9)), "B2") for one, other in pairs]
    return Corpus(records, links, names, groups, Once())


def _record(number: int, name: str, draw: random.Random) -> SheetRecord:
    year = draw.choice((2022, 2023, 2024))
    book = f"{draw.choice(WORDS)} {year} {name}.xlsx"
    texts = [f"{draw.choice(WORDS)} {name}", f"{draw.choice(WORDS)} {draw.randint(100, 120)}"]
    cells = tuple(CellText(f"A{row}", text) for row, text in enumerate(texts, 3))
    return SheetRecord(
        f"{number:05}/{book}#{draw.choice(WORDS)}",
        draw.choice(WORDS),
        workbook=book,
        path=f"{draw.choice('ab')}/{number:05}/{book}",
        columns=tuple(Column(draw.choice(WORDS)) for _ in range(3)),
        metadata={"year": year},
        contents=SheetContents((cells[0],), (TableContents(values=cells[1:]),)),
    )


class Once:
    """The default encoder; it encodes each text once, so that equal texts have equal tokens."""

    def __init__(self) -> None:
        self._encoder = SheetEncoder.load()
        self._known: dict[str, FloatArray] = {}
        self.name = self._encoder.name
        self.fingerprint = self._encoder.fingerprint
        self.width = self._encoder.width

    def encode_sheets(self, texts: Sequence[str]) -> FloatArray:
        """Return tokens of sheets, (n, d) float32, rows of unit length."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= dict(zip(new, self._encoder.encode_sheets(new), strict=True))
        return np.stack([self._known[text] for text in texts])

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return tokens of queries, (n, d) float32, rows of unit length."""
        return self._encoder.encode_queries(texts)


class Asker:
    """One set of groups that asks, and what it must not be told.

    Args:
        tools: Tools of the whole index.
        corpus: What is in it.
        principals: The groups.
    """

    def __init__(self, tools: SheetTools, corpus: Corpus, principals: Sequence[str]) -> None:
        self.tools = tools.seen_by(principals)
        self.index = self.tools.index
        self.principals = principals
        self.seen = sorted(corpus.visible(principals))
        self.hidden = {x: name for x, name in corpus.names.items() if x not in set(self.seen)}
        self.faults: Counter[str] = Counter()
        self.looked = 0

    def search(self, retriever: SheetRetriever, number: int, draw: random.Random) -> None:
        """Ask once, and look through all that is said.

        Args:
            retriever: A retriever of the whole index.
            number: Number of the search, which chooses filters and what else is asked.
            draw: Chooses the words.
        """
        target = draw.choice([*self.hidden] or self.seen)
        name = self.hidden.get(target, "")
        query = _query(name, draw)
        filters = FILTERS[number % len(FILTERS)]
        hits = retriever.retrieve(query, 10, filters, principals=self.principals)
        self._look("hits", [*hits, hits.note], query)
        question = self.index.question(query)
        self._look("read as", [question.read_as], query)
        mine, tools = retriever.seen_by(self.principals), self.tools
        asking = (
            lambda each: mine.why(query, each),
            tools.describe_sheet, tools.related_sheets, tools.read_range,
        )  # fmt: skip
        self._refused("refused", asking[number % len(asking)], target)
        if number % 4 == 0:
            self._look("cells", [tools.search_cells(name or "x").cells], "")
            self._look("tool", [tools.find_sheets(query, 10)], query)
        if number % 8 == 0:
            self._look("status", [tools.index_status(), self.index.sheet_ids()], "")
            counts = (len(self.index), self.index.status()["sheets"], self.index.search.count())
            self.faults["count"] += sum(each != len(self.seen) for each in counts)
        if self.seen:
            self._look("links", [tools.related_sheets(draw.choice(self.seen))], "")

    def _look(self, where: str, said: Sequence[object], asked: str) -> None:
        """Count the hidden sheets that are told in some texts, but for what was asked by name."""
        text = repr(said).replace(asked, "") if asked else repr(said)
        self.looked += len(self.hidden)
        for each, name in self.hidden.items():
            self.faults[where] += each in text or name in text.lower()

    def _refused(self, where: str, ask: Callable[[str], object], target: str) -> None:
        """Count a hidden sheet that is not refused, and other hidden ones that a refusal names."""
        if target not in self.hidden:
            return
        try:
            ask(target)
            self.faults[where] += 1
        except InputError as error:
            self._look(where, [str(error).replace(target, "")], self.hidden[target])


def _query(name: str, draw: random.Random) -> str:
    """A question with words, and with a hidden name that is misspelt or not."""
    at = draw.randint(1, 7)
    swapped = name[:at] + name[at + 1 : at + 2] + name[at : at + 1] + name[at + 2 :]
    words = [*draw.choices((*WORDS, "2023", "110"), k=2), draw.choice((name, swapped, "report"))]
    draw.shuffle(words)
    return draw.choice((" ".join(words), f'"{words[0]} {words[1]}" {words[2]}')).strip()


def compared(corpus: Corpus, asker: Asker, asked: Sequence[str], place: Path) -> int:
    """Number of answers that differ from those of an index of only the visible sheets.

    Args:
        corpus: The sheets.
        asker: Somebody who sees some of them.
        asked: The questions.
        place: Where to make that index.
    """
    with corpus.filled(place, set(asker.seen)) as only:
        different = 0
        for reranker in (None, "links"):
            one, other = (SheetRetriever(each, reranker) for each in (asker.index, only))
            for number, query in enumerate(asked):
                filters = FILTERS[number % len(FILTERS)]
                hits, same = (each.retrieve(query, 10, filters) for each in (one, other))
                different += repr(list(hits)) != repr(list(same))
                different += hits.confidence != same.confidence
    return different


def measured(name: str, whole: SheetIndex, corpus: Corpus, given: Options, folder: Path) -> Result:
    """Search an index for random groups; return what showed."""
    draw = random.Random(given.seed)
    tools = SheetTools(whole, reranker="links")
    askers = [
        Asker(tools, corpus, sorted(draw.sample(GROUPS, draw.randint(0, 4))))
        for _ in range(AUDIENCES)
    ]
    plain, linked = (SheetRetriever(whole, each) for each in (None, "links"))
    searches = given.searches // 2
    for number, asker in enumerate(track(islice(cycle(askers), searches), name, searches)):
        asker.search(linked if number % 3 else plain, number, draw)
    different = 0
    chosen = askers[: given.compared]
    asked = [_query(draw.choice([*corpus.names.values()]), draw) for _ in range(given.questions)]
    for number, asker in enumerate(track(chosen, f"{name}: compared")):
        different += compared(corpus, asker, asked, folder / f"{number}.sat")
    faults: Counter[str] = sum((asker.faults for asker in askers), Counter())
    console.print(f"{name}: shown {dict(faults) or 'nothing'}, {different} answers differ")
    metrics = {
        "sheets": len(corpus.records),
        "searches": searches,
        "looked_for": sum(asker.looked for asker in askers),
        "shown": faults.total(),
        "compared": 2 * len(asked) * len(chosen),
        "different": different,
    }
    return Result("sat-retriever", name, metrics, seed=given.seed)


@contextmanager
def in_postgres(corpus: Corpus) -> Iterator[SheetIndex]:
    """An index in PostgreSQL with the groups of a corpus, open as a role that may only read."""
    with new_server() as server:
        with corpus.filled(server.url("permissions"), {*corpus.names}) as owned:
            owned.permit(lambda record: corpus.groups[record.sheet_id])
            space = owned.path.namespace if isinstance(owned.path, IndexUrl) else ""
        with psycopg.connect(server.conninfo, autocommit=True) as admin:
            admin.execute(f"CREATE ROLE {_READER} LOGIN")
            admin.execute(f"GRANT USAGE ON SCHEMA {space} TO {_READER}")
            admin.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {space} TO {_READER}")
        with SheetIndex.open(server.url("permissions", user=_READER), corpus.encoder) as whole:
            yield whole


@suite(
    "permissions",
    searches=10_000,
    sheets=400,
    compared=option(8, "sets of groups, in each store"),
    questions=option(50, "compared for each"),
    seed=1,
)
def main(options: Options) -> Iterator[Result]:
    """Search both stores, and fail if anything showed."""
    corpus = made_corpus(options.sheets, random.Random(options.seed))
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each in ("file", "postgresql"):
            (folder / each).mkdir()
        with corpus.filled(folder / "all.sat", {*corpus.names}) as whole:
            whole.permit(lambda record: corpus.groups[record.sheet_id])
            results.append(measured("file", whole, corpus, options, folder / "file"))
        yield results[-1]
        try:
            with in_postgres(corpus) as whole:
                results.append(
                    measured("postgresql", whole, corpus, options, folder / "postgresql")
                )
            yield results[-1]
        except UnavailableError as reason:
            console.print(f"PostgreSQL: not run, {reason}")
    if any(each.metrics["shown"] or each.metrics["different"] for each in results):
        sys.exit(1)
