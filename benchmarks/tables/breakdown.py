"""Details behind the mean of the trained results: query types, candidates, neighbouring rows.

Everything follows from the committed rows of `benchmarks.paper.trained`; the type of a question
comes from the rows of `benchmarks.paper.statistics`, so no data is needed.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benchmarks.corpora import INDUSTRYTAB_1K
from benchmarks.paper import paper
from benchmarks.tables.markdown import markdown, number
from benchmarks.training.methods import RECIPES
from sat_retriever.datasets.metrics import Difference, mean
from sat_retriever.datasets.metrics.comparison import difference
from sat_retriever.datasets.metrics.rows import PER_QUERY, Row

File = Mapping[str, Any]
Files = Sequence[File]
Kinds = Mapping[int, str]  # by the place of the question

QUERY_TYPES = {
    "semantic_lookup": "lookup",
    "comparison": "comparison",
    "aggregation": "aggregation",
    "join_key_reasoning": "join",
    "formula_tracing": "formula",
    "summary_source": "summary",
}
_STEPS = {"base": "base scorer", "cross_encoder": "Cross-Encoder"}
HEAVY, OTHER = "dependency-heavy", "other"
# Metrics of the paper's tables, as their columns are called.
PAPER_COLUMNS = {
    "NDCG@5": "NDCG@5",
    "Recall@5": "R@5",
    "Hit@5": "Hit@5",
    "MRR@5": "MRR@5",
    "HN-FPR@1": "HN-FPR@1",
}
CANDIDATES = {
    "CandidateRecall@50": "recall@50",
    "CandidateHit@50": "hit@50",
    "CandidateAllRelevant@50": "all@50",
    "OracleRecall@5": "oracle recall@5",
    "Recall@5": "recall@5 reached",
}
NO_TYPES = "*not run: `python -m benchmarks run statistics`*"


def trained_in(files: Files) -> str:
    """Return in how many seeds the last training was kept, for the title of a row; "" if in all.

    In the other seeds no epoch of it improved on the start, so that the start is what ranks.
    """
    last = [next(reversed(file["metrics"].get("steps", {}).items()), None) for file in files]
    if not last or None in last:
        return ""
    kept = sum(report["best_epoch"] != 0 for _, report in filter(None, last))
    if kept == len(last):
        return ""
    (step, _), *_ = filter(None, last)
    seeds = "1 seed" if len(last) == 1 else f"{len(last)} seeds"
    return f" (a trained {_STEPS.get(step, step)} in {kept or 'none'} of {seeds})"


@dataclass(frozen=True, slots=True)
class Spread:
    """A metric over training seeds.

    Attributes:
        mean: Mean over the seeds.
        sd: Standard deviation of the sample; None of a single value.
    """

    mean: float
    sd: float | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of at least one value.

        >>> Spread.of([0.5])
        Spread(mean=0.5, sd=None)
        """
        sd = statistics.stdev(values) if len(values) > 1 else None
        return cls(statistics.fmean(values), sd)

    def __str__(self) -> str:
        shown = number(self.mean)
        return shown if self.sd is None else f"{shown} ± {number(self.sd)}"


def spread_of(files: Files, metric: str) -> str:
    """Return mean ± sd of a metric as a cell; a dash if a file lacks it."""
    values = [file["metrics"].get(metric) for file in files]
    return str(Spread.of(values)) if values and None not in values else number(None)


@dataclass(frozen=True, slots=True)
class Gap:
    """One row of the main table beside the one above it.

    Attributes:
        method: Name of the method.
        other: Name of the method above it.
        by: NDCG@5 of `method` minus that of `other`, paired.
        seeds: Training seeds compared.
        whole: True if these are all seeds of both rows.
    """

    method: str
    other: str
    by: Difference
    seeds: int
    whole: bool


def types_of(counted: Files) -> dict[int, str]:
    """Return the query type of each question of IndustryTab-1K; empty if it was not counted."""
    return {row["query"]: row["type"] for row in _rows(counted)}


