"""An inverted index of words in PostgreSQL: GIN over arrays or tsvector, postings, sparsevec.

    python -m benchmarks run postgres_words --url postgresql:///reports [--sheets 100000 --texts 20]

Sheets and questions are those of `inverted`. Each way answers with the ten sheets that share the
most rareness (idf) with a question. Arrays, tsvector and postings give row ids of each word, which
are added up in the client; `postings_sql` adds them up in the server; sparsevec is asked by its
HNSW index, which is approximate: its recall is of the exact ten.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.contents.made_texts import Shape, made_questions, made_sheets, spelled

COMMIT = 64  # sheets
ASKED = 40  # questions of each kind
TOP = 10
KINDS = ("rare", "mixed", "common")
VOCABULARY = 100_000_000  # dimensions of a sparsevec: one a word
TABLES = {
    "gin_array": "(id bigint, words text[]); CREATE INDEX ON {} USING gin (words)",
    "gin_tsvector": "(id bigint, words tsvector); CREATE INDEX ON {} USING gin (words)",
    "postings": "(word text, id bigint, PRIMARY KEY (word, id))",
    "sparsevec_hnsw": f"(id bigint, words sparsevec({VOCABULARY})); "
    "CREATE INDEX ON {} USING hnsw (words sparsevec_ip_ops)",
}
FINDS = {
    "gin_array": "SELECT string_agg(int8send(id), ''::bytea) FROM gin_array "
    "WHERE words @> ARRAY[%s]",
    "gin_tsvector": "SELECT string_agg(int8send(id), ''::bytea) FROM gin_tsvector "
    "WHERE words @@ %s::text::tsquery",
    "postings": "SELECT string_agg(int8send(id), ''::bytea) FROM postings WHERE word = %s",
}
SUMMED = (
    "SELECT p.id FROM unnest(%s::text[], %s::float8[]) AS q (word, idf) JOIN postings p "
    "ON p.word = q.word GROUP BY p.id ORDER BY sum(q.idf) DESC, p.id LIMIT %s"
)

Ids = NDArray[np.int64]
Connection = psycopg.Connection[tuple[Any, ...]]


def sheets_of(shape: Shape) -> Iterator[tuple[int, list[int]]]:
    """Number and distinct words of each sheet."""
    for number, fields in enumerate(made_sheets(shape)):
        yield number, np.unique(np.concatenate(fields)).tolist()


def rows_of(way: str, sheet: int, words: Sequence[int]) -> list[tuple[object, ...]]:
    """What a way stores of a sheet."""
    if way == "postings":
        return [(spelled(word), sheet) for word in words]
    if way == "sparsevec_hnsw":
        inside = ",".join(f"{word + 1}:1" for word in words)
        return [(sheet, f"{{{inside}}}/{VOCABULARY}")]
    spelled_words = [spelled(word) for word in words]
    return [(sheet, spelled_words if way == "gin_array" else " ".join(sorted(spelled_words)))]


def build(connection: Connection, way: str, shape: Shape) -> float:
    """Make the table of a way, filled in commits, and return the seconds that it took."""
    connection.execute(f"DROP TABLE IF EXISTS {way}")
    for made in TABLES[way].format(way).split("; "):
        connection.execute(made if made.startswith("CREATE") else f"CREATE TABLE {way} {made}")
    spent = 0.0
    sheets = sheets_of(shape)
    while part := list(itertools.islice(sheets, COMMIT)):
        rows = [row for sheet, words in part for row in rows_of(way, sheet, words)]
        begin = time.perf_counter()
        with connection.transaction(), connection.cursor().copy(f"COPY {way} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        spent += time.perf_counter() - begin
    begin = time.perf_counter()
    connection.execute(f"VACUUM ANALYZE {way}")  # merges what GIN has not sorted in yet
    return spent + time.perf_counter() - begin


def best(connection: Connection, way: str, idf: Callable[[int], float], asked: list[int]) -> Ids:
    """The ten sheets that a way finds."""
    weights = {word: idf(word) for word in asked if idf(word)}
    if way == "postings_sql":
        words = [spelled(word) for word in weights]
        rows = connection.execute(SUMMED, (words, [*weights.values()], TOP))
        return np.array([row[0] for row in rows], dtype=np.int64)
    if way == "sparsevec_hnsw":
        inside = ",".join(f"{word + 1}:{weights[word]:.5f}" for word in sorted(weights))
        sql = "SELECT id FROM sparsevec_hnsw ORDER BY words <#> %s::sparsevec LIMIT %s"
        rows = connection.execute(sql, (f"{{{inside}}}/{VOCABULARY}", TOP))
        return np.array([row[0] for row in rows], dtype=np.int64)
    found = []
    for word, weight in weights.items():
        [[data]] = connection.execute(FINDS[way], (spelled(word),), binary=True).fetchall()
        ids = np.frombuffer(data or b"", dtype=">i8").astype(np.int64)
        found.append((ids, np.full(len(ids), weight)))
    ids, scores = (np.concatenate(parts) for parts in zip(*found, strict=True))
    each, place = np.unique(ids, return_inverse=True)
    total = np.bincount(place, weights=scores)
    return each[np.lexsort((each, -total.round(9)))][:TOP]


def measure(connection: Connection, shape: Shape, ways: Sequence[str]) -> list[list[str]]:
    """A row of figures for each way."""
    counts: Counter[int] = Counter()
    for _, words in sheets_of(shape):
        counts.update(words)

    def idf(word: int) -> float:
        return math.log(1 + shape.sheets / counts[word]) if counts[word] else 0.0

    questions = {kind: made_questions(shape, kind, ASKED) for kind in KINDS}
    questions = {k: [q for q in asked if any(map(idf, q))] for k, asked in questions.items()}
    exact: dict[tuple[str, int], Ids] = {}
    table = []
    for way in ways:
        stored = way.removesuffix("_sql")
        seconds = build(connection, stored, shape) if stored == way else 0.0
        [[size]] = connection.execute("SELECT pg_total_relation_size(%s)", (stored,)).fetchall()
        row = [way, f"{seconds:.0f}" if seconds else "", f"{size / 2**20:.0f}"]
        for kind in KINDS:
            times, recalls = [], []
            for number, asked in enumerate(questions[kind]):
                begin = time.perf_counter()
                found = best(connection, way, idf, asked)
                times.append(time.perf_counter() - begin)
                right = exact.setdefault((kind, number), found)
                recalls.append(len(np.intersect1d(right, found)) / max(len(right), 1))
            row += [f"{1000 * median(times):.1f}", f"{np.mean(recalls):.2f}"]
        table.append(row)
    return table


def main(arguments: Sequence[str]) -> None:
    """Measure each way, and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks run postgres_words", description=__doc__)
    parser.add_argument("--url", required=True, help="a database that may be written to")
    parser.add_argument("--sheets", type=int, default=100_000)
    parser.add_argument("--texts", type=int, default=20)
    parser.add_argument("--ways", nargs="+", default=[*TABLES, "postings_sql"])
    given = parser.parse_args(arguments)
    with psycopg.connect(given.url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute("DROP SCHEMA IF EXISTS words_bench CASCADE")
        connection.execute("CREATE SCHEMA words_bench")
        connection.execute("SET search_path TO words_bench, public")
        rows = measure(connection, Shape(given.sheets, given.texts), given.ways)
        connection.execute("DROP SCHEMA words_bench CASCADE")
    table = Table("way", "build s", "MiB", *(x for k in KINDS for x in (f"{k} ms", "recall")))
    for row in rows:
        table.add_row(*row)
    Console().print(table)
