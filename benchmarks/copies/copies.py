"""Groups of copies on made histories, and questions for the newest and for a named version.

    python -m benchmarks run copies [--seeds 10 11 12]

Bounds were chosen on seeds 0 to 2; the others are the test. Each pair of sheets that are versions
of one sheet counts once.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.copies.histories import Question, make_histories, questions
from benchmarks.results import Result
from benchmarks.runner import Options, suite
from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.index.index import SheetIndex
from sat_retriever.synth.histories.histories import Histories

CHOSEN_ON = (0, 1, 2)
_TOP = 5

Pair = tuple[str, str]


def pairs_of(groups: Mapping[str, str]) -> set[Pair]:
    """Pairs of sheets of one group.

    >>> sorted(pairs_of({"a": "x", "b": "x", "c": "y"}))
    [('a', 'b')]
    """
    members = defaultdict(list)
    for sheet_id in sorted(groups):
        members[groups[sheet_id]].append(sheet_id)
    return {pair for each in members.values() for pair in combinations(each, 2)}


def found_groups(index: SheetIndex) -> dict[str, str]:
    """Groups as the index has them, each named by its first sheet."""
    ids = index.sheet_ids()
    others = index.copies(ids)
    return {each: min(each, *others[each].sheet_ids) if each in others else each for each in ids}


def answered(retriever: SheetRetriever, question: Question, groups: Mapping[str, str]) -> str:
    """Whether a question is answered "right", by an "other" version, or "missed" altogether."""
    hits = [hit.sheet_id for hit in retriever.retrieve(question.text, _TOP)]
    if question.sheet_ids & set(hits):
        return "right"
    meant = {groups[each] for each in question.sheet_ids}
    return "other" if any(groups[each] in meant for each in hits) else "missed"


def measured(made: Histories, folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Measures over all sheets, by kind of history and by question; and one row a question."""
    with SheetIndex.create(folder / "copies.sat") as index:
        report = index.sync(made.folder)
        if report.skipped or len(index) != len(made.groups):
            raise SystemExit(f"{len(index)} of {len(made.groups)} sheets were read")
        found = pairs_of(found_groups(index))
        true = pairs_of(made.groups)
        retriever = SheetRetriever(index)
        rows = [
            {"kind": each.kind, "answer": answered(retriever, each, made.groups)}
            for each in questions(made)
        ]
    metrics: dict[str, Any] = {
        "sheets": len(made.groups),
        "pairs": len(true),
        **scores(found, true),
    }
    metrics["wrong_by_kind"] = dict(Counter(made.kinds[pair[0]] for pair in found - true))
    metrics["missed_by_kind"] = dict(Counter(made.kinds[pair[0]] for pair in true - found))
    for kind in ("newest", "named"):
        answers = Counter(row["answer"] for row in rows if row["kind"] == kind)
        asked = max(1, answers.total())
        metrics[f"{kind}_questions"] = answers.total()
        metrics[f"{kind}_found"] = answers["right"] / asked
        metrics[f"{kind}_of_those_met"] = answers["right"] / max(1, asked - answers["missed"])
    return metrics, rows


def scores(found: set[Pair], true: set[Pair]) -> dict[str, float]:
    """Precision, recall and F1 of pairs."""
    right = len(found & true)
    precision, recall = right / max(1, len(found)), right / max(1, len(true))
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return {"precision": precision, "recall": recall, "F1": f1}


def results(seeds: Sequence[int]) -> Iterator[Result]:
    """One result a seed."""
    for seed in seeds:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            metrics, rows = measured(make_histories(folder, seed), folder)
        split = "development" if seed in CHOSEN_ON else "test"
        yield Result("groups", "made_histories", metrics, split, seed, rows)


@suite("copies", seeds=[0, 1, 2, 10, 11, 12, 13, 14])
def main(options: Options) -> Iterable[Result]:
    """Make histories, index them, compare groups and answers, seed by seed."""
    return results(options.seeds)
