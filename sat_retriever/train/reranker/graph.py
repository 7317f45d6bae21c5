"""Train the graph reranker in two phases: the base scorer, then the gated graph over it.

run/base/        the base scorer alone, as a reranker folder
run/reranker/    the best graph over it, or the base scorer if there are no layers
run/*.safetensors    their weights, as a start for another training
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn
from torch.nn.functional import normalize

from sat_retriever.encoder.models.folder import file_hash
from sat_retriever.encoder.onnx.compact import onnx_weights
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.encoder.onnx.export import export_onnx
from sat_retriever.errors import EncoderError, InputError, TrainingError
from sat_retriever.rank.graph.graphrank import GRAPH
from sat_retriever.rank.graph.spec import FORMAT, MODEL, GraphSpec
from sat_retriever.rank.trained import RERANKER, read_spec
from sat_retriever.records.files import make_folder
from sat_retriever.train.loop.device import make_accelerator
from sat_retriever.train.loop.fit import fit
from sat_retriever.train.loop.runfolder import RunFolder
from sat_retriever.train.loop.state import Fitted
from sat_retriever.train.loop.weights import load_weights, save_weights
from sat_retriever.train.reranker.candidatesets import CandidateSets, complete_share
from sat_retriever.train.reranker.graphtask import LossWeights, RerankTask, Scorer, logits_of
from sat_retriever.train.reranker.run import TrainedReranker, open_run
from sat_retriever.train.reranker.scorer import BaseScorer, GraphScorer, GraphShape, ScorerShape
from sat_retriever.train.settings import RerankerTraining

if TYPE_CHECKING:
    from accelerate import Accelerator

    from sat_retriever.train.loop.state import OnProgress

_BASE, _GRAPH = "base", "graph"  # the phases
_EXTRA = "train"  # installs onnx
_EXAMPLE = 5  # candidates of the export's example; the model takes any number


def train_graph(  # noqa: PLR0913 - data, settings, the two possible starts, and the device
    train: CandidateSets,
    validation: CandidateSets,
    settings: RerankerTraining,
    folder: str | Path,
    *,
    base: Path | None = None,
    start_from: Path | None = None,
    data_name: str = "",
    device: Device = "auto",
    progress: OnProgress | None = None,
) -> TrainedReranker:
    """Train the base scorer, then the graph over it, in a run folder; see `train_reranker`.

    If the sets have more candidates or channels than the settings name, only the first or the
    named ones are read.

    Source: paper, section 3.4 and appendix A.

    `base` is the run folder of another training whose base scorer is used as it is; it must have
    been trained on the same tokens, candidates and features. `start_from` is a reranker whose base
    scorer gives the initial weights (see `base_weights`); None starts from random ones, as the
    paper does. At most one of the two is given.
    """
    if base is not None and not settings.layers:
        raise InputError("layers is 0 and the base scorer is given: nothing is left to train")
    if base is not None and start_from is not None:
        raise InputError("the base scorer is given, and is not trained: leave out start_from")
    train, validation = train.narrowed(settings), validation.narrowed(settings)
    accelerator = make_accelerator(settings.base_schedule(), device)
    first, starts = None, {}
    if base is not None:
        starts["base"] = file_hash(_fitting_base(base, train))
    if start_from is not None:
        first = base_weights(start_from, train.spec)
        starts["start_from"] = file_hash(start_from / MODEL)
    run = open_run(folder, GRAPH.name, settings, (train, validation), data_name, **starts)
    if not run.finished:
        with run.held():
            training = _Training(train, validation, settings, run, accelerator, progress)
            training.run_phases(first, base)
            accelerator.wait_for_everyone()
    return TrainedReranker.of(run)


@dataclass(frozen=True, slots=True)
class _Training:
    train: CandidateSets
    validation: CandidateSets
    settings: RerankerTraining
    run: RunFolder
    accelerator: Accelerator
    progress: OnProgress | None

    def run_phases(self, first: Mapping[str, torch.Tensor] | None, other: Path | None) -> None:
        """Run the remaining phases; `other` is the run folder of a finished base scorer."""
        settings, spec, run = self.settings, self.train.spec, self.run
        with _seeded(settings.seed, 0):
            base = BaseScorer(ScorerShape(spec.width, len(spec.features), settings.dropout))
        if first is not None:
            base.load_state_dict(first)
        graph, fitted = None, dict.fromkeys((_BASE, _GRAPH))
        if other is None:
            fitted[_BASE] = self._fit(base, _BASE, keep=settings.keep_start)
        else:
            load_weights(other / _weights(_BASE), base)
        alone = copy.deepcopy(base)  # joint training changes the other one
        if settings.layers:
            shape = GraphShape(settings.channels, settings.layers, settings.gate, settings.dropout)
            with _seeded(settings.seed, 1):
                graph = GraphScorer(base, shape, joint=settings.joint)
            fitted[_GRAPH] = self._fit(graph, _GRAPH, keep=True)
        if not self.accelerator.is_main_process:
            return
        last = next(each for each in reversed(fitted.values()) if each is not None)
        made = last.folder
        make_folder(made)
        save_weights(made / _weights(_BASE), alone)
        if other is None:
            self._export(alone, replace(spec, channels=(), layers=0), made / _BASE)
        else:
            GRAPH.copy(other / _BASE, made / _BASE)
        if graph is None:
            GRAPH.copy(made / _BASE, made / RERANKER)
        else:
            save_weights(made / _weights(_GRAPH), graph)
            self._export(graph, spec, made / RERANKER)
        phases = {name: each and each.result() for name, each in fitted.items()}
        best = {"best_epoch": last.best_epoch, "metrics": dict(last.metrics)}
        run.finish({**best, **phases}, made)

    def _fit(self, scorer: Scorer, phase: str, *, keep: bool) -> Fitted:
        settings = self.settings
        weights = LossWeights(
            settings.list_weight, settings.bce_weight, settings.pair_weight, settings.margin
        )
        task = RerankTask(scorer, self.train, self.validation, weights, _weights(phase))
        schedule = settings.base_schedule() if phase == _BASE else settings.graph_schedule()
        return fit(
            task, schedule, self.run, self.accelerator, self.progress, phase,
            untrained="keep" if keep else "show",
        )  # fmt: skip

    def _export(self, scorer: Scorer, spec: GraphSpec, folder: Path) -> None:
        share = complete_share(self.validation, logits_of(scorer, self.validation))
        export_scorer(scorer.to("cpu"), replace(spec, complete_share=share), folder)


def _fitting_base(run: Path, train: CandidateSets) -> Path:
    """Return the file of another run's base weights; refuse one with other inputs."""
    file = run / _weights(_BASE)
    try:
        theirs = read_spec(run / _BASE, FORMAT, GraphSpec)
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


