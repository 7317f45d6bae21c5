"""Rerank with a trained model that reads the graph of the candidates, run by onnxruntime.

The model's inputs are the arrays of `CandidateGraph`, but for those that it does not read; its
output is `logits` (k,) float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sat_retriever.encoder.onnx.device import Device
from sat_retriever.encoder.onnx.session import (
    input_shapes,
    open_session,
    run_session,
    usable_threads,
)
from sat_retriever.errors import EmptyInputError, EncoderError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.fusion import probabilities
from sat_retriever.index.search.question import Question
from sat_retriever.rank.graph.graph import CandidateGraph, candidate_graph
from sat_retriever.rank.graph.spec import FORMAT, MODEL, GraphSpec
from sat_retriever.rank.reranker import Reranker, rescored
from sat_retriever.rank.trained import TrainedKind, check_trained_on, read_spec
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.filters import Filters
from sat_retriever.records.tokens import FloatArray

if TYPE_CHECKING:
    import onnxruntime

_NEEDED = frozenset({"query", "tokens", "scores"})
_MOST_THREADS = 4  # one graph gains little from more


class GraphModel:
    """A trained base scorer, with or without its graph; may be shared between threads.

    Source: paper, section 3.4 and appendix A; the parts are in `sat_retriever.train`.
    """

    def __init__(
        self, folder: Path, spec: GraphSpec, session: onnxruntime.InferenceSession
    ) -> None:
        self.folder = folder
        self.spec = spec
        self._session = session
        self._inputs = tuple(item.name for item in session.get_inputs())

    @classmethod
    def load(
        cls, folder: str | Path, *, threads: int | None = None, device: Device = "auto"
    ) -> GraphModel:
        """Load the model in a folder that training wrote; see `GraphReranker.load`."""
        cores, folder = usable_threads(threads, _MOST_THREADS), Path(folder)
        spec = read_spec(folder, FORMAT, GraphSpec)
        session = open_session(folder / MODEL, cores, device)
        _check_inputs(session, spec, folder / MODEL)
        return cls(folder, spec, session)

    def scores(self, graph: CandidateGraph) -> FloatArray:
        """Return the logits of the candidates, (k,) float32; an EncoderError if that fails."""
        inputs = {
            name: np.ascontiguousarray(getattr(graph, name), dtype=np.float32)
            for name in self._inputs
        }
        return run_session(self._session, inputs, self.folder / MODEL, graph.scores.shape)


def _check_inputs(session: onnxruntime.InferenceSession, spec: GraphSpec, file: Path) -> None:
    found = input_shapes(session)
    d, f, c = spec.width, len(spec.features), len(spec.channels)
    wanted: dict[str, tuple[int | None, ...]] = {  # None: the k of candidates
        "query": (d,), "tokens": (None, d), "scores": (None,),
        "features": (None, f), "relations": (c, None, None),
    }  # fmt: skip
    if not _NEEDED <= set(found) <= set(wanted) or not all(
        len(shape) == len(wanted[name])
        and all(due in (None, size) for due, size in zip(wanted[name], shape, strict=True))
        for name, shape in found.items()
    ):
        raise EncoderError(
            f"{file} has inputs {found}; it is not the model its config.json describes: "
            "train it again"
        )


class GraphReranker(Reranker):
    """A reranker with a trained base scorer and graph; may be shared between threads.

    It takes more or fewer candidates than it was trained on, up to the thousands whose relations
    fit in memory (`rank.graph.graph.MAX_ENTRIES`).

    Raises:
        FingerprintMismatchError: If it was trained on other tokens than the index has.
    """

    def __init__(self, index: SheetIndex, model: GraphModel) -> None:
        check_trained_on(index, model.folder, GRAPH.command, model.spec)
        self.index = index
        self.model = model
        self.dense_weight = model.spec.dense_weight
        self.trained_candidates = model.spec.candidates
        self.complete_share = model.spec.complete_share

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
            EncoderError: If the folder is not such a reranker, is damaged, or cannot be opened.
            InputError: If `threads` is below 1, or the device is unknown.
            MissingExtraError: If CUDA is asked for, and onnxruntime lacks it.
        """
        model = GraphModel.load(folder, threads=threads, device=device or index.device)
        return cls(index, model)

    def rerank(
        self, question: Question, candidates: Sequence[Candidate], filters: Filters | None = None
    ) -> list[Candidate]:
        """Return candidates with new scores and ranks, best first.

        The score is the sigmoid of the model's logit, in [0, 1]: the probability that the sheet is
        relevant, with relevant sheets weighted as in the loss. Logits decide the order. Sheets that
        were removed from the index since are left out. A model trained on candidates after links
        adds the sheets that links lead to.

        Raises:
            InputError: If there are too many candidates for one graph.
        """
        if not candidates:
            return []
        try:
            graph = candidate_graph(self.index, question, candidates, self.model.spec, filters)
        except EmptyInputError:  # a writer has removed every one of them
            return []
        logits = self.model.scores(graph)
        return rescored(graph.candidates, logits, probabilities(logits))


GRAPH = TrainedKind("graph", "Stage 2", FORMAT, GraphSpec, GraphReranker.load, carries=True)
