"""Train Stage 1 on several corpora; a question is compared only with sheets of its corpus.

The labels of a corpus are complete only for its own sheets. A similar sheet of another corpus would
be a false negative.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from accelerate import Accelerator

from sat_retriever.datasets.metrics import mean
from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.data.trainingdata import QueryRows, TrainingData, ranked_metrics
from sat_retriever.train.encoder.backbone import Backbone, encode_pieces
from sat_retriever.train.encoder.contrastive import multi_positive_loss
from sat_retriever.train.encoder.encodertask import (
    CANDIDATES,
    STAGE_1_METRICS,
    EncoderTask,
    Places,
    StepInputs,
)
from sat_retriever.train.encoder.fusion import Fusion, best_share, choose_fusion
from sat_retriever.train.encoder.mining import nearest_sheets
from sat_retriever.train.loop.task import Share, State, batches
from sat_retriever.train.settings import EncoderTraining


@dataclass(frozen=True, slots=True)
class Mixed:
    """Several corpora, joined in order."""

    parts: tuple[TrainingData, ...]
    taught: tuple[int, ...]  # numbers of the corpora with training questions, ascending
    judged: tuple[int, ...]  # of those with validation questions, ascending
    whole: TrainingData  # all sheets and these questions as one corpus

    @property
    def name(self) -> str:
        return self.whole.name

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over all corpora and the use of each."""
        named = [*(part.fingerprint for part in self.parts), str(self.taught), str(self.judged)]
        return hashlib.sha256(" ".join(named).encode("utf-8")).hexdigest()[:16]


def mixed(taught: Sequence[TrainingData], judged: Sequence[TrainingData]) -> Mixed:
    """Join corpora that teach with training questions and that choose with validation ones."""
    if not taught or not judged:
        raise EmptyInputError("give at least one corpus to learn from and one to choose with")
    parts = [*taught, *(each for each in judged if not any(each is one for one in taught))]
    names = [part.name for part in parts]
    if len(set(names)) < len(names):
        raise InputError(f"two corpora have one name ({', '.join(names)}); give each its own")
    starts = np.cumsum([0, *(len(part.sheets) for part in parts)]).tolist()
    learnt = [n for n, part in enumerate(parts) if any(part is one for one in taught)]
    asked = [n for n, part in enumerate(parts) if any(part is one for one in judged)]
    whole = TrainingData(
        name=" + ".join(names),
        sheet_ids=tuple(f"{part.name}/{each}" for part in parts for each in part.sheet_ids),
        sheets=tuple(text for part in parts for text in part.sheets),
        train=_joined([_shifted(parts[n].train, starts[n]) for n in learnt]),
        validation=_joined([_shifted(parts[n].validation, starts[n]) for n in asked]),
        seen=tuple(row + starts[n] for n in learnt for row in parts[n].seen),
    )
    return Mixed(tuple(parts), tuple(learnt), tuple(asked), whole)


def batches_by_corpus(corpora: Places, batch_size: int, seed: tuple[int, ...]) -> list[Places]:
    """Divide an epoch's questions into batches of one corpus each, as far as they fill a batch.

    The remaining questions share batches at random places; a short batch is the last. `corpora` has
    the number of each question's corpus.

    >>> found = batches_by_corpus(np.array([0] * 4 + [1] * 3), 2, (0,))
    >>> [len(batch) for batch in found], [len(set(batch // 4)) for batch in found[:3]]
    ([2, 2, 2, 1], [1, 1, 1])
    """
    chance = np.random.default_rng(seed)
    full: list[Places] = []
    rest: list[Places] = []
    for corpus in np.unique(corpora):
        own = chance.permutation(np.flatnonzero(corpora == corpus))
        cut = len(own) - len(own) % batch_size
        full += [own[start : start + batch_size] for start in range(0, cut, batch_size)]
        rest.append(own[cut:])
    left = np.concatenate(rest)
    shared = [left[start : start + batch_size] for start in range(0, len(left), batch_size)]
    last = [shared.pop()] if shared and len(shared[-1]) < batch_size else []
    full += shared
    return [full[place] for place in chance.permutation(len(full))] + last


