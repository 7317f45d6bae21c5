"""Train the Cross-Encoder: it learns whether a query and a sheet belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from numpy.typing import NDArray

from sat_retriever.encoder.onnx.device import Device
from sat_retriever.encoder.onnx.session import limits_on, similar_lengths
from sat_retriever.rank.cross_encoder import CROSS_ENCODER, Pair, PairSpec, write_pair_folder
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.data.trainingdata import NO_SHEET, ranked_metrics
from sat_retriever.train.loop.device import (
    computed_in_groups,
    make_accelerator,
    moved,
    on_device,
    staged,
)
from sat_retriever.train.loop.state import OnProgress
from sat_retriever.train.loop.task import MEASURE, Share, State
from sat_retriever.train.reranker.pairlists import PairLists, Pairs, choose_blend, draw_pairs
from sat_retriever.train.reranker.pairmodel import PairBatch, PairModel, export_pair_model
from sat_retriever.train.reranker.run import (
    RerankerTask,
    TrainedReranker,
    open_run,
    train_in,
)
from sat_retriever.train.settings import CrossEncoderTraining

PAIR_METRICS = ("NDCG@5", "Recall@5", "MRR@5", "HN-FPR@1")


def train_cross_encoder(
    train: PairLists,
    validation: PairLists,
    settings: CrossEncoderTraining,
    folder: str | Path,
    *,
    data_name: str = "",
    device: Device = "auto",
    progress: OnProgress | None = None,
) -> TrainedReranker:
    """Train the Cross-Encoder (paper, appendix) in a run folder; see `train_reranker`."""
    accelerator = make_accelerator(settings.schedule(), device)
    model = PairModel.load(settings)
    start = model.checkpoint.spec.fingerprint
    lists = (train, validation)
    run = open_run(folder, CROSS_ENCODER.name, settings, lists, data_name, start=start)

    def make() -> PairTask:
        return PairTask(train, validation, settings, model)

    return train_in(run, make, settings.schedule(), accelerator, progress, "pairs")


def pair_losses(
    logits: torch.Tensor, relevant: torch.Tensor, positive_weight: float
) -> torch.Tensor:
    """Return the binary loss of each pair, relevant ones weighted, (b,) float32.

    L = −c·y·log σ(x) − (1 − y)·log(1 − σ(x)), where c is the weight of a relevant pair. The mean
    over a batch divides by its number of pairs, not by the weights.

    Source: paper, appendix (Cross-Encoder).

    >>> pair_losses(torch.zeros(2), torch.tensor([True, False]), 4.0)  # 4·log 2 and log 2
    tensor([2.7726, 0.6931])
    """
    weight = torch.tensor(positive_weight, device=logits.device)
    return torch.nn.functional.binary_cross_entropy_with_logits(
        logits.float(), relevant.float(), pos_weight=weight, reduction="none"
    )


@dataclass(frozen=True, slots=True)
class PairInputs:
    """A process's pairs of a step, in padded batches of similar length; `relevant` is (b,) bool."""

    batches: list[PairBatch]
    relevant: torch.Tensor