def dependencies_of(counted: Files) -> dict[int, str]:
    """Return the dependency-heavy or not, by question of IndustryTab-1K; empty if not counted."""
    return {row["query"]: HEAVY if row["dependency_heavy"] else OTHER for row in _rows(counted)}


def _rows(counted: Files) -> Iterable[Row]:
    return next((file["per_query"] for file in counted if file["dataset"] == INDUSTRYTAB_1K), ())


def by_kind(files: Files, kinds: Kinds, metric: str = "NDCG@5") -> dict[str, Spread]:
    """Return a metric of one method for each kind of question, over its seeds.

    Args:
        files: Results of one method on one split, a file a seed.
        kinds: Kind of each question.
        metric: One of `PER_QUERY`.
    """
    of = PER_QUERY[metric]
    values: dict[str, list[float]] = {}
    for file in files:
        groups: dict[str, list[float]] = {}
        for row in file["per_query"]:
            groups.setdefault(kinds[row["query"]], []).append(of(row))
        for kind, each in groups.items():
            values.setdefault(kind, []).append(mean(each))
    return {kind: Spread.of(each) for kind, each in values.items()}


def types_table(trained: Files, counted: Files, split: str) -> str:
    """Return NDCG@5 by query type of each method; on the standard test beside the paper's SAT.

    Args:
        trained: Result files of `benchmarks.paper.trained`.
        counted: Result files of `benchmarks.paper.statistics`.
        split: "standard" or "grouped".
    """
    reported = paper.query_types() if split == "standard" else None
    return _kinds_table(of_split(trained, split), types_of(counted), QUERY_TYPES, reported)


def dependency_table(trained: Files, counted: Files, split: str) -> str:
    """Return NDCG@5 of dependency-heavy questions and of the others, by method."""
    titles = {HEAVY: HEAVY, OTHER: OTHER}
    return _kinds_table(of_split(trained, split), dependencies_of(counted), titles, None)


def _kinds_table(
    runs: Mapping[str, Files],
    kinds: Kinds,
    titles: Mapping[str, str],
    reported: Mapping[str, float] | None,
) -> str:
    if not kinds:
        return NO_TYPES
    rows = [["test queries", "", *_sizes(runs, kinds, titles)]]
    for name, files in runs.items():
        found = by_kind(files, kinds)
        cells = [str(found[kind]) if kind in found else number(None) for kind in titles]
        rows.append([RECIPES[name].title, *([str(len(files)), *cells] if files else ["not run"])])
    if reported is not None:
        rows.append(["*authors: SAT*", "", *(number(reported.get(kind)) for kind in titles)])
    return markdown(["method", "seeds", *titles.values()], rows)


def _sizes(runs: Mapping[str, Files], kinds: Kinds, titles: Mapping[str, str]) -> list[str]:
    """Return the test questions of each kind; of several, where the test set differs by seed."""
    counts: dict[str, set[int]] = {kind: set() for kind in titles}
    for file in (file for files in runs.values() for file in files):
        asked = [kinds[row["query"]] for row in file["per_query"]]
        for kind, found in counts.items():
            found.add(asked.count(kind))
    return [
        "" if not found else " to ".join(map(number, dict.fromkeys((min(found), max(found)))))
        for found in counts.values()
    ]


def candidates_table(trained: Files, split: str) -> str:
    """Return the recall of each method's 50 candidates and the best that a Stage 2 could reach."""
    rows = []
    for name, files in of_split(trained, split).items():
        if RECIPES[name].llm == "names":  # reads all names, so there are no candidates
            continue
        cells = [spread_of(files, metric) for metric in CANDIDATES]
        rows.append([RECIPES[name].title, *([str(len(files)), *cells] if files else ["not run"])])
    if split == "standard":
        reached = paper.sensitivity()["reference"]["Recall@5"]
        figures = {**paper.candidates(), "Recall@5": reached}
        cells = [number(figures[metric]) for metric in CANDIDATES]
        rows.append(["*paper: SAT, seed 42*", "1", *cells])
    return markdown(["method", "seeds", *CANDIDATES.values()], rows)


