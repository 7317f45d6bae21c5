"""Compare joins inferred from headers with keys that databases declare.

    python -m benchmarks run joins --data ../shared/data --fit
    python -m benchmarks run joins --data ../shared/data [--bird-tables dev_tables.json]

The first command learns the weights in `sat_retriever/links/join/confidence.py` on the databases of
Spider's training questions, prints them, and scores them by ten-fold cross-validation over
databases, by which traits and threshold were chosen. The second scores the package on the databases
of the dev questions, which no choice has used.

A declared key is also "implied" if it follows from other declared ones: if teaches refers to
section and section to course by course_id, teaches joins course.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora import CORPORA, used
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.errors import CorpusError
from sat_retriever.links.join.confidence import header_traits, sigmoid
from sat_retriever.links.join.fields import sheet_fields
from sat_retriever.links.join.joins import MAX_OWNERS, MIN_CONFIDENCE, column_joins
from sat_retriever.links.join.pairs import candidate_pairs
from sat_retriever.records.sheets import SheetRecord

FOLDS = 10
PENALTY = 1.0  # ridge penalty on every weight but the constant

Column = tuple[str, str]  # sheet id, header in lower case
Key = tuple[Column, Column]  # the column that refers, and the one it refers to
Scored = Mapping[Key, float]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate pair of columns of the training part.

    Attributes:
        workbook: Its database.
        key: The two columns.
        column: Number of the referring column that it belongs to.
        traits: Traits of the pair, from the headers.
    """

    workbook: str
    key: Key
    column: int
    traits: Mapping[str, float]


def workbooks(dataset: Dataset, names: Iterable[str]) -> Iterator[tuple[str, list[SheetRecord]]]:
    """Return name and sheets of the databases, in the order of names."""
    sheets: dict[str, list[SheetRecord]] = {}
    for record in dataset.records:
        sheets.setdefault(record.workbook, []).append(record)
    return ((name, sheets[name]) for name in sorted(names))


def declared_spider(dataset: Dataset, names: Iterable[str]) -> set[Key]:
    """Return the keys that the databases declare."""
    home = {record.sheet_id: record.workbook for record in dataset.records}
    wanted = set(names)
    found: set[Key] = set()
    for link in dataset.links:
        source, _, target = link.evidence.lower().partition(" = ")
        if home[link.source] in wanted:
            found.add(((link.source, source), (link.target, target)))
    return found


def declared_bird(dataset: Dataset, tables: Path) -> set[Key]:
    """Return the keys declared in BIRD's own description of its databases.

    Raises:
        CorpusError: If the file is missing or is not such a description.
    """
    ids = {(r.workbook, r.sheet.lower()): r.sheet_id for r in dataset.records}
    found: set[Key] = set()
    try:
        for database in json.loads(tables.read_text(encoding="utf-8")):
            names = [name.lower() for name in database["table_names_original"]]
            columns = database["column_names_original"]
            for pair in database["foreign_keys"]:
                ends = [(names[columns[n][0]], columns[n][1].lower()) for n in pair]
                found.add(tuple((ids[database["db_id"], t], c) for t, c in ends))  # type: ignore[arg-type]
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise CorpusError(
            f"{tables}: cannot be read as BIRD's dev_tables.json ({error!r})"
        ) from error
    return found


def inferred(dataset: Dataset, names: Iterable[str]) -> dict[Key, float]:
    """Return the joins that the package finds by headers alone, with their confidence."""
    found: dict[Key, float] = {}
    for _, records in workbooks(dataset, names):
        for join in column_joins(records):
            one, other = join.field, join.owner
            key = ((one.sheet_id, one.header.lower()), (other.sheet_id, other.header.lower()))
            found[key] = max(join.confidence, found.get(key, 0.0))
    return found


def score(found: Scored, keys: set[Key]) -> dict[str, Any]:
    """Return precision and recall of column pairs, directed sheet pairs and sheet pairs."""
    metrics: dict[str, Any] = {"keys": len(keys), "found": len(found)}
    same = implied(keys)
    for name, shape in (("column", _columns), ("directed", _directed), ("pair", _undirected)):
        gold = {shape(key) for key in keys}
        best: dict[object, float] = {}
        for key, confidence in found.items():
            best[shape(key)] = max(confidence, best.get(shape(key), 0.0))
        hits = len(gold & best.keys())
        metrics[f"{name}_precision"] = _share(hits, len(best))
        metrics[f"{name}_recall"] = _share(hits, len(gold))
        metrics[f"{name}_AP"] = average_precision(best, gold)
    right = sum(same.get(a, 0) == same.get(b, 1) for a, b in found)
    metrics["column_precision_implied"] = _share(right, len(found))
    return metrics


def _columns(key: Key) -> object:
    return key


def _directed(key: Key) -> object:
    return key[0][0], key[1][0]


def _undirected(key: Key) -> object:
    return tuple(sorted((key[0][0], key[1][0])))


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def average_precision(scores: Mapping[Any, float], gold: set[Any]) -> float | None:
    """Return the mean precision at each right item, best first; missing ones count as 0.

    >>> average_precision({"a": 0.9, "b": 0.8, "c": 0.7}, {"a", "c"})
    0.8333
    """
    total, hits = 0.0, 0
    ranked = sorted(scores, key=lambda item: (-scores[item], str(item)))
    for rank, item in enumerate(ranked, start=1):
        if item in gold:
            hits += 1
            total += hits / rank
    return round(total / len(gold), 4) if gold else None


