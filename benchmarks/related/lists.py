"""Candidate lists of the sets of questions, for trainings of a second stage; they are kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.progress import progress_bar
from benchmarks.related.related import Wanted, searched
from benchmarks.related.scoring import Searched, clusters
from benchmarks.related.sets import SETS, Part
from benchmarks.training.methods import OUR_RERANKER, RERANKER
from sat_retriever.rank.graph.spec import GraphSpec
from sat_retriever.rank.trained import spec_of
from sat_retriever.records.files import draft_of, make_folder
from sat_retriever.records.grouping import evenly
from sat_retriever.train.reranker.candidatesets import CandidateSets, candidate_sets, joined_sets

PAPERS = RERANKER.channels
OURS = (
    "semantic", "query", "schema", "lexical",
    "formula_reference", "aggregation", "summary_source", "join_key", "same_workbook",
)  # fmt: skip
EVERY = replace(OUR_RERANKER, start="links", channels=tuple(dict.fromkeys((*OURS, *PAPERS))))
TAUGHT = tuple(name for name, each in SETS.items() if "train" in each.parts)
_TEXTS = ("spec", "sheet_ids", "answers")
_STEP = 0.05


@dataclass(frozen=True, slots=True)
class Listed:
    """The candidates of a set's questions.

    Attributes:
        sets: Candidates, scores, relations and relevant sheets.
        answers: Cluster of each question: those with the same answer count as one draw.
    """

    sets: CandidateSets
    answers: tuple[Hashable, ...]

    def write(self, path: Path) -> None:
        """Write the lists to a file, whole or not at all."""
        held: dict[str, Any] = {
            field.name: getattr(self.sets, field.name)
            for field in fields(self.sets)
            if field.name not in _TEXTS
        }
        texts = (asdict(self.sets.spec), self.sets.sheet_ids, self.answers)
        for name, text in zip(_TEXTS, texts, strict=True):
            held[name] = np.array(json.dumps(text))
        make_folder(path.parent)
        with draft_of(path) as draft, draft.open("wb") as file:
            np.savez_compressed(file, **held)

    @classmethod
    def read(cls, path: Path) -> Listed:
        """Return the lists of a file."""
        with np.load(path) as held:
            spec, ids, answers = (json.loads(str(held[name])) for name in _TEXTS)
            arrays = {name: held[name] for name in held.files if name not in _TEXTS}
        sets = CandidateSets(spec=spec_of(spec, GraphSpec), sheet_ids=tuple(ids), **arrays)
        return cls(sets, tuple(tuple(each) for each in answers))


Lists = Mapping[str, Listed]
"""Candidates by the name of their set."""


def lists(
    names: Iterable[str],
    wanted: Wanted,
    part: Part,
    *,
    most: int,
) -> dict[str, Listed]:
    """Return the walk's candidates for the questions of a part, by set; corpora are joined.

    Those that were made before are read from below the folder of runs: remove its `lists` after a
    change of the library's ranking.

    Args:
        names: The sets.
        wanted: Folders and encoder.
        part: The part.
        most: Most questions of a corpus, spread evenly.
    """
    found = {}
    known = json.dumps([asdict(EVERY), wanted.encoder.fingerprint], sort_keys=True)
    ending = hashlib.sha256(known.encode("utf-8")).hexdigest()[:10]
    for name in names:
        path = wanted.places.runs / "lists" / f"{name}.{part}.{most}.{ending}.npz"
        if not path.is_file():
            _listed(name, replace(wanted, part=part), most).write(path)
        found[name] = Listed.read(path)
    return found


def _listed(name: str, wanted: Wanted, most: int) -> Listed:
    """Return the lists of a set, made now.

    Each set has the share of the cosine of its own questions: contents lower it, and a search
    without a trained reranker heeds that.
    """
    with searched(SETS[name], wanted) as (asked, _):
        chosen = [Searched(each.index, evenly(each.queries, most)) for each in asked]
        settings = replace(EVERY, dense_weight=own_weight(chosen))
        made = {}
        for number, each in enumerate(chosen):
            with progress_bar(f"{name}, lists for {wanted.part}", len(each.queries)) as told:
                made[str(number)] = candidate_sets(
                    each.index, each.queries, settings, progress=told
                )
        return Listed(joined_sets(made), tuple(clusters(chosen)))


def own_weight(asked: Sequence[Searched]) -> float:
    """Return the share of the cosine in the scores of some questions, in steps of .05."""
    weights = [
        each.index.question(query.text).dense_weight for each in asked for query in each.queries
    ]
    return round(round(median(weights) / _STEP) * _STEP, 2)