def neighbours(trained: Files, split: str, dataset: str = INDUSTRYTAB_1K) -> list[Gap]:
    """Return each method of the main table that was run, beside the one above it that was run.

    Args:
        trained: Result files of `benchmarks.paper.trained`.
        split: "standard", "grouped" or "legacy".
        dataset: Name of the corpus.
    """
    runs = {
        name: {file["seed"]: file["per_query"] for file in files}
        for name, files in of_split(trained, split, dataset).items()
        if files
    }
    gaps = []
    for above, name in pairwise(runs):
        seeds = shared_seeds(runs[name], runs[above])
        if seeds:
            whole = seeds == max(len(runs[name]), len(runs[above]))
            gaps.append(Gap(name, above, difference(runs[name], runs[above]), seeds, whole))
    return gaps


def gap_of(first: Files, second: Files, metric: str = "NDCG@5") -> Difference | None:
    """Return one method's lead over another; None if they share no seed, or asked other questions.

    Groups of a corpus change when its workbooks are read better, and results from before stay.
    """
    one, other = ({file["seed"]: file["per_query"] for file in files} for files in (first, second))
    if not shared_seeds(one, other) or not _same_questions(one, other):
        return None
    return difference(one, other, metric)


def _same_questions(first: Mapping[int | None, Any], second: Mapping[int | None, Any]) -> bool:
    """True if both methods were asked the same questions with every seed that they share.

    >>> rows = [{"query": 1}, {"query": 2}]
    >>> _same_questions({42: rows}, {None: rows}), _same_questions({42: rows}, {42: rows[:1]})
    (True, False)
    """
    asked = [
        {seed: {row["query"] for row in rows} for seed, rows in runs.items()}
        for runs in (first, second)
    ]
    return all(
        asked[0].get(seed, asked[0].get(None, queries)) == queries
        for seed, queries in asked[1].items()
    ) and all(
        asked[1].get(seed, asked[1].get(None, queries)) == queries
        for seed, queries in asked[0].items()
    )


def shared_seeds(first: Mapping[int | None, Any], second: Mapping[int | None, Any]) -> int:
    """Return seeds in which two methods can be compared; one without training stands beside all.

    >>> shared_seeds({42: [], 43: []}, {None: []}), shared_seeds({42: []}, {43: []})
    (2, 0)
    """
    if first and second and (None in first or None in second):
        return max(len(first), len(second))
    return len(first.keys() & second.keys())


def neighbours_table(trained: Files, split: str) -> str:
    """Return paired differences of neighbouring rows of the main table, with 95 % intervals."""
    gaps = neighbours(trained, split)
    if not gaps:
        return "*not run: `python -m benchmarks run main`*"
    rows = [
        [
            _named(gap.method),
            _named(gap.other),
            str(gap.seeds),
            f"{gap.by.mean:+.4f}",
            f"{gap.by.low:+.4f} to {gap.by.high:+.4f}",
            "yes" if gap.by.low > 0 or gap.by.high < 0 else "no",
        ]
        for gap in gaps
    ]
    reported = paper.graph_over_base()[split]
    interval = "" if reported.low is None else f"{reported.low:+.4f} to {reported.high:+.4f}"
    rows.append(["*authors: + GNN (SAT)*", "*base scorer*", "3", f"{reported.mean:+.4f}", interval])
    return markdown(
        ["method", "above it", "seeds", "Δ NDCG@5", "95 % interval", "beyond chance"], rows
    )


def _named(name: str) -> str:
    return f"{RECIPES[name].title} (`{name}`)"


def of_split(trained: Files, split: str, dataset: str = INDUSTRYTAB_1K) -> dict[str, list[File]]:
    """Return the results of each method on a split of a corpus, in the order of the main table."""
    here = [file for file in trained if (file["dataset"], file["split"]) == (dataset, split)]
    return {name: [file for file in here if file["method"] == name] for name in RECIPES}