def implied(keys: set[Key]) -> dict[Column, int]:
    """Return by column the number of the group of columns that declared keys make equal."""
    group: dict[Column, int] = {}
    members: dict[int, list[Column]] = {}
    for number, pair in enumerate(sorted(keys)):
        merged = list(pair)
        for column in pair:
            merged += members.pop(group.get(column, -1), [])
        members[number] = merged
        group.update(dict.fromkeys(merged, number))
    return group


def candidates(dataset: Dataset, names: Iterable[str]) -> list[Candidate]:
    """Return every pair of columns that the package would weigh."""
    found: list[Candidate] = []
    column = 0
    for workbook, records in workbooks(dataset, names):
        fields = [f for r in sorted(records, key=lambda r: r.sheet_id) for f in sheet_fields(r)]
        for field, owners in candidate_pairs(fields):
            column += 1
            own = (field.sheet_id, field.header.lower())
            for place, owner in enumerate(owners):
                key = (own, (owner.sheet_id, owner.header.lower()))
                traits = header_traits(field, owner, place)
                found.append(Candidate(workbook, key, column, traits))
    return found


def fit(matrix: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Fit a ridge logistic regression by Newton's method; the first weight is the constant."""
    weights = np.zeros(matrix.shape[1])
    ridge = np.full(matrix.shape[1], PENALTY)
    ridge[0] = 1e-3
    for _ in range(60):
        chance = 1 / (1 + np.exp(-matrix @ weights))
        slope = matrix.T @ (right - chance) - ridge * weights
        bend = (matrix * (chance * (1 - chance))[:, None]).T @ matrix + np.diag(ridge)
        step = np.linalg.solve(bend, slope)
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def learn(rows: Sequence[Candidate], keys: set[Key]) -> dict[str, float]:
    """Return the weight of each trait, in the order in which traits first occur."""
    names = list(dict.fromkeys(name for row in rows for name in row.traits))
    matrix = np.array([[row.traits.get(name, 0.0) for name in names] for row in rows])
    right = np.array([float(row.key in keys) for row in rows])
    return dict(zip(names, (round(float(w), 2) for w in fit(matrix, right)), strict=True))


def decide(rows: Sequence[Candidate], weights: Mapping[str, float]) -> dict[Key, float]:
    """Return the joins that `column_joins` would find with these weights."""
    columns: dict[int, list[tuple[float, Key]]] = {}
    for row in rows:
        odds = sum(weights.get(name, 0.0) for name in row.traits)
        columns.setdefault(row.column, []).append((sigmoid(odds), row.key))
    found: dict[Key, float] = {}
    for pairs in columns.values():
        for confidence, key in sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:MAX_OWNERS]:
            if confidence >= MIN_CONFIDENCE:
                found[key] = confidence
    return found


def cross_validate(rows: Sequence[Candidate], keys: set[Key]) -> dict[Key, float]:
    """Find joins in each tenth of the databases, with weights learnt on the others."""
    names = sorted({row.workbook for row in rows})
    random.Random(0).shuffle(names)
    found: dict[Key, float] = {}
    for fold in range(FOLDS):
        held = set(names[fold::FOLDS])
        weights = learn([row for row in rows if row.workbook not in held], keys)
        found |= decide([row for row in rows if row.workbook in held], weights)
    return found


def run_fit(data: Path) -> list[Result]:
    """Learn the weights, print them, and score them by cross-validation."""
    dataset = CORPORA["spider_train"].read(data)
    names = {query.workbook for query in dataset.queries}
    keys = declared_spider(dataset, names)
    rows = candidates(dataset, names)
    console.print("WEIGHTS: dict[str, float] = {")
    for name, weight in learn(rows, keys).items():
        console.print(f'    "{name}": {weight},', markup=False, highlight=False)
    console.print("}")
    metrics = score(cross_validate(rows, keys), keys) | {"databases": len(names)}
    return [Result("headers", "spider_train", metrics, "cross_validated", 0)]


def run_score(data: Path, bird_tables: Path | None) -> list[Result]:
    """Score the package on databases that no choice has used."""
    results = []
    for name, corpus in used("keys").items():
        if corpus.keys_apart and bird_tables is None:
            console.print(f"not run: {name}; --bird-tables takes its dev_tables.json")
            continue
        dataset = corpus.read(data)
        if bird_tables is not None and corpus.keys_apart:
            names = {record.workbook for record in dataset.records}
            keys = declared_bird(dataset, bird_tables)
        else:
            names = {query.workbook for query in dataset.queries}
            keys = declared_spider(dataset, names)
        metrics = score(inferred(dataset, names), keys)
        results.append(Result("headers", corpus.dataset, metrics | {"databases": len(names)}))
    return results


@suite(
    "joins",
    "data",
    bird_tables=option(None, "BIRD's dev_tables.json", type=Path),
    fit=option(False, "learn the weights and print them"),
)
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    try:
        results = (
            run_fit(options.data) if options.fit else run_score(options.data, options.bird_tables)
        )
    except CorpusError as error:
        console.print(f"not run: {error}")
        return
    for result in results:
        folder = options.data / CORPORA[result.dataset].folder
        files = [folder / name for name in ("sheets.json", "links.json")]
        yield replace(result, data=[file for file in files if file.is_file()])
