"""Train Stage 2 in two phases: the base scorer, then the gated graph over it.

run/base/        the base scorer alone, as a reranker folder
run/reranker/    the best graph over it, or the base scorer if there are no layers
run/*.safetensors    their weights, as a start for another training
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from sat_retriever.encoder.models.folder import file_hash
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import EncoderError, InputError, TrainingError
from sat_retriever.rank.graph.spec import MODEL, GraphSpec, copy_graph_folder, read_graph_folder
from sat_retriever.records.files import make_folder
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.fit import fit
from sat_retriever.train.loop.runfolder import RunFolder
from sat_retriever.train.loop.state import Fitted, Metrics
from sat_retriever.train.loop.weights import load_weights, save_weights
from sat_retriever.train.reranker.candidatemetrics import complete_share
from sat_retriever.train.reranker.candidatesets import CandidateSets
from sat_retriever.train.reranker.reranktask import LossWeights, RerankTask, logits_of
from sat_retriever.train.reranker.scorer import BaseScorer, GraphScorer, GraphShape, ScorerShape
from sat_retriever.train.reranker.scoreronnx import base_weights, export_scorer
from sat_retriever.train.settings import RerankerTraining

if TYPE_CHECKING:
    from accelerate import Accelerator

    from sat_retriever.train.loop.state import OnProgress

BASE = "base"
GRAPH = "graph"
RERANKER = "reranker"


@dataclass(frozen=True, slots=True)
class TrainedReranker:
    """A finished training of Stage 2."""

    folder: Path  # of the run; `GraphReranker.load` reads its `reranker` and `base`
    base: Metrics | None  # validation; None if the scorer came from another run
    graph: Metrics | None  # validation of the graph over it; None without layers
    best_epoch: int  # of the last phase


def train_reranker(  # noqa: PLR0913 - data, settings, the two possible starts, and the device
    train: CandidateSets,
    validation: CandidateSets,
    settings: RerankerTraining,
    folder: str | Path,
    *,
    base: str | Path | None = None,
    start_from: str | Path | None = None,
    data_name: str = "",
    device: Device = "auto",
    progress: OnProgress | None = None,
) -> TrainedReranker:
    """Train the base scorer, then the graph over it; the same call goes on after a kill.

    Source: paper, section 3.4 and appendix A.

    Args:
        train: Questions to learn from, see `candidate_sets`. If they have more candidates or
            channels than the settings name, only the first or the named ones are read.
        validation: Questions to choose epochs with, of the same kind.
        settings: All hyper-parameters.
        folder: Run folder; a new one, or that of the same training.
        base: Run folder of another training whose base scorer is used as it is; it must have been
            trained on the same tokens, candidates and features.
        start_from: Reranker folder whose base scorer gives the initial weights; see
            `base_weights`. None starts from random weights, as the paper does.
        data_name: Name of the data, for the reader of the run folder.

    Raises:
        InputError: If the sets were built with other settings, nothing is left to train, or both
            `base` and `start_from` are given.
        TrainingError: If the folder holds another training, `base` or `start_from` does not fit,
            torch has no such device, or the loss is not finite.
        EncoderError: If `start_from` holds no reranker, or a damaged one.
        MissingExtraError: If an optional package is missing; the message names the command.
        OutputError: If the folder cannot be written.
    """
    if base is not None and not settings.layers:
        raise InputError("layers is 0 and the base scorer is given: nothing is left to train")
    if base is not None and start_from is not None:
        raise InputError("the base scorer is given, and is not trained: leave out start_from")
    train, validation = train.narrowed(settings), validation.narrowed(settings)
    accelerator = make_accelerator(settings.base_schedule(), device)
    config: dict[str, Any] = {"kind": RERANKER, **asdict(settings)}
    first = None
    if base is not None:
        config["base"] = file_hash(_fitting_base(Path(base), train))
    if start_from is not None:
        first = base_weights(Path(start_from), train.spec)
        config["start_from"] = file_hash(Path(start_from) / MODEL)
    data_hash = f"{train.fingerprint}-{validation.fingerprint}"
    run = RunFolder.open(folder, config, data_hash=data_hash, data_name=data_name)
    if not run.finished:
        with run.held():
            training = _Training(train, validation, settings, run, accelerator, progress, first)
            training.run_phases(None if base is None else Path(base))
            accelerator.wait_for_everyone()
    result = run.result()
    return TrainedReranker(
        run.path,
        base=None if result[BASE] is None else result[BASE]["metrics"],
        graph=None if result[GRAPH] is None else result[GRAPH]["metrics"],
        best_epoch=result["best_epoch"],
    )


@dataclass(frozen=True, slots=True)
class _Training:
    """An unfinished training."""

    train: CandidateSets
    validation: CandidateSets
    settings: RerankerTraining
    run: RunFolder
    accelerator: Accelerator
    progress: OnProgress | None
    first: Mapping[str, torch.Tensor] | None  # initial weights of the base scorer

    def run_phases(self, other: Path | None) -> None:
        """Run the remaining phases; `other` is the run folder of a finished base scorer."""
        base, graph = self._new_base(), None
        base_fitted = graph_fitted = None
        if other is None:
            base_fitted = self._fit(base, BASE)
        else:
            load_weights(other / _weights(BASE), base)
        alone = copy.deepcopy(base)  # joint training changes the other one
        if self.settings.layers:
            graph = self._new_graph(base)
            graph_fitted = self._fit(graph, GRAPH)
        if self.accelerator.is_main_process:
            self._finish(alone, graph, (base_fitted, graph_fitted), other)

    def _new_base(self) -> BaseScorer:
        spec = self.train.spec
        with _seeded(self.settings.seed, 0):
            made = BaseScorer(ScorerShape(spec.width, len(spec.features), self.settings.dropout))
        if self.first is not None:
            made.load_state_dict(self.first)
        return made

    def _new_graph(self, base: BaseScorer) -> GraphScorer:
        settings = self.settings
        shape = GraphShape(settings.channels, settings.layers, settings.gate, settings.dropout)
        with _seeded(settings.seed, 1):
            return GraphScorer(base, shape, joint=settings.joint)

    def _fit(self, scorer: BaseScorer | GraphScorer, phase: str) -> Fitted:
        settings = self.settings
        weights = LossWeights(
            settings.list_weight, settings.bce_weight, settings.pair_weight, settings.margin
        )
        task = RerankTask(scorer, self.train, self.validation, weights, _weights(phase))
        graph = phase == GRAPH
        schedule = settings.graph_schedule() if graph else settings.base_schedule()
        return fit(
            task, schedule, self.run, self.accelerator, self.progress, phase,
            untrained="keep" if graph or settings.keep_start else "show",
        )  # fmt: skip

    def _finish(
        self,
        base: BaseScorer,
        graph: GraphScorer | None,
        fitted: tuple[Fitted | None, Fitted | None],
        other: Path | None,
    ) -> None:
        last = fitted[1] or fitted[0]
        if last is None:  # refused at the start
            raise TrainingError("there is nothing to train: name layers, or no other base scorer")
        made = last.folder
        make_folder(made)
        save_weights(made / _weights(BASE), base)
        if other is None:
            alone = replace(self.train.spec, channels=(), layers=0)
            self._export(base, alone, made / BASE)
        else:
            copy_graph_folder(other / BASE, made / BASE)
        if graph is None:
            copy_graph_folder(made / BASE, made / RERANKER)
        else:
            save_weights(made / _weights(GRAPH), graph)
            self._export(graph, self.train.spec, made / RERANKER)
        result = {
            "best_epoch": last.best_epoch,
            "metrics": dict(last.metrics),
            BASE: None if fitted[0] is None else fitted[0].result(),
            GRAPH: None if fitted[1] is None else fitted[1].result(),
        }
        self.run.finish(result, made)

    def _export(self, scorer: BaseScorer | GraphScorer, spec: GraphSpec, folder: Path) -> None:
        share = complete_share(self.validation, logits_of(scorer, self.validation))
        export_scorer(scorer.to("cpu"), replace(spec, complete_share=share), folder)


def _fitting_base(run: Path, train: CandidateSets) -> Path:
    """Return the file of another run's base weights; refuse one with other inputs."""
    file = run / _weights(BASE)
    try:
        theirs = read_graph_folder(run / BASE)
    except EncoderError as error:
        raise TrainingError(
            f"{run} holds no base scorer to start from ({error}); name a finished run of "
            "sat train reranker"
        ) from error
    ours = replace(train.spec, channels=(), layers=0, complete_share=theirs.complete_share)
    if theirs != ours or not file.is_file():
        raise TrainingError(
            f"the base scorer in {run} reads something else ({theirs}) than this training "
            f"({ours}); train one with these settings"
        )
    return file


def _weights(phase: str) -> str:
    return f"{phase}.safetensors"


@contextmanager
def _seeded(*seeds: int) -> Iterator[None]:
    """Seed torch within the block, and restore its state after it."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(np.random.SeedSequence(seeds).generate_state(1)[0]))
        yield
