"""Rerank with a trained model that reads the graph of the candidates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import EmptyInputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.fusion import probabilities
from sat_retriever.index.search.question import Question
from sat_retriever.rank.fingerprints import check_trained_on
from sat_retriever.rank.graph.folder import FORMAT, copy_graph_folder, read_graph_folder
from sat_retriever.rank.graph.graph import candidate_graph
from sat_retriever.rank.graph.model import GraphModel
from sat_retriever.rank.graph.spec import GraphSpec
from sat_retriever.rank.kind import TrainedKind, TrainedOn
from sat_retriever.rank.reranker import Reranker
from sat_retriever.rank.rescored import rescored
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.filters import Filters


class GraphReranker(Reranker):
    """A reranker with a trained base scorer and graph; may be shared between threads.

    It takes more or fewer candidates than it was trained on, up to the thousands whose relations
    fit in memory (`rank.graph.graph.MAX_ENTRIES`).

    Args:
        index: Source of the candidates.
        model: The trained model.

    Raises:
        FingerprintMismatchError: If it was trained on other tokens than the index has.
    """

    def __init__(self, index: SheetIndex, model: GraphModel) -> None:
        check_trained_on(index, model.folder, GRAPH.command, _trained_on(model.spec))
        self.index = index
        self.model = model

    @classmethod
    def load(
        cls,
        index: SheetIndex,
        folder: str | Path,
        *,
        threads: int | None = None,
        device: Device | None = None,
    ) -> GraphReranker:
        """Load the reranker in a folder that training wrote, for the sheets of an index.

        Args:
            index: Source of the candidates.
            folder: The reranker's folder.
            threads: Processor cores to use, at least 1; None takes all available, at most four.
            device: "cuda", "cpu" or "auto"; None takes the index's.

        Raises:
            EncoderError: If the folder is not a reranker, is damaged, or cannot be opened.
            FingerprintMismatchError: If it was trained on other tokens than the index has.
            InputError: If `threads` is below 1, or the device is unknown.
            MissingExtraError: If CUDA is asked for, and onnxruntime lacks it.
        """
        model = GraphModel.load(folder, threads=threads, device=device or index.device)
        return cls(index, model)

    @property
    def dense_weight(self) -> float:
        """Share of the cosine in the score that finds its candidates."""
        return self.model.spec.dense_weight

    @property
    def trained_candidates(self) -> int:
        """Number of candidates per query that it was trained on."""
        return self.model.spec.candidates

    @property
    def complete_share(self) -> float:
        """Smallest share of the best score for a sheet of a complete answer."""
        return self.model.spec.complete_share

    def rerank(
        self,
        question: Question,
        candidates: Sequence[Candidate],
        filters: Filters | None = None,
    ) -> list[Candidate]:
        """Return candidates with new scores and ranks, best first.

        The score is the sigmoid of the model's logit, in [0, 1]: the probability that the sheet is
        relevant, with relevant sheets weighted as in the loss. Logits decide the order, even if two
        scores round to the same number; equal logits are in the order of sheet ids. Sheets that
        were removed from the index since are left out. A model trained on candidates after links
        adds the sheets that links lead to.

        Args:
            question: The question that the candidates were found for.
            candidates: The result of Stage 1, in any order.
            filters: Conditions on added sheets.

        Raises:
            InputError: If there are too many candidates for one graph.
            EncoderError: If the model cannot be run.
        """
        if not candidates:
            return []
        try:
            graph = candidate_graph(self.index, question, candidates, self.model.spec, filters)
        except EmptyInputError:  # a writer has removed every one of them
            return []
        logits = self.model.scores(graph)
        return rescored(graph.candidates, logits, probabilities(logits))


def _trained_on(spec: GraphSpec) -> TrainedOn:
    return TrainedOn(spec.encoder, spec.serialization)


GRAPH = TrainedKind(
    name="reranker",
    label="Stage 2",
    format=FORMAT,
    trained_on=lambda folder: _trained_on(read_graph_folder(folder)),
    load=GraphReranker.load,
    carry=lambda folder, target, encoder: copy_graph_folder(folder, target, encoder=encoder),
)
