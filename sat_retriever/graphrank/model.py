"""A candidate graph to logits: onnxruntime only, no torch.

The model's inputs are `query` (d,), `tokens` (k, d), `scores` (k,), `features` (k, f) and
`relations` (c, k, k), all float32, of which it may leave out what it does not read; its
output is `logits` (k,) float32.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sat_retriever.errors import EncoderError, InputError
from sat_retriever.graphrank.folder import MODEL, read_graph_folder
from sat_retriever.graphrank.graph import CandidateGraph
from sat_retriever.graphrank.spec import GraphSpec
from sat_retriever.onnxsession import available_cores, open_session, run_session
from sat_retriever.types import FloatArray

if TYPE_CHECKING:
    import onnxruntime

INPUTS = ("query", "tokens", "scores", "features", "relations")
_NEEDED = frozenset({"query", "tokens", "scores"})
_MOST_THREADS = 4  # one graph gains little beyond


class GraphModel:
    """A trained base scorer, with or without its graph; safe to share between threads.

    Source: paper, section 3.4 and appendix A; the parts are in `sat_retriever.training`.

    Args:
        folder: Where it came from, to name in an error.
        spec: What it reads.
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
    def load(cls, folder: str | Path, *, threads: int | None = None) -> GraphModel:
        """The model in a folder that training wrote.

        Args:
            folder: The folder.
            threads: Processor cores to use, at least 1; those available, four at most, when
                None.

        Raises:
            EncoderError: If the folder is no reranker, damaged, or cannot be opened.
            InputError: If `threads` is below 1.
        """
        if threads is not None and threads < 1:
            raise InputError(f"threads is {threads}; give 1 or more, or None for all cores")
        folder = Path(folder)
        spec = read_graph_folder(folder)
        session = open_session(folder / MODEL, threads or min(available_cores(), _MOST_THREADS))
        _check_inputs(session, spec, folder / MODEL)
        return cls(folder, spec, session)

    def scores(self, graph: CandidateGraph) -> FloatArray:
        """Logits of the candidates, (k,) float32, in their order.

        Args:
            graph: One query's candidates, made by this model's spec; any number of them.

        Raises:
            EncoderError: If onnxruntime fails, or gives something else than k numbers.
        """
        inputs = {
            name: np.ascontiguousarray(getattr(graph, name), dtype=np.float32)
            for name in self._inputs
        }
        logits = run_session(self._session, inputs, self.folder / MODEL)
        if logits.shape != graph.scores.shape or not np.isfinite(logits).all():
            raise EncoderError(
                f"{self.folder / MODEL} gave no {len(graph.scores)} finite numbers for as many "
                "candidates; train it again"
            )
        return logits.astype(np.float32, copy=False)


def _check_inputs(session: onnxruntime.InferenceSession, spec: GraphSpec, file: Path) -> None:
    """Refuse a model that is not what its config.json describes."""
    shapes = {item.name: item.shape for item in session.get_inputs()}
    widths = {"query": spec.width, "tokens": spec.width, "features": len(spec.features)}
    stated = {name: shape[-1] for name, shape in shapes.items() if name in widths}
    if "relations" in shapes:
        widths["relations"], stated["relations"] = len(spec.channels), shapes["relations"][0]
    other = [name for name, size in stated.items() if size != widths[name]]
    if not _NEEDED <= set(shapes) <= set(INPUTS) or other:
        raise EncoderError(
            f"{file} has inputs {shapes}; it is not the model its config.json describes: "
            "train it again"
        )
