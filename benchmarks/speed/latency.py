"""Time of one query in multiples of its encoding, on made sheets and on real workbooks.

    python -m benchmarks run latency [--sizes 1000 100000] [--corpora eps nz_contents fetaqa]
                                     [--queries 300] [--work .cache/latency]

The whole call is timed: encode, score all tokens and all words, fuse, rerank, fetch records. Calls
take turns in one process, so that a busy machine slows all of them; what counts is their ratio to
encoding the same question. *Read* also looks at all that a hit says: its reasons, the cells that
match, the rows to cite.

Made sheets have template-like names (company, category, year, quarter), so that every word
is common: the worst case for a lexical index. Queries are really encoded; the
sheets' tokens are random unit vectors, because the time of an exact search does not
depend on their values and encoding 100,000 sheets takes a quarter of an hour. FTS5's
own `bm25()` over the same words stands beside it, and a slow loop written from the
formula says how many of its top 50 the quick one finds. Real corpora are EPS's workbooks, the
largest of the real lists, and FeTaQA's tables without their titles; they keep their contents, and
*names* is the same corpus without.
"""

from __future__ import annotations

import math
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.indexes import fill, made_once
from benchmarks.progress import track
from benchmarks.real import sources
from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from benchmarks.speed.turns import calls_of, median_seconds, multiples, percentiles, timings_ms
from sat_retriever import Column, SheetEncoder, SheetIndex, SheetRecord, SheetRetriever
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.tables import load_tables
from sat_retriever.index.store.schema import MIGRATIONS
from sat_retriever.records.contents import CellText, ContentsPolicy, SheetContents, TableContents
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import FIELD_WEIGHTS, K1, B, query_words, sheet_words
from sat_retriever.text.period.spans import UNDATED

MADE = Path(".cache/latency")  # indexes of made sheets, shared by several suites
COMPANIES = ("Acme", "Borealis", "Cobalt", "Dorado", "Ember", "Fjord", "Garnet", "Harbor",
             "Indigo", "Juniper", "Krypton", "Lumen", "Meridian", "Nimbus", "Orchid", "Polar",
             "Quartz", "Rubicon")  # fmt: skip
CATEGORIES = ("Sales", "Budget", "Inventory", "Payroll", "Attendance", "Balance_Sheet",
              "Cash_Flow", "Purchase_Orders", "Shipments", "Forecast")  # fmt: skip
HEADERS = ("Date", "Region", "Product", "Quantity", "Unit Price", "Total Amount", "Customer",
           "Currency", "Status", "Account", "Department", "Employee ID", "Warehouse", "Variance",
           "Opening Balance", "Closing Balance")  # fmt: skip
FETAQA = "fetaqa"


def records(size: int, seed: int = 0, *, contents: bool = False) -> Iterator[SheetRecord]:
    """Yield template-like records: every combination of words comes back again and again.

    Args:
        size: Their number.
        seed: Decides their words.
        contents: Give each a column of row labels and a note, of equally common words.
    """
    rng = random.Random(seed)
    for number in range(size):
        company, category = rng.choice(COMPANIES), rng.choice(CATEGORIES)
        year, quarter = rng.randint(2015, 2026), rng.randint(1, 4)
        workbook = f"{company}_{category}_{year}.xlsx"
        columns = tuple(Column(name) for name in rng.sample(HEADERS, 8))
        path = f"{company}/{year}/{number // 4}/{workbook}"
        yield SheetRecord(
            f"{path}#Q{quarter}_{number}",
            f"Q{quarter}_{number}",
            workbook,
            path,
            columns,
            100,
            8,
            contents=_contents(rng, columns) if contents else None,
        )


def _contents(rng: random.Random, columns: Sequence[Column]) -> SheetContents:
    labels = [f"{rng.choice(COMPANIES)} {rng.choice(HEADERS)}" for _ in range(12)]
    cells = tuple(CellText(f"A{row}", label) for row, label in enumerate(labels, 2))
    note = CellText("J1", f"{rng.choice(CATEGORIES)} by {columns[0].name}, see {labels[0]}")
    return SheetContents((note,), (TableContents(labels=cells),))


