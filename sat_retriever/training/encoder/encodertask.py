"""Define Stage 1 as a task of the training loop: the texts of a step, the metrics of an epoch.

A step takes the batch's questions, relevant sheets drawn for them, and their hard negatives. Every
sheet is encoded once and serves all questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray
from sat_retriever.training.data.trainingdata import TrainingData
from sat_retriever.training.data.validation import ranked_metrics
from sat_retriever.training.encoder.backbone import Backbone
from sat_retriever.training.encoder.contrastive import (
    Bank,
    multi_positive_loss,
    single_positive_loss,
)
from sat_retriever.training.encoder.embed import (
    Pieces,
    as_batch,
    encode_pieces,
    group_by_length,
    split_texts,
)
from sat_retriever.training.encoder.fusion import choose_fusion
from sat_retriever.training.encoder.mining import draw_negatives, draw_positives, nearest_sheets
from sat_retriever.training.loop.gather import gather_items, gather_rows
from sat_retriever.training.loop.task import Share, State
from sat_retriever.training.settings import EncoderTraining

SENTENCE_TRANSFORMERS = "sentence-transformers"
CANDIDATES = 50  # sheets that Stage 1 passes on; their recall bounds all later results
STAGE_1_METRICS = ("NDCG@5", "Recall@5", "MRR@5", f"Recall@{CANDIDATES}")


class EncoderTask:
    """Stage 1 for the training loop (`sat_retriever.training.loop.task.Task`)."""

    def __init__(self, data: TrainingData, settings: EncoderTraining, backbone: Backbone) -> None:
        """Split all texts into word pieces.

        Args:
            data: Corpus, questions, and the sheets that training may see.
            settings: All hyper-parameters.
            backbone: The model to train.
        """
        spec = backbone.spec
        self._data = data
        self._settings = settings
        self._backbone = backbone
        self._sheets = split_texts(backbone, data.sheets, spec.sheet_prefix)
        self._train = split_texts(backbone, data.train.texts, spec.query_prefix)
        self._validation = split_texts(backbone, data.validation.texts, spec.query_prefix)
        self._seen = np.asarray(data.seen, dtype=np.int64)
        # Relevant sheets and hard negatives of each training question in this epoch; see `prepare`.
        self._positives = self._negatives = np.zeros((0, 0), dtype=np.int64)
        self._ranked: NDArray[np.int64] | None = None
        self._bank: FloatArray | None = None
        # Tokens of sheets with the current weights, cleared by each step; by the number of the
        # corpus, here the only one.
        self._tokens: dict[int, FloatArray] = {}

    @property
    def module(self) -> torch.nn.Module:
        """The backbone."""
        return self._backbone

    @property
    def size(self) -> int:
        """Number of training questions."""
        return len(self._data.train)

    def prepare(self, epoch: int, accelerator: Accelerator) -> None:
        """Draw each question's relevant sheets and its hard negatives for this epoch."""
        settings, gold = self._settings, self._data.train.positives
        mined = settings.negatives > 0 and (self._ranked is None or settings.mining == "epoch")
        if settings.bank or mined:
            tokens = self._sheet_tokens(accelerator)
            if settings.bank:
                self._bank = tokens[self._seen]
            if mined:
                questions = encode_pieces(self._backbone, self._train, accelerator)
                self._ranked = self._nearest(questions, tokens)
        ranked = np.zeros((self.size, 0), np.int64) if self._ranked is None else self._ranked
        seed = (settings.seed, epoch)
        self._positives = draw_positives(gold, settings.positives, (*seed, 0))
        self._negatives = draw_negatives(
            ranked, gold, settings.negatives, settings.negative_choice, (*seed, 1)
        )

    def _nearest(self, questions: FloatArray, tokens: FloatArray) -> NDArray[np.int64]:
        """Return the sheets near each training question, best first, for hard negatives."""
        return nearest_sheets(questions, tokens, self._seen, self._settings.negative_depth)

    def loss(self, module: torch.nn.Module, share: Share, accelerator: Accelerator) -> torch.Tensor:
        """Return the loss of one share of a batch; the mean over processes is the batch's loss.

        A share has at least one question. The batch's sheets are divided among the processes and
        their tokens gathered, so every question is compared with every sheet of the batch.
        """
        self._tokens.clear()
        items = gather_items(share.items, accelerator)
        drawn = np.concatenate([self._positives[items], self._negatives[items]], axis=1)
        sheets = np.unique(drawn[drawn >= 0])  # ascending: the columns of the loss, (s,)
        parts = np.array_split(sheets, share.world)
        own = [self._sheets[row] for row in parts[share.rank]]
        asked = [self._train[item] for item in share.items]
        tokens = self._encode(module, [*own, *asked], accelerator)
        counts = [len(part) for part in parts]
        columns = gather_rows(tokens[: len(own)], counts, accelerator)  # (s, d)
        questions = tokens[len(own) :]  # (b, d)
        losses = self._losses(questions, columns, share.items, sheets)
        return losses.sum() * share.world / share.total

    def _encode(
        self, module: torch.nn.Module, texts: Sequence[Pieces], accelerator: Accelerator
    ) -> torch.Tensor:
        """Return the tokens of a step's texts, in their order, by one call of the module."""
        groups = group_by_length(texts, accelerator.device)
        batches = [
            as_batch(self._backbone, [texts[place] for place in group], accelerator.device)
            for group in groups
        ]
        back = np.argsort(np.concatenate(groups))
        tokens: torch.Tensor = module(batches)
        return tokens[torch.from_numpy(back).to(tokens.device)]

    def _losses(
        self,
        questions: torch.Tensor,
        columns: torch.Tensor,
        items: NDArray[np.int64],
        sheets: NDArray[np.int64],
    ) -> torch.Tensor:
        """Return the loss of each of b questions over the step's s sheets, (b,)."""
        cosines = questions.float() @ columns.float().T  # (b, s)
        temperature = self._settings.temperature
        if self._settings.loss == "single_positive":
            first = np.searchsorted(sheets, self._positives[items, 0])
            return single_positive_loss(
                cosines, torch.from_numpy(first).to(cosines.device), temperature
            )
        relevant = self._relevant(items)  # (b, n)
        bank = None
        if self._bank is not None:
            tokens = torch.from_numpy(self._bank).to(cosines.device)  # (m, d)
            in_step = np.isin(self._seen, sheets)
            excluded = torch.from_numpy(relevant[:, self._seen] | in_step).to(cosines.device)
            bank = Bank(questions.float() @ tokens.T, excluded)
        among = torch.from_numpy(relevant[:, sheets]).to(cosines.device)
        return multi_positive_loss(cosines, among, temperature, bank)

    def _relevant(self, items: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark which of all n sheets are relevant for each of b questions, (b, n) bool."""
        relevant = np.zeros((len(items), len(self._sheets)), dtype=np.bool_)
        for row, item in enumerate(items):
            relevant[row, list(self._data.train.positives[item])] = True
        return relevant

    def validate(self, accelerator: Accelerator) -> Mapping[str, float]:
        """Return metrics of the validation questions over all sheets, seen in training or not.

        They use the cosine alone, as in the paper. If the words of the sheets are known, the chosen
        share of the cosine in the fused score and the result of each share are added.
        """
        self._tokens.clear()
        questions = encode_pieces(self._backbone, self._validation, accelerator)
        tokens = self._sheet_tokens(accelerator)
        every = np.arange(len(tokens))
        ranked = nearest_sheets(questions, tokens, every, CANDIDATES)
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
        """Write the current model into a new folder."""
        self._backbone.save_sentence_transformers(folder / SENTENCE_TRANSFORMERS)

    def state(self) -> State:
        """Return the arrays that define this epoch's questions."""
        kept: dict[str, NDArray[Any]] = {"positives": self._positives, "negatives": self._negatives}
        if self._ranked is not None and self._settings.mining == "fixed":
            kept["ranked"] = self._ranked
        if self._bank is not None:
            kept["bank"] = self._bank
        return kept

    def restore(self, state: State) -> None:
        """Restore the arrays from `state`."""
        self._positives, self._negatives = state["positives"], state["negatives"]
        self._ranked, self._bank = state.get("ranked"), state.get("bank")
        self._tokens.clear()
