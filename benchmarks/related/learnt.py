"""A learnt walk on questions that need several sheets, beside the training-free one.

    python -m benchmarks run related_pulls [--seeds 42 43 44] [--variants pulls]

Learns from the training parts of `run related` and is measured on the validation parts. No epoch is
chosen: the last one counts. `own` has no pulls and shows what the same numbers give without links;
`pulls` reads scores and relations; `pulls_asked` also the question; `pulls_complete` adds the loss
of incomplete answers. A complete answer ends before the first sheet that is less likely than a
share of the best one, and that share is chosen on the training part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import torch

from benchmarks.related.lists import TAUGHT, Listed, Lists, lists
from benchmarks.related.pulls import PullScorer, PullShape, inputs, loss
from benchmarks.related.related import Wanted
from benchmarks.related.scoring import MEASURES, gaps, measures
from benchmarks.related.sets import MADE, SETS, Places
from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from sat_retriever.datasets.metrics import mean
from sat_retriever.datasets.metrics.rows import DEPTH
from sat_retriever.encoder import SheetEncoder
from sat_retriever.rank.reranker import COMPLETE_SHARE
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.reranker.candidatesets import CandidateSets, candidate_order

_MOST = 20  # sheets of a complete answer
_SHARES = tuple(round(0.05 * step, 2) for step in range(1, 20))


@dataclass(frozen=True, slots=True)
class Learning:
    """How a scorer learns.

    Attributes:
        shape: What its pulls read.
        complete: Weight of the loss of incomplete answers.
        epochs: Passes over the training lists.
        batch_size: Questions of a step; all are of one set.
        rate: Highest learning rate.
    """

    shape: PullShape
    complete: float = 0.0
    epochs: int = 8
    batch_size: int = 64
    rate: float = 2e-3


VARIANTS: Mapping[str, Learning] = MappingProxyType(
    {
        "own": Learning(PullShape(linked=False)),
        "pulls": Learning(PullShape(asked=0)),
        "pulls_asked": Learning(PullShape()),
        "pulls_complete": Learning(PullShape(), complete=0.5),
    }
)


def learnt(teaching: Lists, learning: Learning, seed: int) -> PullScorer:
    """Return a scorer that has learnt from some lists."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        first = next(iter(teaching.values())).sets
        scorer = PullScorer(learning.shape, first.queries.shape[1])
        steps = list(_batches(teaching, learning, np.random.default_rng(seed)))
        optimiser = torch.optim.AdamW(scorer.parameters(), learning.rate, weight_decay=0.01)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, learning.rate, total_steps=len(steps)
        )
        scorer.train()
        for sets, items in steps:
            given = inputs(sets, items)
            relevant = torch.from_numpy(sets.relevant[items])
            total = loss(scorer(**given), given["mask"], relevant, learning.complete)
            optimiser.zero_grad()
            total.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(scorer.parameters(), 1.0)
            optimiser.step()
            schedule.step()
    return scorer.eval()


def _batches(
    teaching: Lists, learning: Learning, rng: np.random.Generator
) -> Iterator[tuple[CandidateSets, np.ndarray]]:
    """Yield the questions of every step of every epoch, in random order."""
    for _ in range(learning.epochs):
        parts = [
            (each.sets, items)
            for each in teaching.values()
            for items in np.array_split(
                rng.permutation(len(each.sets)), -(-len(each.sets) // learning.batch_size)
            )
        ]
        for place in rng.permutation(len(parts)):
            yield parts[place]


def logits_of(scorer: PullScorer, sets: CandidateSets) -> FloatArray:
    """Return the logits of all candidates of all questions, (b, k) float32."""
    with torch.no_grad():
        parts = [
            scorer(**inputs(sets, items)).numpy()
            for items in np.array_split(np.arange(len(sets)), -(-len(sets) // 128))
        ]
    found: FloatArray = np.concatenate(parts)
    return found


def likelihoods(logits: FloatArray, sets: CandidateSets) -> FloatArray:
    """Return how likely each candidate is beside its list's best one, (b, k), in [0, 1]."""
    held = np.where(sets.rows >= 0, logits, -np.inf)
    ratio: FloatArray = np.exp(held - held.max(axis=1, keepdims=True))
    return ratio


def rows_of(scores: FloatArray, sets: CandidateSets, share: float) -> list[dict[str, Any]]:
    """Return one row a question, as `scoring.answered` does, from scores of the candidates.

    Args:
        scores: (b, k); those of padding are ignored.
        sets: The questions.
        share: Share of the best score that a sheet of a complete answer needs.
    """
    order = candidate_order(sets, scores)
    hits = np.take_along_axis(sets.relevant, order, axis=1)[:, :DEPTH]
    held = np.where(sets.rows >= 0, scores, -np.inf)
    best = np.take_along_axis(held, order, axis=1)[:, :_MOST]
    sizes = (best >= share * best[:, :1]).sum(axis=1)
    return [
        {
            "query": place,
            "relevant": int(sets.positives[place]),
            "hits": (np.flatnonzero(found) + 1).tolist(),
            "set": int(sizes[place]),
        }
        for place, found in enumerate(hits)
    ]


def set_share(scorer: PullScorer, teaching: Lists) -> float:
    """Return the share whose complete answers are best on the training lists, by mean F1."""
    every = [each.sets for each in teaching.values()]
    scored = [(likelihoods(logits_of(scorer, sets), sets), sets) for sets in every]

    def f1(share: float) -> float:
        rows = [row for scores, sets in scored for row in rows_of(scores, sets, share)]
        return mean([MEASURES["F1_of_set"](row) for row in rows])

    return max(_SHARES, key=f1)


def measured(
    name: str, variant: str, seed: int, scorer: PullScorer, share: float, listed: Listed
) -> Result:
    """Return the result of one scorer on one set, beside the walk over the same lists."""
    sets = listed.sets
    rows = rows_of(likelihoods(logits_of(scorer, sets), sets), sets, share)
    walk = rows_of(sets.scores, sets, COMPLETE_SHARE)
    found = {
        **measures(rows),
        "queries": len(rows),
        "answers": len(set(listed.answers)),
        "share": share,
        "walk": measures(walk),
        "against": {"walk": gaps(rows, walk, listed.answers)},
    }
    return Result(variant, name, found, "validation", seed, rows)


@suite(
    "related_pulls",
    "data",
    "encoder",
    "seeds",
    work=MADE,
    variants=option(list(VARIANTS), choices=list(VARIANTS)),
    most=option(400, "questions of a taught corpus"),
    asked=option(300, "questions of an asked corpus"),
    teach=option(TAUGHT, choices=TAUGHT),
    sets=option(list(SETS), choices=list(SETS)),
)
def main(options: Options) -> Iterator[Result]:
    """Make the lists, learn, measure."""
    places = Places(options.data, options.work)
    wanted = Wanted("validation", places, SheetEncoder.load(options.encoder))
    teaching = lists(options.teach, wanted, "train", most=options.most)
    asked = lists(options.sets, wanted, "validation", most=options.asked)
    for variant in options.variants:
        for seed in options.seeds:
            scorer = learnt(teaching, VARIANTS[variant], seed)
            share = set_share(scorer, teaching)
            for name, listed in asked.items():
                yield measured(name, variant, seed, scorer, share, listed)