def queries(count: int, seed: int = 1) -> list[str]:
    """Return questions over the same words."""
    rng = random.Random(seed)
    forms = (
        "{company} {category} {year} Q{quarter}",
        "{category} of {company} in {year} by {header}",
        "{header} and {header2} for {category} {year}",
        "Which sheets have {header} for {company} Q{quarter} {year}?",
    )
    return [
        rng.choice(forms).format(
            company=rng.choice(COMPANIES),
            category=rng.choice(CATEGORIES).replace("_", " ").lower(),
            year=rng.randint(2015, 2026),
            quarter=rng.randint(1, 4),
            header=rng.choice(HEADERS).lower(),
            header2=rng.choice(HEADERS).lower(),
        )
        for _ in range(count)
    ]


class RandomTokens:
    """The default encoder for queries, random unit vectors for sheets."""

    def __init__(self) -> None:
        self._encoder = SheetEncoder.load()
        self._rng = np.random.default_rng(0)
        self.name = self._encoder.name
        self.fingerprint = self._encoder.fingerprint
        self.width = self._encoder.width

    def encode_sheets(self, texts: Sequence[str]) -> FloatArray:
        """Return random tokens, (n, d) float32, rows of unit length."""
        tokens = self._rng.standard_normal((len(texts), self.width)).astype(np.float32)
        unit: FloatArray = tokens / np.linalg.norm(tokens, axis=1, keepdims=True)
        return unit

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return the tokens of queries, really encoded."""
        return self._encoder.encode_queries(texts)


def index_of(size: int, work: Path, *, contents: bool = False) -> SheetIndex:
    """Return the index of a size; made once, kept in the work folder.

    The seconds that it took to make stand in a file beside it.
    """
    path = file_of(size, work, contents=contents)
    if path.exists():
        found = SheetIndex.open(path)
        if len(found) == size:
            return found
        found.close()
        path.unlink()
    made = SheetIndex.create(path, RandomTokens())
    start = time.perf_counter()
    sheets = records(size, contents=contents)
    made.add_records(track(sheets, f"indexing {size:,} sheets", total=size))
    seconds_file(path).write_text(f"{time.perf_counter() - start:.1f}", encoding="ascii")
    return made


def file_of(size: int, work: Path, *, contents: bool = False) -> Path:
    """Return the file of the index of a size."""
    return work / f"template-{size}{'-contents' if contents else ''}.sat"


def seconds_file(path: Path) -> Path:
    """Return the file that says how many seconds an index took to make."""
    return path.with_suffix(".seconds")


def lexical_recall(index: SheetIndex, size: int, asked: Sequence[str], k: int = 50) -> float:
    """Return the share of the slow loop's top k scores that the library's lexical top k reaches.

    Ties are equal: what counts is the score, not which of the equal sheets.
    """
    fields = [sheet_words(record) for record in records(size)]
    lengths = [sum(map(len, field)) for field in fields]
    mean = sum(lengths) / size
    weighted = [
        {
            word: sum(
                weight for weight, own in zip(FIELD_WEIGHTS, field, strict=True) if word in own
            )
            for word in set().union(*field)
        }
        for field in fields
    ]
    counts = Counter(word for words in weighted for word in words)
    shares = []
    for query in asked:
        wanted = [word for word in query_words(query) if word in counts]
        idf = {w: math.log(1 + (size - counts[w] + 0.5) / (counts[w] + 0.5)) for w in wanted}
        limit = sum(idf.values()) * (K1 + 1)
        best = sorted(
            (
                sum(
                    idf[w] * (K1 + 1) * tf[w] / (tf[w] + K1 * (1 - B + B * length / mean))
                    for w in wanted
                    if w in tf
                )
                / limit
                for tf, length in zip(weighted, lengths, strict=True)
            ),
            reverse=True,
        )[:k]
        question = index.question(query, dense_weight=0.0, times=False)
        found = [c.score for c in index.candidates(question, k)]
        shares.append(sum(abs(a - b) < 1e-5 for a, b in zip(best, found, strict=True)) / len(best))
    return sum(shares) / len(shares)


def fts5(index: SheetIndex) -> Callable[[str], object]:
    """Return FTS5's own ranking of the same words, for comparison."""
    import sqlite3

    connection = sqlite3.connect(str(index.path))

    def ask(query: str) -> object:
        words = " OR ".join(f'"{word}"' for word in query_words(query))
        sql = "SELECT rowid FROM lexical WHERE lexical MATCH ? ORDER BY rank LIMIT 50"
        return connection.execute(sql, (words,)).fetchall()

    return ask


