r"""The same index in PostgreSQL and in a file, beside vector stores of LlamaIndex and LangChain.

    python -m benchmarks run postgres [--sizes 1000 100000] [--contents 1000 100000 1000000]
        [--encoded 30000] [--others FOLDER]

The file is that of `run million`, copied by `sat migrate`; both answer the same questions in the
same process, call by call in turn. Other stores hold the same tokens of names and are asked with
the same tokens of questions, so that nothing is encoded: beside them stands this package's search
by cosines alone, with the token given. They run in a process of their own with packages in a
folder of their own, which `--others` names:

    pip install --target FOLDER --no-deps "SQLAlchemy<2.1" asyncpg psycopg2-binary pgvector \
        langchain-postgres llama-index-vector-stores-postgres

Random tokens are the hardest case for a graph of neighbours; `--encoded` says how many sheets have
tokens of the packaged encoder.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.pgserver import MEASURED, Server, new_server
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from benchmarks.speed.beside import Plan, nearest_of_all
from benchmarks.speed.latency import MADE, index_of, queries, records
from benchmarks.speed.million import Figures, K, readers, recall, times
from benchmarks.speed.turns import percentiles
from sat_retriever import SheetIndex, SheetRetriever
from sat_retriever.index.store.opening import migrate_store
from sat_retriever.index.store.place import IndexUrl
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.period.spans import UNDATED

OWN, ALONE = "sat-retriever", "sat-retriever, cosines alone"
_OTHERS = {"llama-index": "llama-index-postgres", "langchain": "langchain-postgres"}
_WARM_UP, _REPEATS = 20, 3
_READERS = 8
_CLOSE = 1e-6


def measure_index(file: Path, url: str, asked: Sequence[str], compared: int) -> Figures:
    """Return the figures of an index in PostgreSQL, beside those of its file."""
    start = time.perf_counter()
    migrate_store(file, IndexUrl.parse(url))
    figures: Figures = {"migrate_s": round(time.perf_counter() - start, 1)}
    first = readers(url, 1, asked[:1])
    figures["first_on_host_s"] = first["first_answer_s"]
    figures |= readers(url, 1, asked[:20])
    figures |= readers(url, _READERS, asked[:20])
    with SheetIndex.open(url) as index, SheetIndex.open(file) as beside:
        figures |= {"sheets": len(index), "queries": len(asked)}
        figures["database_mib"] = round(index._store.bytes() / 2**20, 1)
        figures["file_mib"] = round(file.stat().st_size / 2**20, 1)
        figures |= times(index, asked)
        figures |= in_turn(index, beside, asked)
        figures["equal_answers"] = equal_answers(index, beside, asked)
    return figures | recall(url, asked[:compared])


def in_turn(index: SheetIndex, beside: SheetIndex, asked: Sequence[str]) -> Figures:
    """Return milliseconds of the default path in PostgreSQL and in the file, in turn."""
    both = {"database": SheetRetriever(index), "file": SheetRetriever(beside)}
    spent: dict[str, list[float]] = {name: [] for name in both}
    for place, query in enumerate([*asked[:_WARM_UP], *list(asked) * _REPEATS]):
        for name, retriever in both.items():
            start = time.perf_counter()
            retriever.retrieve(query, today=UNDATED)
            if place >= _WARM_UP:
                spent[name].append((time.perf_counter() - start) * 1000)
    p50 = {name: statistics.median(values) for name, values in spent.items()}
    return {
        "in_turn_database_p50_ms": round(p50["database"], 2),
        "in_turn_file_p50_ms": round(p50["file"], 2),
        "times_file": round(p50["database"] / p50["file"], 2),
    }


def equal_answers(one: SheetIndex, other: SheetIndex, asked: Sequence[str]) -> int:
    """Return the number of questions with the same 50 best, in order, with the same scores."""
    equal = 0
    for query in asked:
        pair = [index.candidates(index.question(query), K) for index in (one, other)]
        ids = [[each.sheet_id for each in found] for found in pair]
        mine, theirs = (np.array([each.score for each in found]) for found in pair)
        equal += ids[0] == ids[1] and bool(np.allclose(mine, theirs, rtol=0, atol=_CLOSE))
    return equal


def cosines_alone(
    url: str, asked: Sequence[str], tokens: FloatArray, exact: list[set[str]]
) -> Figures:
    """Return time and recall of this package's search by the tokens of names alone."""
    with SheetIndex.open(url, times=False) as index:

        def ask(query: str, token: FloatArray) -> list[str]:
            question = index.question(query, dense_weight=1.0, token=token, today=UNDATED)
            return [each.sheet_id for each in index.candidates(question, K)]

        for query, token in zip(asked[:_WARM_UP], tokens, strict=False):
            ask(query, token)
        spent, shares = [], []
        for turn in range(_REPEATS):
            for query, token, best in zip(asked, tokens, exact, strict=True):
                start = time.perf_counter()
                found = ask(query, token)
                spent.append((time.perf_counter() - start) * 1000)
                if turn == 0:
                    shares.append(len(best & set(found)) / K)
    return {**percentiles("query", spent), "recall_at_50": round(statistics.mean(shares), 4)}