# ---- to a folder and back


class _OneQuestion(nn.Module):
    """A scorer for one question without padding, for export to ONNX."""

    def __init__(self, scorer: Scorer) -> None:
        super().__init__()
        self.scorer = scorer

    def forward(
        self,
        query: torch.Tensor,
        tokens: torch.Tensor,
        scores: torch.Tensor,
        features: torch.Tensor,
        relations: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return logits (k,) of query (d,), tokens (k, d), features (k, f), relations (c, k, k)."""
        given = [query, tokens, scores, features, *([] if relations is None else [relations])]
        mask = torch.ones_like(scores, dtype=torch.bool)
        logits: torch.Tensor = self.scorer(*(each[None] for each in (*given, mask)))
        return logits[0]


def export_scorer(scorer: Scorer, spec: GraphSpec, folder: Path) -> None:
    """Write a scorer as a folder that `GraphModel.load` reads, checked against torch.

    The scorer is on the CPU and is left in eval mode; an existing reranker is replaced.
    """
    one, inputs = _OneQuestion(scorer).eval(), _example(spec)
    dynamic: dict[str, tuple[int, ...]] = {"tokens": (0,), "scores": (0,), "features": (0,)}
    if isinstance(scorer, GraphScorer):
        dynamic["relations"] = (1, 2)
    else:
        del inputs["relations"]

    def write(file: Path) -> None:
        export_onnx(one, inputs, ("logits",), dynamic, file, _EXTRA)

    GRAPH.write(folder, spec, {MODEL: write})


def base_weights(folder: Path, spec: GraphSpec) -> dict[str, torch.Tensor]:
    """Return the weights of a reranker's base scorer, as the start of another one.

    The reranker may have a graph or not, and be trained on any tokens and with any share of the
    cosine. `spec` has the inputs of the other scorer.

    Raises:
        TrainingError: If its width, start or features differ, or it was never trained: the file
            stores equal weights once, so an untrained scorer's names are missing.
    """
    theirs = read_spec(folder, FORMAT, GraphSpec)
    for name in ("width", "start", "features"):
        if getattr(theirs, name) != getattr(spec, name):
            raise TrainingError(
                f"a training with {name} {getattr(spec, name)} cannot begin with the base scorer "
                f"in {folder}, which has {getattr(theirs, name)}; begin with another, or with none"
            )
    module = "scorer.base" if theirs.layers else "scorer"
    found = onnx_weights(folder / MODEL, module, _EXTRA)
    missing = BaseScorer(ScorerShape(spec.width, len(spec.features))).state_dict().keys() - found
    if missing:
        raise TrainingError(
            f"the base scorer in {folder} has never learnt (its file does not name "
            f"{min(missing)}); begin with another, or with none"
        )
    return {name: torch.from_numpy(value) for name, value in found.items()}


def _example(spec: GraphSpec) -> dict[str, torch.Tensor]:
    """Return made-up candidates from a separate generator, so other random numbers stay."""
    draw = torch.Generator().manual_seed(0)
    k, d, f, c = _EXAMPLE, spec.width, len(spec.features), len(spec.channels)
    return {
        "query": normalize(torch.randn(d, generator=draw), dim=-1),
        "tokens": normalize(torch.randn(k, d, generator=draw), dim=-1),
        "scores": torch.rand(k, generator=draw).sort(descending=True).values,
        "features": torch.rand(k, f, generator=draw),
        "relations": torch.rand(c, k, k, generator=draw),
    }