def process_seconds(command: Sequence[str], repeats: int = 5) -> float:
    """Return the median wall time of a whole process."""
    return median_seconds(lambda: subprocess.run(command, check=True, capture_output=True), repeats)


def import_seconds() -> tuple[float, bool]:
    """Return the median time of `import sat_retriever`, and True if torch was imported."""
    code = (
        "import sys, time; start = time.perf_counter(); import sat_retriever; "
        "print(time.perf_counter() - start, 'torch' in sys.modules)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        for _ in range(5)
    ]
    parts = [run.stdout.split() for run in runs]
    return statistics.median(float(p[0]) for p in parts), any(p[1] == "True" for p in parts)


def measure(size: int, asked: Sequence[str], work: Path, *, slow: int) -> dict[str, float | int]:
    """Return all figures of one size."""
    index = index_of(size, work)
    index.close()
    index = SheetIndex.open(index.path)
    retriever = SheetRetriever(index)
    _ = index.encoder
    start = time.perf_counter()
    retriever.retrieve(asked[0], today=UNDATED)
    first = (time.perf_counter() - start) * 1000
    command = [sys.executable, "-m", "sat_retriever", "search", asked[0], "--index"]
    metrics = {
        "sheets": size,
        "queries": len(asked),
        **multiples(calls_of(index), asked),
        **percentiles("fts5_bm25", timings_ms(fts5(index), asked[:50])),
        "first_query_ms": round(first, 1),
        "lexical_recall_at_50": round(lexical_recall(index, size, asked[:slow]), 4),
        "cold_search_process_s": round(process_seconds([*command, str(index.path)]), 3),
    }
    index.close()
    return metrics


def corpus(data: Path, name: str) -> Dataset:
    """Return the sheets and the questions of a real corpus."""
    if name == FETAQA:
        return load_tables(data / "contents", "fetaqa_dev", titles=False)
    return sources.read(data, name).dataset


def real_index(name: str, contents: ContentsPolicy, data: Path, work: Path) -> SheetIndex:
    """Return the index of a real corpus; made once, kept in the work folder."""
    dataset, encoder = corpus(data, name), SheetEncoder.load()
    path = work / f"{name}-{contents}-{len(MIGRATIONS)}.sat"
    made_once(path, encoder, lambda index: fill(index, dataset), contents=contents)
    return SheetIndex.open(path)


def real(
    name: str, contents: ContentsPolicy, asked: Sequence[str], options: Options
) -> dict[str, float | int]:
    """Return the figures of a real corpus."""
    with real_index(name, contents, options.data, options.work) as index:
        sheets = {"sheets": len(index), "queries": len(asked)}
        return {**sheets, **multiples(calls_of(index), asked)}


@suite(
    "latency",
    "data",
    work=MADE,
    sizes=[1000, 100_000],
    corpora=option([sources.EPS, "nz_contents", FETAQA], "real corpora"),
    queries=300,
    slow=option(20, "queries of the slow loop"),
)
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    options.work.mkdir(parents=True, exist_ok=True)
    for name in options.corpora:
        questions = [query.text for query in corpus(options.data, name).queries]
        asked = random.Random(0).sample(questions, min(options.queries, len(questions)))
        for contents in (ContentsPolicy.ALL, ContentsPolicy.NAMES):
            yield Result(
                "sat-retriever", f"{name}_{contents}", real(name, contents, asked, options)
            )
    asked = queries(options.queries)
    seconds, torch = import_seconds()
    extra = {"import_s": round(seconds, 3), "import_has_torch": torch}
    for size in options.sizes:
        found = measure(size, asked, options.work, slow=options.slow)
        yield Result("sat-retriever", f"template_{size}", {**found, **extra})
