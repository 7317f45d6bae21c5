"""Table retrieval in the form of the TARGET benchmark, with the figures that it reports beside.

    python -m benchmarks run target
    python -m benchmarks run target --corpora NAME
    python -m benchmarks run target --write FOLDER

A corpus is handed over as TARGET does it: tables as lists of rows with an id of database and
table, titles in their context; questions with the ids of their tables. `TargetRetriever` answers.
FeTaQA's dev part and TabFact's validation part are tests, looked at once; `--corpora` takes any
other corpus of tables. `--write` writes the tasks as JSON lines for other retrievers, and measures
nothing. TARGET's own test data is not here: its run needs the package `target_benchmark`, which
fetches it (`--own`).
"""

from __future__ import annotations

import importlib.util
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.contents.target_retriever import Batch, Key, TargetRetriever, custom_class
from benchmarks.contents.tokens import TOKENS, CachedEncoder
from benchmarks.contents.variants import sampled
from benchmarks.corpora import CORPORA, Tables, used, where_to_get
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics import mean
from sat_retriever.datasets.metrics.ranking import Hits, recall_of
from sat_retriever.datasets.metrics.rows import row_of
from sat_retriever.datasets.tables import (
    CellTable,
    is_held_out,
    read_questions,
    read_tables,
    tables_files,
)
from sat_retriever.errors import CorpusError

REPORTED = Path(__file__).with_name("target.json")
DEPTHS = (1, 5, 10, 25, 50)
DATABASE = "0"  # the database of all tables, as in TARGET's tasks without databases
OWN = {"fetaqa": "test", "ottqa": "validation", "tabfact": "test"}  # TARGET's data sets and parts
_BATCH = 100  # tables handed over at a time
_PACKAGE = "target_benchmark"


@dataclass(frozen=True, slots=True)
class Task:
    """A corpus in TARGET's form.

    Attributes:
        name: Its name.
        tables: Its tables.
        queries: Those of its questions that are asked, by their number.
        there: Number of all its questions.
        titles: False leaves the context empty.
        files: The files it was read from.
    """

    name: str
    tables: Sequence[CellTable]
    queries: Mapping[int, Query]
    there: int
    titles: bool
    files: tuple[Path, ...]

    @classmethod
    def read(cls, data: Path, files: Tables, *, titles: bool, most: int) -> Task:
        """Read a corpus.

        Raises:
            CorpusError: If a file is missing or malformed.
        """
        tables, questions = tables_files(data, files.name)
        found = {each.table_id: each for each in read_tables(tables)}
        queries = read_questions(questions, found)
        if files.part != "all":
            wanted = files.part == "validation"
            queries = (q for q in queries if is_held_out(q.positives[0]) == wanted)
            found = {key: each for key, each in found.items() if is_held_out(key) == wanted}
        every = Dataset(files.dataset, (), tuple(queries))
        asked, there = sampled(every, most), len(every.queries)
        return cls(every.name, tuple(found.values()), asked, there, titles, (tables, questions))

    def batches(self) -> Iterator[Batch]:
        """Yield the corpus as TARGET hands it to a custom retriever."""
        for start in range(0, len(self.tables), _BATCH):
            part = self.tables[start : start + _BATCH]
            yield {
                "database_id": [DATABASE] * len(part),
                "table_id": [each.table_id for each in part],
                "table": [[each.headers, *each.rows] for each in part],
                "context": [self._context(each) for each in part],
            }

    def questions(self) -> Iterator[dict[str, Any]]:
        """Yield the questions with the ids of their tables."""
        for place, query in self.queries.items():
            yield {
                "query_id": place,
                "query": query.text,
                "database_id": DATABASE,
                "table_id": list(query.positives),
            }

    def _context(self, table: CellTable) -> dict[str, str]:
        if not self.titles:
            return {}
        return {"table_page_title": table.workbook, "table_section_title": table.sheet}


