"""Train Stage 1: a backbone learns which sheets answer which questions."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from sat_retriever.encoder.checkpoint import read_checkpoint
from sat_retriever.encoder.export import export_model
from sat_retriever.encoder.folder import write_model_folder
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.train.data.trainingdata import TrainingData
from sat_retriever.train.encoder.backbone import Backbone
from sat_retriever.train.encoder.encodertask import SENTENCE_TRANSFORMERS, EncoderTask
from sat_retriever.train.encoder.fusion import CHOSEN
from sat_retriever.train.encoder.mixedtask import Mixed, MixedTask
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.fit import fit
from sat_retriever.train.loop.runfolder import RunFolder
from sat_retriever.train.loop.state import Fitted, OnProgress, TrainingProgress
from sat_retriever.train.loop.weights import own_copy
from sat_retriever.train.settings import EncoderTraining

_ENCODER = "encoder"
_PHASE = "stage-1"  # unlike the names of results, since a phase's folder lies beside them
Weights = Mapping[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class TrainedEncoder:
    """The results of a training of Stage 1.

    The metrics are on the validation questions, by the cosine alone. If the training data has
    words, also `dense_weight`, the chosen share of the cosine in the fused score, and NDCG@5 of
    every share tried.
    """

    folder: Path
    best_epoch: int
    metrics: Mapping[str, float]

    @property
    def sentence_transformers(self) -> Path:
        """The folder that `SentenceTransformer` loads."""
        return self.folder / SENTENCE_TRANSFORMERS

    @property
    def encoder(self) -> Path:
        """The folder that `SheetEncoder.load` loads without torch."""
        return self.folder / _ENCODER


def train_encoder(
    data: TrainingData | Mixed,
    settings: EncoderTraining,
    folder: str | Path,
    *,
    device: Device = "auto",
    progress: OnProgress | None = None,
) -> TrainedEncoder:
    """Train the Sheet Encoder in a run folder; the same call goes on after a kill.

    With several corpora (see `mixed`), a question is compared with sheets of its own, and
    validation weighs all equally.

    Source: paper, section 3.3. Departs: a question without a non-relevant sheet among its nearest
    has no hard negative; the released recipe ends the epoch there.

    Raises:
        EncoderError: If the backbone cannot be found, trained with these settings, or exported.
        MissingExtraError: If an optional package is missing; the message names the command.
        TrainingError: If the folder holds something else, torch has no such device, or that device
            lacks the precision.
        OutputError: If the folder cannot be written.
    """
    accelerator = make_accelerator(settings.schedule(), device)
    backbone = Backbone.load(
        settings.backbone, trained_layers=settings.trained_layers, max_length=settings.max_length
    )
    config = {"kind": "encoder", "start": backbone.spec.fingerprint, **asdict(settings)}
    run = RunFolder.open(folder, config, data_hash=data.fingerprint, data_name=data.name)
    if not run.finished:
        with run.held():
            backbone.to(accelerator.device)
            task: EncoderTask
            if isinstance(data, Mixed):
                task = MixedTask(data, settings, backbone)
            else:
                task = EncoderTask(data, settings, backbone)
            before = trained_weights(backbone)
            fitted = fit(
                task, settings.schedule(), run, accelerator, progress, _PHASE, untrained="show"
            )
            if settings.trained_share < 1:
                if progress and accelerator.is_main_process:
                    last = settings.epochs
                    progress(TrainingProgress(_PHASE, "mixing", last, last, 0, 1, None, None))
                mix(backbone, before, settings.trained_share)
                with torch.no_grad():
                    fitted = replace(fitted, metrics=task.validate(accelerator))
            if accelerator.is_main_process:
                _finish(run, task, fitted, settings)
            accelerator.wait_for_everyone()
    result = run.result()
    return TrainedEncoder(run.path, result["best_epoch"], result["metrics"])


def _finish(run: RunFolder, task: EncoderTask, fitted: Fitted, settings: EncoderTraining) -> None:
    source = fitted.folder / SENTENCE_TRANSFORMERS
    # An earlier attempt may have been killed after it had moved this up, and mixed weights differ
    # from those of the best epoch.
    if settings.trained_share < 1 or not source.is_dir():
        shutil.rmtree(source, ignore_errors=True)
        task.save(fitted.folder)
    export_encoder(source, fitted.folder / _ENCODER, dense_weight=fitted.metrics.get(CHOSEN))
    run.finish(fitted.result(), fitted.folder)


def export_encoder(source: Path, target: Path, *, dense_weight: float | None = None) -> None:
    """Write a sentence-transformers folder as an encoder folder that runs without torch.

    An existing encoder folder is replaced. `dense_weight` is the share of its cosine in the fused
    score of a new index; None sets none.
    """
    checkpoint = read_checkpoint(source, str(source))
    write_model_folder(
        target,
        checkpoint.spec,
        checkpoint.tokenizer,
        lambda file: export_model(checkpoint, file),
        dense_weight=dense_weight,
    )


def trained_weights(module: torch.nn.Module) -> Weights:
    """Return copies of the trainable parameters, by name, on the CPU."""
    learn = {name: each for name, each in module.named_parameters() if each.requires_grad}
    return {name: own_copy(each) for name, each in learn.items()}


def mix(module: torch.nn.Module, before: Weights, share: float) -> None:
    """Set each trained parameter to share · itself + (1 - share) · its value before.

    Fine-tuning improves answers to questions like the training's and loses some of the model's
    other knowledge. Weights between both keep most of either.

    Source: Wortsman et al. 2022, "Robust fine-tuning of zero-shot models" (section 3, weight
    ensembling).
    """
    here = dict(module.named_parameters())
    with torch.no_grad():
        for name, trained in trained_weights(module).items():
            here[name].copy_(share * trained + (1 - share) * before[name])
