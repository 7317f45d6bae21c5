"""Train Stage 1: a backbone learns which sheets answer which questions."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from sat_retriever.encoder.checkpoint import read_checkpoint
from sat_retriever.encoder.export import export_model
from sat_retriever.encoder.folder import write_model_folder
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.train.data.trainingdata import TrainingData
from sat_retriever.train.encoder.backbone import Backbone
from sat_retriever.train.encoder.encodertask import SENTENCE_TRANSFORMERS, EncoderTask
from sat_retriever.train.encoder.fusion import CHOSEN
from sat_retriever.train.encoder.interpolation import SHARE, interpolate, trained_weights
from sat_retriever.train.encoder.mixedtask import Mixed, MixedTask
from sat_retriever.train.loop.course import Fitted
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.fit import fit
from sat_retriever.train.loop.progress import Standing, TrainingProgress
from sat_retriever.train.loop.runfolder import RunFolder
from sat_retriever.train.settings import EncoderTraining

__all__ = ["EncoderTask", "TrainedEncoder", "export_encoder", "train_encoder"]

_ENCODER = "encoder"
_PHASE = "stage-1"  # unlike the names of results, since a phase's folder lies beside them


@dataclass(frozen=True, slots=True)
class TrainedEncoder:
    """The results of a training of Stage 1.

    Attributes:
        folder: The run folder.
        best_epoch: The epoch that was kept.
        metrics: Its metrics on the validation questions, by the cosine alone. If the training data
            has words, also `dense_weight`, the chosen share of the cosine in the fused score, and
            NDCG@5 of every share tried. With interpolation also `trained_share`, the share of the
            trained weights, with its curve.
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
    progress: TrainingProgress | None = None,
) -> TrainedEncoder:
    """Train the Sheet Encoder in a run folder; the same call goes on after a kill.

    Source: paper, section 3.3. Departs: a question without a non-relevant sheet among its nearest
    has no hard negative; the released recipe ends the epoch there.

    Args:
        data: Corpus, questions, and the sheets that training may see. With several corpora (see
            `mixed`), a question is compared with sheets of its own, and validation weighs all
            equally.
        settings: All hyper-parameters.
        folder: Run folder; a new one, or that of the same training.
        device: "cuda", "cpu", or "auto" for CUDA if torch has it.
        progress: Called at every step.

    Raises:
        EncoderError: If the backbone cannot be found, trained with these settings, or exported.
        MissingExtraError: If an optional package is missing; the message names the command.
        TrainingError: If the folder holds something else, or torch has no such device, or that
            device lacks the precision.
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
            task = _task(data, settings, backbone)
            before = trained_weights(backbone)
            fitted = fit(
                task, settings.schedule(), run, accelerator, progress, _PHASE, untrained="show"
            )
            if settings.interpolation:
                told = progress if accelerator.is_main_process else None
                tell = partial(_tell, told, settings.epochs) if told else None
                mixed = interpolate(
                    task, before, fitted.metrics, settings.interpolation, accelerator, tell
                )
                fitted = replace(fitted, metrics=mixed.metrics)
            if accelerator.is_main_process:
                _finish(run, task, fitted)
            accelerator.wait_for_everyone()
    result = run.result()
    return TrainedEncoder(run.path, result["best_epoch"], result["metrics"])


def _task(data: TrainingData | Mixed, settings: EncoderTraining, backbone: Backbone) -> EncoderTask:
    if isinstance(data, Mixed):
        return MixedTask(data, settings, backbone)
    return EncoderTask(data, settings, backbone)


def _tell(progress: TrainingProgress, epochs: int, done: int, total: int) -> None:
    """Report how many mixtures of the weights were tried."""
    progress(Standing(_PHASE, "mixing", epochs, epochs, done, total, loss=None, best=None))


def _finish(run: RunFolder, task: EncoderTask, fitted: Fitted) -> None:
    """Export the best model and close the run."""
    source = fitted.folder / SENTENCE_TRANSFORMERS
    # An earlier attempt may have been killed after it had moved this up, and the weights that are
    # best on validation may differ from those of the best epoch.
    if fitted.metrics.get(SHARE, 1.0) != 1 or not source.is_dir():
        shutil.rmtree(source, ignore_errors=True)
        task.save(fitted.folder)
    export_encoder(source, fitted.folder / _ENCODER, dense_weight=fitted.metrics.get(CHOSEN))
    run.finish(fitted.result(), fitted.folder)


def export_encoder(source: Path, target: Path, *, dense_weight: float | None = None) -> None:
    """Write a sentence-transformers folder as an encoder folder that runs without torch.

    Args:
        source: A folder that sentence-transformers loads.
        target: The folder for `SheetEncoder.load`; an existing encoder folder is replaced.
        dense_weight: Share of its cosine in the fused score of a new index; None sets none.

    Raises:
        EncoderError: If the source is damaged or cannot be exported, or the target cannot be
            written.
        MissingExtraError: If a package that the export needs is not installed.
    """
    checkpoint = read_checkpoint(source, str(source))
    write_model_folder(
        target,
        checkpoint.spec,
        checkpoint.tokenizer,
        lambda file: export_model(checkpoint, file),
        dense_weight=dense_weight,
    )
