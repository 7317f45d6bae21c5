"""Compute the logits of query and sheet texts with onnxruntime and tokenizers only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sat_retriever.encoder.onnx.batches import limits_on, similar_lengths
from sat_retriever.encoder.onnx.device import Device, runs_on_gpu
from sat_retriever.encoder.onnx.session import (
    input_shapes,
    open_session,
    output_shape,
    run_session,
    usable_threads,
)
from sat_retriever.errors import EncoderError, InputError
from sat_retriever.rank.pairs.folder import MODEL, TOKENIZER, read_pair_folder
from sat_retriever.rank.pairs.pieces import PairPieces
from sat_retriever.rank.pairs.spec import PairSpec
from sat_retriever.records.tokens import FloatArray

if TYPE_CHECKING:
    import onnxruntime

_INPUTS = ("input_ids", "attention_mask")
_MOST_THREADS = 4  # one batch gains little from more


class CrossEncoder:
    """A model that reads a query and a sheet together; may be shared between threads.

    Source: paper, appendix (Cross-Encoder). Departs: a mean-pooled backbone keeps its pooling;
    the paper's BGE has a CLS state.

    Args:
        folder: Its folder, for error messages.
        spec: The form of pairs.
        pieces: The tokenizer of pairs.
        session: The opened model.
    """

    def __init__(
        self,
        folder: Path,
        spec: PairSpec,
        pieces: PairPieces,
        session: onnxruntime.InferenceSession,
    ) -> None:
        """Take finished parts; use `load` to get them."""
        self.folder = folder
        self.spec = spec
        self._pieces = pieces
        self._session = session

    @classmethod
    def load(
        cls, folder: str | Path, *, threads: int | None = None, device: Device = "auto"
    ) -> CrossEncoder:
        """Load the Cross-Encoder in a folder that training wrote.

        Args:
            folder: The folder.
            threads: Processor cores to use, at least 1; None takes all available, at most four.
            device: "cuda", "cpu", or "auto" for CUDA where it can be used.

        Raises:
            EncoderError: If the folder is not a Cross-Encoder, is damaged, or cannot be opened.
            InputError: If `threads` is below 1, or the device is unknown.
            MissingExtraError: If CUDA is asked for, and onnxruntime lacks it.
        """
        cores, folder = usable_threads(threads, _MOST_THREADS), Path(folder)
        spec = read_pair_folder(folder)
        pieces = PairPieces.open(
            folder / TOKENIZER, spec.max_length, spec.pad_id, lowercase=spec.lowercase
        )
        if (pieces.start_id, pieces.end_id) != (spec.start_id, spec.end_id):
            raise EncoderError(f"{folder} has the tokenizer of another model; train it again")
        session = open_session(folder / MODEL, cores, device)
        _check_inputs(session, spec, folder)
        return cls(folder, spec, pieces, session)

    def logits(self, query: str, texts: Sequence[str]) -> FloatArray:
        """Return the relevance of each sheet for a query, (k,) float32, in the order of the texts.

        The sigmoid of a logit is the model's probability, with relevant pairs weighted as in
        training. Equal texts have equal logits, whatever the other texts are.

        Args:
            query: The question.
            texts: Sheet texts, serialized as in training; may be empty.

        Raises:
            InputError: If `texts` is a single string.
            EncoderError: If onnxruntime fails, for example for lack of memory, or the result is not
                finite.
        """
        if isinstance(texts, str):
            raise InputError("a single string was given; give a list of texts")
        # Sorted: the texts in a batch change the last digit, which must not depend on their order.
        different = sorted(set(texts))
        pairs = self._pieces.pairs(query, different)
        logits = np.empty(len(pairs), dtype=np.float32)
        limits = limits_on("cuda" if runs_on_gpu(self._session) else "cpu")
        for places in similar_lengths([*map(len, pairs)], limits):
            inputs = dict(self._pieces.padded([pairs[place] for place in places]))
            if not self.spec.token_types:
                del inputs["token_type_ids"]
            shape, file = (len(places),), self.folder / MODEL
            logits[places] = run_session(self._session, inputs, file, shape)
        place_of = {text: place for place, text in enumerate(different)}
        return logits[[place_of[text] for text in texts]]


def _check_inputs(session: onnxruntime.InferenceSession, spec: PairSpec, folder: Path) -> None:
    """Refuse a model that differs from the description in its config.json."""
    wanted = {*_INPUTS, *(["token_type_ids"] if spec.token_types else [])}
    found, output = input_shapes(session), output_shape(session)
    if set(found) != wanted or [*map(len, found.values()), len(output)] != [2] * len(found) + [1]:
        raise EncoderError(
            f"{folder / MODEL} has inputs {found} and output {output}; it is not the "
            "model its config.json describes: train it again"
        )