def stores(
    file: Path, url: str, asked: Sequence[str], server: Server, packages: Path | None
) -> Iterator[tuple[str, Figures]]:
    """Yield the figures of every store that is asked by cosines alone.

    Args:
        file: The index file.
        url: The same index in PostgreSQL.
        asked: The questions.
        server: The server.
        packages: Folder of the packages of other stores; None leaves these out.
    """
    with SheetIndex.open(file) as index:
        ids = index.sheet_ids()
        tokens = index.search.tokens(ids)
        questions = index.encoder.encode_queries(asked)
    exact = nearest_of_all(ids, tokens, questions, K)
    yield ALONE, cosines_alone(url, asked, questions, exact)
    if packages is not None:
        plan = Plan(ids, tokens, asked, questions, exact, (K,))
        with plan.handed_over() as folder:
            for name, store in _OTHERS.items():
                found = plan.measured(store, folder, str(server.folder), packages)
                yield name, found


def sheets_of(file: Path) -> int:
    """Return the number of sheets of an index."""
    with SheetIndex.open(file) as index:
        return len(index)


def encoded_index(size: int, work: Path) -> SheetIndex:
    """Return an index of template-like sheets with tokens of the packaged encoder."""
    path = work / f"encoded-{size}.sat"
    if path.exists():
        return SheetIndex.open(path)
    made = SheetIndex.create(path)
    made.add_records(records(size))
    return made


@suite(
    "postgres",
    work=MADE,
    sizes=option([1000, 100_000], nargs="*"),
    encoded=option([30_000], nargs="*"),
    contents=option([1000, 100_000, 1_000_000], nargs="*"),
    queries=100,
    compared=option(50, "questions of the recall"),
    most_others=option(100_000, "most sheets of others"),
    others=option(None, "folder with the packages of other stores", type=Path),
)
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    asked, work = queries(options.queries), options.work
    kinds: list[tuple[str, Callable[[], SheetIndex], bool]] = [
        *((f"encoded_{n}", partial(encoded_index, n, work), True) for n in options.encoded),
        *((f"template_{n}", partial(index_of, n, work), True) for n in options.sizes),
        *(
            (f"template_{n}_contents", partial(index_of, n, work, contents=True), False)
            for n in options.contents
        ),
    ]
    with new_server(MEASURED) as server:
        for name, made, alone in kinds:
            with made() as index:
                file = Path(str(index.path))
            url = server.url(name)
            yield Result(OWN, name, measure_index(file, url, asked, options.compared))
            if alone and sheets_of(file) <= options.most_others:
                for store, figures in stores(file, url, asked, server, options.others):
                    yield Result(store, name, figures)
    if options.others is None:
        console.print("other stores: not run; name the folder of their packages with --others")