def measured(task: Task, retriever: TargetRetriever) -> Result:
    """Return a retriever's recall on a task, asked through TARGET's interface alone."""
    retriever.embed_corpus(task.name, task.batches())
    rows = []
    for question in task.questions():
        found = retriever.retrieve(question["query"], task.name, max(DEPTHS))
        gold: list[Key] = [(question["database_id"], each) for each in question["table_id"]]
        rows.append(row_of(question["query_id"], found, gold))
    retriever.close(task.name)
    metrics: dict[str, Any] = {
        f"Recall@{depth}": mean(
            [recall_of(Hits(row["hits"], row["relevant"]), depth) for row in rows]
        )
        for depth in DEPTHS
    }
    metrics |= {"queries": len(rows), "sheets": len(task.tables), "questions_there": task.there}
    split = "titles" if task.titles else "untitled"
    return Result("all", task.name, metrics, split, None, rows, data=task.files)


def write_task(task: Task, folder: Path) -> None:
    """Write a task as JSON lines: corpus.jsonl and queries.jsonl in a folder of its own."""
    home = folder / f"{task.name}_{'titles' if task.titles else 'untitled'}"
    home.mkdir(parents=True, exist_ok=True)
    with (home / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for batch in task.batches():
            for values in zip(*batch.values(), strict=True):
                file.write(
                    json.dumps(dict(zip(batch, values, strict=True)), ensure_ascii=False) + "\n"
                )
    with (home / "queries.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(each, ensure_ascii=False) + "\n" for each in task.questions())


def own_run(folder: Path) -> dict[str, Any]:
    """Return what TARGET measures on its own data; it fetches that data."""
    evaluators = importlib.import_module(f"{_PACKAGE}.evaluators")
    retrievers = importlib.import_module(f"{_PACKAGE}.retrievers")
    retriever = custom_class(retrievers.AbsCustomEmbeddingRetriever)(folder)
    found = {}
    for name, part in OWN.items():
        task = evaluators.TARGET(("Table Retrieval Task", name))
        for depth in DEPTHS:
            found[f"{name}@{depth}"] = task.run(retriever=retriever, split=part, top_k=depth)
    return found


def not_run(options: Options) -> str:
    """Return the reason why TARGET's own data is not run; empty if it is."""
    if importlib.util.find_spec(_PACKAGE) is None:
        return f"not run: the package {_PACKAGE} is not installed"
    return "" if options.own else "not run: give --own, which fetches its data"


def reported() -> Mapping[str, Mapping[str, Sequence[float]]]:
    """Return TARGET's reported recall@1, @5 and @10 in percent, by ranking and data."""
    found: dict[str, Any] = json.loads(REPORTED.read_text(encoding="utf-8"))
    rows: Mapping[str, Mapping[str, Sequence[float]]] = found["rows"]
    return rows


@suite(
    "target",
    "data",
    "encoder",
    work=TOKENS,
    corpora=option(
        list(used("target")),
        choices=[name for name, each in used("contents").items() if isinstance(each.load, Tables)],
    ),
    most=option(2_000, "questions of a corpus"),
    write=option(None, "write the tasks, measure nothing", type=Path, metavar="FOLDER"),
    own=option(False, "also run on TARGET's own data"),
)
def main(options: Options) -> Iterator[Result]:
    """Measure the tasks with titles and without, or write them."""
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        for task in _tasks(options):
            if options.write:
                write_task(task, options.write)
                continue
            encoder = CachedEncoder.kept(options.encoder, options.work)
            yield measured(task, TargetRetriever(Path(folder), encoder))
        own = not_run(options) or own_run(Path(folder))
    console.print(f"TARGET's own data: {own}")


def _tasks(options: Options) -> Iterator[Task]:
    """Yield the tasks with titles, then without."""
    for name in options.corpora:
        files = CORPORA[name].load
        if not isinstance(files, Tables):
            continue
        try:
            for titles in (True, False):
                folder = options.data / CORPORA[name].folder
                yield Task.read(folder, files, titles=titles, most=options.most)
        except CorpusError as error:
            console.print(f"not run: {error}\nThe data can be had from: {where_to_get('target')}")