class MixedTask(EncoderTask):
    """Stage 1 on several corpora, with the multi-positive loss."""

    def __init__(self, data: Mixed, settings: EncoderTraining, backbone: Backbone) -> None:
        if settings.loss != "multi_positive":
            raise InputError(
                "several corpora are trained with the multi_positive loss; leave it as it is, or "
                "train on one corpus"
            )
        super().__init__(data.whole, settings, backbone)
        parts = data.parts
        self._parts = parts
        self._taught, self._judged = data.taught, data.judged
        # Number of the corpus of each training question, validation question and sheet.
        self._corpus = _numbers({n: len(parts[n].train) for n in data.taught})
        self._asked = _numbers({n: len(parts[n].validation) for n in data.judged})
        self._home = _numbers({n: len(part.sheets) for n, part in enumerate(parts)})
        # The question of each item of the current epoch; see `prepare`.
        self._question: Places = np.arange(self.size)

    def prepare(self, epoch: int, accelerator: Accelerator) -> None:
        super().prepare(epoch, accelerator)
        size, seed = self._settings.batch_size, self._settings.seed
        drawn = batches_by_corpus(self._corpus, size, (seed, epoch, 2))
        for items, questions in zip(batches(self.size, size, epoch, seed), drawn, strict=True):
            self._question[items] = questions

    def inputs(self, share: Share, device: torch.device) -> StepInputs:
        return super().inputs(replace(share, batch=self._question[share.batch]), device)

    def validate(self, accelerator: Accelerator) -> Mapping[str, float]:
        """Return metrics of each corpus over its own sheets, and their means over the corpora."""
        self._tokens.clear()
        questions = encode_pieces(self._backbone, self._validation, accelerator)
        of_each: dict[str, dict[str, float]] = {}
        fusions = []
        for number in self._judged:
            part = self._parts[number]
            mine = questions[self._asked == number]
            sheets = self._corpus_tokens(number, accelerator)
            every = np.arange(len(sheets))
            ranked = nearest_sheets(mine, sheets, every, CANDIDATES, accelerator.device)
            of_each[part.name] = ranked_metrics(ranked, part.validation, STAGE_1_METRICS)
            if part.lexical is not None:
                fusions.append(choose_fusion(part, part.lexical, mine, sheets))
        names = next(iter(of_each.values()))
        found = {name: mean([each[name] for each in of_each.values()]) for name in names}
        found |= {f"{name} ({part})": each[name] for part, each in of_each.items() for name in each}
        if len(fusions) < len(self._judged):
            return found
        curve = {share: mean([each.ndcg[share] for each in fusions]) for share in fusions[0].ndcg}
        return found | Fusion(best_share(curve), curve).metrics()

    def state(self) -> State:
        return {**super().state(), "question": self._question}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._question = state["question"].copy()

    def _sheet_tokens(self, accelerator: Accelerator) -> FloatArray:
        """Return tokens of the sheets that are trained on, (n, d); zeros for all others."""
        of_each = {number: self._corpus_tokens(number, accelerator) for number in self._taught}
        tokens = np.zeros((len(self._home), self._backbone.spec.width), dtype=np.float32)
        for number, rows in of_each.items():
            tokens[self._home == number] = rows
        return tokens

    def _corpus_tokens(self, number: int, accelerator: Accelerator) -> FloatArray:
        rows = np.flatnonzero(self._home == number)
        return self._encoded(number, [self._sheets[row] for row in rows], accelerator)

    def _nearest(self, questions: FloatArray, tokens: FloatArray, device: torch.device) -> Places:
        """Return the sheets near each training question in its own corpus, best first."""
        own = {n: self._seen[self._home[self._seen] == n] for n in self._taught}
        depth = min(self._settings.negative_depth, *map(len, own.values()))
        ranked = np.empty((len(questions), depth), dtype=np.int64)
        for number, rows in own.items():
            mine = self._corpus == number
            ranked[mine] = nearest_sheets(questions[mine], tokens, rows, depth, device)
        return ranked

    def _losses(
        self, questions: torch.Tensor, columns: torch.Tensor, items: Places, sheets: Places
    ) -> torch.Tensor:
        """Return the loss of each of b questions over the step's sheets of its own corpus, (b,)."""
        cosines = questions.float() @ columns.float().T  # (b, s)
        foreign = self._corpus[items][:, None] != self._home[sheets][None]  # (b, s)
        own = cosines.masked_fill(torch.from_numpy(foreign).to(cosines.device), -torch.inf)
        among = self._relevance.among(items, sheets, cosines.device)
        return multi_positive_loss(own, among, self._settings.temperature)


def _numbers(sizes: Mapping[int, int]) -> Places:
    return np.repeat(np.fromiter(sizes.keys(), np.int64), list(sizes.values()))


def _shifted(questions: QueryRows, start: int) -> QueryRows:
    gold, hard = (
        tuple(tuple(row + start for row in rows) for rows in each)
        for each in (questions.positives, questions.hard_negatives)
    )
    return QueryRows(questions.texts, gold, hard)


def _joined(parts: Sequence[QueryRows]) -> QueryRows:
    return QueryRows(
        texts=tuple(text for part in parts for text in part.texts),
        positives=tuple(rows for part in parts for rows in part.positives),
        hard_negatives=tuple(rows for part in parts for rows in part.hard_negatives),
    )
