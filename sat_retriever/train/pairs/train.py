"""Train the Cross-Encoder: it learns whether a query and a sheet belong together."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from numpy.typing import NDArray

from sat_retriever.encoder.onnx.device import Device
from sat_retriever.encoder.onnx.session import limits_on, similar_lengths
from sat_retriever.rank.cross_encoder import Pair, PairSpec, write_pair_folder
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.data.trainingdata import NO_SHEET, QueryRows, TrainingData, ranked_metrics
from sat_retriever.train.loop.device import make_accelerator, moved, staged
from sat_retriever.train.loop.fit import fit
from sat_retriever.train.loop.parallel import depth_on, made_ahead
from sat_retriever.train.loop.runfolder import RunFolder
from sat_retriever.train.loop.state import OnProgress
from sat_retriever.train.loop.task import MEASURE, Share, State
from sat_retriever.train.pairs.pairmodel import Batch, PairModel, export_pair_model
from sat_retriever.train.pairs.pairs import (
    FoundSheets,
    PairCandidates,
    Pairs,
    Rows,
    choose_blend,
    draw_pairs,
)
from sat_retriever.train.settings import CrossEncoderTraining

PAIR_METRICS = ("NDCG@5", "Recall@5", "MRR@5", "HN-FPR@1")
_CROSS_ENCODER = "cross-encoder"


@dataclass(frozen=True, slots=True)
class TrainedCrossEncoder:
    """The results of a training of the Cross-Encoder."""

    folder: Path  # of the run
    best_epoch: int  # that was kept
    blend: float  # the chosen weight of the Stage 1 score
    metrics: Mapping[str, float]  # on the validation questions

    @property
    def cross_encoder(self) -> Path:
        """The folder that `CrossEncoderReranker.load` loads without torch."""
        return self.folder / _CROSS_ENCODER


def train_cross_encoder(
    data: TrainingData,
    candidates: PairCandidates,
    settings: CrossEncoderTraining,
    folder: str | Path,
    *,
    device: Device = "auto",
    progress: OnProgress | None = None,
) -> TrainedCrossEncoder:
    """Train the Cross-Encoder in a run folder; the same call goes on after a kill.

    The candidates come from `pair_candidates`, with the same data and settings.

    Source: paper, appendix (Cross-Encoder).

    Raises:
        EncoderError: If the backbone cannot be found, trained with these settings, or exported.
        MissingExtraError: If an optional package is missing; the message names the command.
        TrainingError: If the folder holds something else, or torch has no such device, or that
            device lacks the precision.
        OutputError: If the folder cannot be written.
    """
    accelerator = make_accelerator(settings.schedule(), device)
    model = PairModel.load(settings)
    start = model.checkpoint.spec.fingerprint
    config = {"kind": _CROSS_ENCODER, "start": start, **asdict(settings)}
    both = f"{data.fingerprint} {candidates.fingerprint}".encode()
    data_hash = hashlib.sha256(both).hexdigest()[:16]
    run = RunFolder.open(folder, config, data_hash=data_hash, data_name=data.name)
    if not run.finished:
        with run.held():
            task = PairTask(data, candidates, settings, model)
            fitted = fit(task, settings.schedule(), run, accelerator, progress, phase="pairs")
            if accelerator.is_main_process:
                task.export(fitted.folder / _CROSS_ENCODER)
                run.finish({**fitted.result(), "blend": task.blend}, fitted.folder)
            accelerator.wait_for_everyone()
    result = run.result()
    return TrainedCrossEncoder(run.path, result["best_epoch"], result["blend"], result["metrics"])


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
    """One process's pairs of a step, on the host, padded in batches of similar length.

    `relevant` is true for a relevant pair, (b,), batch after batch.
    """

    batches: list[Batch]
    relevant: torch.Tensor


class PairTask:
    """The Cross-Encoder for the training loop; an item of a batch is a pair."""

    def __init__(
        self,
        data: TrainingData,
        candidates: PairCandidates,
        settings: CrossEncoderTraining,
        model: PairModel,
    ) -> None:
        self._data = data
        self._candidates = candidates
        self._settings = settings
        self._model = model
        self._pairs = draw_pairs(data.train, candidates.train, settings, epoch=1)
        self.blend = min(settings.blend)

    @property
    def module(self) -> torch.nn.Module:
        """The backbone with its head."""
        return self._model

    @property
    def size(self) -> int:
        """Number of pairs in an epoch; the same in every epoch."""
        return len(self._pairs)

    def prepare(self, epoch: int, accelerator: Accelerator) -> None:
        """Draw the pairs of this epoch."""
        self._pairs = draw_pairs(self._data.train, self._candidates.train, self._settings, epoch)

    def inputs(self, share: Share, device: torch.device) -> PairInputs:
        """Return the pairs of a share, split into word pieces and padded."""
        drawn = self._pairs
        pairs = [
            self._pair(self._data.train, int(drawn.questions[item]), int(drawn.sheets[item]))
            for item in share.items
        ]
        groups = self._groups(pairs, device)
        batches = [self._batch([pairs[place] for place in group], device) for group in groups]
        relevant = drawn.relevant[share.items][np.concatenate(groups)]
        return PairInputs(batches, staged(relevant, device))

    def loss(
        self, module: torch.nn.Module, inputs: PairInputs, share: Share, accelerator: Accelerator
    ) -> torch.Tensor:
        """Return the loss of one share; its mean over processes is the batch's loss."""
        device = accelerator.device
        logits = module([_on_device(batch, device) for batch in inputs.batches])  # (b,)
        relevant = moved(inputs.relevant, device)
        losses = pair_losses(logits, relevant, self._settings.positive_weight)
        return losses.sum() * share.world / share.total

    def validate(self, accelerator: Accelerator) -> Mapping[str, float]:
        """Return metrics of the validation questions at the best weight of the Stage 1 score."""
        questions, found = self._data.validation, self._candidates.validation
        logits = self.validation_logits(accelerator)
        chosen = choose_blend(logits, found, questions, self._data.sheet_ids, self._settings.blend)
        self.blend = chosen.weight
        measured = ranked_metrics(chosen.ranked, questions, PAIR_METRICS)
        by_weight = {f"{MEASURE}, w = {weight:g}": value for weight, value in chosen.ndcg.items()}
        return {**measured, "blend": chosen.weight, **by_weight}

    def validation_logits(self, accelerator: Accelerator) -> FloatArray:
        """Return the logits of the validation questions' candidates, (m, k), in every process.

        The candidates of a question whose metrics do not depend on their order are not scored and
        have logit 0: all are relevant, or none is relevant or a hard negative.
        """
        found = self._candidates.validation
        places, columns = np.nonzero(_undecided(found, self._data.validation))
        pairs = [
            self._pair(self._data.validation, int(place), int(found.rows[place, column]))
            for place, column in zip(places, columns, strict=True)
        ]
        scored = torch.zeros(len(pairs), device=accelerator.device)
        device = accelerator.device
        groups = self._groups(pairs, device)
        own = groups[accelerator.process_index :: accelerator.num_processes]

        def padded(group: Sequence[int]) -> Batch:
            return self._batch([pairs[place] for place in group], device)

        with (
            torch.no_grad(),
            accelerator.autocast(),
            closing(made_ahead(padded, own, depth_on(device.type))) as batches,
        ):
            for group, batch in zip(own, batches, strict=True):
                scored[group] = self._model([_on_device(batch, device)])
        logits = np.zeros(found.rows.shape, dtype=np.float32)
        # Every logit is zero in all processes but one.
        logits[places, columns] = accelerator.reduce(scored, "sum").cpu().numpy()
        return logits

    def save(self, folder: Path) -> None:
        """Make the folder that `export` writes into; the loop itself keeps the weights."""
        folder.mkdir(parents=True)

    def export(self, target: Path) -> None:
        """Write the current model as a folder that runs without torch."""
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
            encoder=self._candidates.encoder,
            serialization=self._candidates.serialization,
            dense_weight=self._candidates.dense_weight,
            candidates=settings.candidates,
        )
        write_pair_folder(
            target, spec, model.checkpoint.tokenizer, lambda file: export_pair_model(model, file)
        )

    def state(self) -> State:
        """Return this epoch's pairs, and the weight that was chosen last."""
        kept: dict[str, NDArray[Any]] = {
            name: getattr(self._pairs, name) for name in ("questions", "sheets", "relevant")
        }
        return {**kept, "blend": np.array([self.blend])}

    def restore(self, state: State) -> None:
        """Restore the arrays from `state`."""
        self._pairs = Pairs(state["questions"], state["sheets"], state["relevant"])
        self.blend = float(state["blend"][0])

    def _pair(self, questions: QueryRows, place: int, row: int) -> Pair:
        return self._model.pieces.pairs(questions.texts[place], [self._data.sheets[row]])[0]

    def _groups(self, pairs: Sequence[Pair], device: torch.device) -> list[list[int]]:
        return similar_lengths([*map(len, pairs)], limits_on(device.type))

    def _batch(self, pairs: Sequence[Pair], device: torch.device) -> Batch:
        return self._model.batch(self._model.pieces.padded(pairs), device)


def _undecided(found: FoundSheets, questions: QueryRows) -> NDArray[np.bool_]:
    """Mark the candidates whose order affects a metric, (m, k)."""
    there = found.rows != NO_SHEET
    relevant = _among(found.rows, questions.positives)
    hard = _among(found.rows, questions.hard_negatives)
    matters = (relevant | hard).any(axis=1) & (there & ~relevant).any(axis=1)
    return np.asarray(there & matters[:, None])


def _among(rows: Rows, sheets: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
    """Mark the rows of each question that are among its sheets, (m, k)."""
    return np.array([np.isin(own, of_one) for own, of_one in zip(rows, sheets, strict=True)])


def _on_device(batch: Batch, device: torch.device) -> Batch:
    return tuple(moved(each, device) for each in batch)