class PairTask(RerankerTask):
    """A task that trains a Cross-Encoder; an item of a batch is a pair."""

    def __init__(
        self,
        train: PairLists,
        validation: PairLists,
        settings: CrossEncoderTraining,
        model: PairModel,
    ) -> None:
        self._train = train
        self._validation = validation
        self._settings = settings
        self._model = model
        self._pairs = draw_pairs(train, settings, epoch=1)
        self.blend = min(settings.blend)

    @property
    def module(self) -> torch.nn.Module:
        return self._model

    @property
    def size(self) -> int:
        return len(self._pairs)  # the same in every epoch

    def prepare(self, epoch: int, accelerator: Accelerator) -> None:
        self._pairs = draw_pairs(self._train, self._settings, epoch)

    def inputs(self, share: Share, device: torch.device) -> PairInputs:
        drawn = self._pairs
        pairs = [
            self._pair(self._train, int(drawn.questions[item]), int(drawn.sheets[item]))
            for item in share.items
        ]
        groups = self._groups(pairs, device)
        batches = [self._batch([pairs[place] for place in group], device) for group in groups]
        relevant = drawn.relevant[share.items][np.concatenate(groups)]
        return PairInputs(batches, staged(relevant, device))

    def loss(
        self, module: torch.nn.Module, inputs: PairInputs, share: Share, accelerator: Accelerator
    ) -> torch.Tensor:
        device = accelerator.device
        logits = module([on_device(batch, device) for batch in inputs.batches])  # (b,)
        relevant = moved(inputs.relevant, device)
        losses = pair_losses(logits, relevant, self._settings.positive_weight)
        return losses.sum() * share.world / share.total

    def validate(self, accelerator: Accelerator) -> Mapping[str, float]:
        lists = self._validation
        chosen = choose_blend(self.validation_logits(accelerator), lists, self._settings.blend)
        self.blend = chosen.weight
        measured = ranked_metrics(chosen.ranked, lists.questions, PAIR_METRICS)
        by_weight = {f"{MEASURE}, w = {weight:g}": value for weight, value in chosen.ndcg.items()}
        return {**measured, "blend": chosen.weight, **by_weight}

    def validation_logits(self, accelerator: Accelerator) -> FloatArray:
        """Return the logits of the validation questions' candidates, (m, k), in every process.

        The candidates of a question whose metrics do not depend on their order are not scored and
        have logit 0: all are relevant, or none is relevant or a hard negative.
        """
        lists = self._validation
        places, columns = np.nonzero(_undecided(lists))
        pairs = [
            self._pair(lists, int(place), int(lists.rows[place, column]))
            for place, column in zip(places, columns, strict=True)
        ]
        device = accelerator.device
        with accelerator.autocast():
            scored = computed_in_groups(
                torch.zeros(len(pairs), device=device),
                self._groups(pairs, device),
                lambda group: self._batch([pairs[place] for place in group], device),
                lambda batch: self._model([on_device(batch, device)]),
                accelerator,
            )
        logits = np.zeros(lists.rows.shape, dtype=np.float32)
        logits[places, columns] = scored
        return logits

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True)  # `export` writes into it; the loop itself keeps the weights

    def export(self, target: Path) -> None:
        model, settings = self._model, self._settings
        spec = PairSpec(
            backbone=model.checkpoint.spec.fingerprint,
            pooling=model.checkpoint.spec.pooling,
            max_length=model.max_length,
            start_id=model.pieces.start_id,
            end_id=model.pieces.end_id,
            pad_id=model.checkpoint.spec.pad_id,
            token_types=model.token_types,
            lowercase=model.checkpoint.spec.lowercase,
            blend=self.blend,
            encoder=self._train.encoder,
            serialization=self._train.serialization,
            dense_weight=self._train.dense_weight,
            candidates=settings.candidates,
        )
        write_pair_folder(
            target, spec, model.checkpoint.tokenizer, lambda file: export_pair_model(model, file)
        )

    def state(self) -> State:
        kept: dict[str, NDArray[Any]] = {
            name: getattr(self._pairs, name) for name in ("questions", "sheets", "relevant")
        }
        return {**kept, "blend": np.array([self.blend])}

    def restore(self, state: State) -> None:
        self._pairs = Pairs(state["questions"], state["sheets"], state["relevant"])
        self.blend = float(state["blend"][0])

    def _pair(self, lists: PairLists, place: int, row: int) -> Pair:
        return self._model.pieces.pairs(lists.questions.texts[place], [lists.sheets[row]])[0]

    def _groups(self, pairs: Sequence[Pair], device: torch.device) -> list[list[int]]:
        return similar_lengths([*map(len, pairs)], limits_on(device.type))

    def _batch(self, pairs: Sequence[Pair], device: torch.device) -> PairBatch:
        return self._model.batch(self._model.pieces.padded(pairs), device)


def _undecided(lists: PairLists) -> NDArray[np.bool_]:
    """Mark the candidates whose order affects a metric, (m, k)."""
    there = lists.rows != NO_SHEET
    relevant, hard = (
        np.array([np.isin(own, of_one) for own, of_one in zip(lists.rows, sheets, strict=True)])
        for sheets in (lists.questions.positives, lists.questions.hard_negatives)
    )
    matters = (relevant | hard).any(axis=1) & (there & ~relevant).any(axis=1)
    return np.asarray(there & matters[:, None])
