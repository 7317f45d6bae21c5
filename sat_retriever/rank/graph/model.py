"""Compute the logits of a candidate graph with onnxruntime, without torch.

The model's inputs are `query` (d,), `tokens` (k, d), `scores` (k,), `features` (k, f) and
`relations` (c, k, k), all float32; it may lack inputs that it does not read. Its output is
`logits` (k,) float32.
"""

from __future__ import annotations

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
from sat_retriever.errors import EncoderError
from sat_retriever.rank.graph.folder import MODEL, read_graph_folder
from sat_retriever.rank.graph.graph import CandidateGraph
from sat_retriever.rank.graph.spec import GraphSpec
from sat_retriever.records.tokens import FloatArray

if TYPE_CHECKING:
    import onnxruntime

_NEEDED = frozenset({"query", "tokens", "scores"})
_MOST_THREADS = 4  # one graph gains little from more


class GraphModel:
    """A trained base scorer, with or without its graph; may be shared between threads.

    Source: paper, section 3.4 and appendix A; the parts are in `sat_retriever.train`.

    Args:
        folder: Its folder, for error messages.
        spec: Its inputs.
        session: The opened model.
    """

    def __init__(
        self, folder: Path, spec: GraphSpec, session: onnxruntime.InferenceSession
    ) -> None:
        """Take finished parts; use `load` to get them."""
        self.folder = folder
        self.spec = spec
        self._session = session
        self._inputs = tuple(item.name for item in session.get_inputs())

    @classmethod
    def load(
        cls, folder: str | Path, *, threads: int | None = None, device: Device = "auto"
    ) -> GraphModel:
        """Load the model in a folder that training wrote.

        Args:
            folder: The folder.
            threads: Processor cores to use, at least 1; None takes all available, at most four.
            device: "cuda", "cpu", or "auto" for CUDA where it can be used.

        Raises:
            EncoderError: If the folder is not a reranker, is damaged, or cannot be opened.
            InputError: If `threads` is below 1, or the device is unknown.
            MissingExtraError: If CUDA is asked for, and onnxruntime lacks it.
        """
        cores, folder = usable_threads(threads, _MOST_THREADS), Path(folder)
        spec = read_graph_folder(folder)
        session = open_session(folder / MODEL, cores, device)
        _check_inputs(session, spec, folder / MODEL)
        return cls(folder, spec, session)

    def scores(self, graph: CandidateGraph) -> FloatArray:
        """Return the logits of the candidates, (k,) float32, in their order.

        Args:
            graph: One query's candidates, built with this model's spec; any number of them.

        Raises:
            EncoderError: If onnxruntime fails, or the result is not k numbers.
        """
        inputs = {
            name: np.ascontiguousarray(getattr(graph, name), dtype=np.float32)
            for name in self._inputs
        }
        return run_session(self._session, inputs, self.folder / MODEL, graph.scores.shape)


def _check_inputs(session: onnxruntime.InferenceSession, spec: GraphSpec, file: Path) -> None:
    """Refuse a model that differs from the description in its config.json."""
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
