"""Define Stage 1 as a task of the training loop: the texts of a step, the metrics of an epoch.

A step takes the batch's questions, relevant sheets drawn for them, and their hard negatives. Every
sheet is encoded once and serves all questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.data.trainingdata import TrainingData, ranked_metrics
from sat_retriever.train.encoder.backbone import (
    Backbone,
    Batch,
    as_batch,
    encode_pieces,
    group_by_length,
    split_texts,
)
from sat_retriever.train.encoder.contrastive import (
    Relevance,
    multi_positive_loss,
    single_positive_loss,
)
from sat_retriever.train.encoder.frozen import Pieces
from sat_retriever.train.encoder.fusion import choose_fusion
from sat_retriever.train.encoder.mining import draw_negatives, draw_positives, nearest_sheets
from sat_retriever.train.loop.device import gather_rows, moved, on_device, staged
from sat_retriever.train.loop.task import Share, State, Task
from sat_retriever.train.settings import EncoderTraining

Places = NDArray[np.int64]

SENTENCE_TRANSFORMERS = "sentence-transformers"
CANDIDATES = 50  # sheets that Stage 1 passes on; their recall bounds all later results
STAGE_1_METRICS = ("NDCG@5", "Recall@5", "MRR@5", f"Recall@{CANDIDATES}")


@dataclass(frozen=True, slots=True)
class StepInputs:
    """One process's share of a step of Stage 1, on the host."""

    items: Places  # its b training questions
    sheets: Places  # rows of the step's s distinct sheets, ascending, the same in every process
    counts: list[int]  # sheets that each process encodes, in order
    batches: list[Batch]  # padded texts: its own sheets and its questions, by length
    back: torch.Tensor  # place of each text in the batches: own sheets first, then questions


class EncoderTask(Task):
    """Stage 1 for the training loop."""

    def __init__(self, data: TrainingData, settings: EncoderTraining, backbone: Backbone) -> None:
        """Compute the frozen layers' states of all texts, on the backbone's device."""
        spec = backbone.spec
        self._data = data
        self._settings = settings
        self._backbone = backbone
        self._sheets = split_texts(backbone, data.sheets, spec.sheet_prefix)
        self._train = split_texts(backbone, data.train.texts, spec.query_prefix)
        self._validation = split_texts(backbone, data.validation.texts, spec.query_prefix)
        backbone.keep_frozen([*self._sheets, *self._train, *self._validation])
        self._seen = np.asarray(data.seen, dtype=np.int64)
        self._relevance = Relevance(data.train.positives)
        # Relevant sheets and hard negatives of each training question in this epoch; see `prepare`.
        self._positives = self._negatives = np.zeros((0, 0), dtype=np.int64)
        self._ranked: Places | None = None
        # Tokens of sheets with the current weights, cleared by each step; by the number of the
        # corpus, here the only one.
        self._tokens: dict[int, FloatArray] = {}

    @property
    def module(self) -> torch.nn.Module:
        return self._backbone

    @property
    def size(self) -> int:
        return len(self._data.train)

    def prepare(self, epoch: int, accelerator: Accelerator) -> None:
        settings, gold = self._settings, self._data.train.positives
        mined = settings.negatives > 0 and (self._ranked is None or settings.mining == "epoch")
        if mined:
            tokens = self._sheet_tokens(accelerator)
            questions = encode_pieces(self._backbone, self._train, accelerator)
            self._ranked = self._nearest(questions, tokens, accelerator.device)
        ranked = np.zeros((self.size, 0), np.int64) if self._ranked is None else self._ranked
        seed = (settings.seed, epoch)
        self._positives = draw_positives(gold, settings.positives, (*seed, 0))
        self._negatives = draw_negatives(
            ranked, gold, settings.negatives, settings.negative_choice, (*seed, 1)
        )

    def _nearest(self, questions: FloatArray, tokens: FloatArray, device: torch.device) -> Places:
        depth = self._settings.negative_depth
        return nearest_sheets(questions, tokens, self._seen, depth, device)

    def inputs(self, share: Share, device: torch.device) -> StepInputs:
        items = share.batch
        drawn = np.concatenate([self._positives[items], self._negatives[items]], axis=1)
        sheets = np.unique(drawn[drawn >= 0])  # ascending: the columns of the loss, (s,)
        parts = np.array_split(sheets, share.world)
        own = [self._sheets[row] for row in parts[share.rank]]
        texts = [*own, *(self._train[item] for item in share.items)]
        groups = group_by_length(texts, device)
        batches = [
            as_batch(self._backbone, [texts[place] for place in group], device) for group in groups
        ]
        back = staged(np.argsort(np.concatenate(groups)), device)
        return StepInputs(share.items, sheets, [*map(len, parts)], batches, back)

    def loss(
        self, module: torch.nn.Module, inputs: StepInputs, share: Share, accelerator: Accelerator
    ) -> torch.Tensor:
        self._tokens.clear()
        device, own = accelerator.device, inputs.counts[share.rank]
        encoded = module([on_device(batch, device) for batch in inputs.batches])
        tokens = encoded[moved(inputs.back, device)]
        columns = gather_rows(tokens[:own], inputs.counts, accelerator)  # (s, d)
        losses = self._losses(tokens[own:], columns, inputs.items, inputs.sheets)
        return losses.sum() * share.world / share.total

    def _losses(
        self, questions: torch.Tensor, columns: torch.Tensor, items: Places, sheets: Places
    ) -> torch.Tensor:
        """Return the loss of each of b questions over the step's s sheets, (b,)."""
        cosines = questions.float() @ columns.float().T  # (b, s)
        temperature = self._settings.temperature
        if self._settings.loss == "single_positive":
            first = np.searchsorted(sheets, self._positives[items, 0])
            return single_positive_loss(
                cosines, torch.from_numpy(first).to(cosines.device), temperature
            )
        among = self._relevance.among(items, sheets, cosines.device)
        return multi_positive_loss(cosines, among, temperature)

    def validate(self, accelerator: Accelerator) -> Mapping[str, float]:
        self._tokens.clear()
        questions = encode_pieces(self._backbone, self._validation, accelerator)
        tokens = self._sheet_tokens(accelerator)
        every = np.arange(len(tokens))
        ranked = nearest_sheets(questions, tokens, every, CANDIDATES, accelerator.device)
        found = ranked_metrics(ranked, self._data.validation, STAGE_1_METRICS)
        if self._data.lexical is None:
            return found
        return found | choose_fusion(self._data, self._data.lexical, questions, tokens).metrics()

    def _sheet_tokens(self, accelerator: Accelerator) -> FloatArray:
        """Return tokens of all sheets with the current weights, (n, d), computed once a step."""
        return self._encoded(0, self._sheets, accelerator)

    def _encoded(
        self, number: int, sheets: Sequence[Pieces], accelerator: Accelerator
    ) -> FloatArray:
        """Encode a whole corpus at once, since the batches of texts affect the last digits."""
        if number not in self._tokens:
            self._tokens[number] = encode_pieces(self._backbone, sheets, accelerator)
        return self._tokens[number]

    def save(self, folder: Path) -> None:
        self._backbone.save_sentence_transformers(folder / SENTENCE_TRANSFORMERS)

    def state(self) -> State:
        kept: dict[str, NDArray[Any]] = {"positives": self._positives, "negatives": self._negatives}
        if self._ranked is not None and self._settings.mining == "fixed":
            kept["ranked"] = self._ranked
        return kept

    def restore(self, state: State) -> None:
        self._positives, self._negatives = state["positives"], state["negatives"]
        self._ranked = state.get("ranked")
        self._tokens.clear()
