"""Run the exported model: a text in, its token out, with onnxruntime and tokenizers only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sat_retriever.encoder.folder import ModelFolder
from sat_retriever.encoder.onnx.device import Device, runs_on_gpu
from sat_retriever.encoder.onnx.session import (
    input_shapes,
    limits_on,
    open_session,
    output_shape,
    run_session,
    similar_lengths,
)
from sat_retriever.encoder.spec import EncoderSpec
from sat_retriever.errors import EncoderError
from sat_retriever.records.tokens import FloatArray

if TYPE_CHECKING:
    import onnxruntime
    from tokenizers import Tokenizer


def open_tokenizer(file: Path, max_length: int | None = None) -> Tokenizer:
    """Open a `tokenizer.json` without padding, which cuts at the maximum length, if any."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_padding()
        if max_length is None:
            tokenizer.no_truncation()
        else:
            tokenizer.enable_truncation(max_length)
    except Exception as error:  # tokenizers raises nothing more specific
        raise EncoderError(f"{file} is no usable tokenizer ({error})") from error
    return tokenizer


class WordPieces:
    """A tokenizer with the rules of one encoder; may be shared between threads."""

    def __init__(self, tokenizer: Tokenizer, spec: EncoderSpec) -> None:
        self._tokenizer = tokenizer
        self._spec = spec

    @classmethod
    def open(cls, file: Path, spec: EncoderSpec) -> WordPieces:
        """Open a `tokenizer.json`; see `open_tokenizer`."""
        return cls(open_tokenizer(file, spec.max_length), spec)

    def of(self, text: str) -> list[int]:
        """Return the word pieces of one text with special ones, cut at the maximum length."""
        if self._spec.lowercase:
            text = text.lower()
        # A lone surrogate (from a file name that is no UTF-8) cannot be split.
        text = text.encode("utf-8", "replace").decode("utf-8")
        # One by one on purpose: encode_batch starts threads that a later fork complains about.
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    def padded(
        self, pieces: Sequence[Sequence[int]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return pieces of b texts, padded to the longest, and a mask of 1 for pieces, (b, t)."""
        length = max(map(len, pieces))
        ids = np.full((len(pieces), length), self._spec.pad_id, dtype=np.int64)  # (b, t)
        mask = np.zeros((len(pieces), length), dtype=np.int64)
        for row, piece in enumerate(pieces):
            ids[row, : len(piece)] = piece
            mask[row, : len(piece)] = 1
        return ids, mask


class OnnxModel:
    """A tokenizer and a session from one folder; may be shared between threads."""

    def __init__(
        self, folder: ModelFolder, pieces: WordPieces, session: onnxruntime.InferenceSession
    ) -> None:
        self.folder = folder
        self._pieces = pieces
        self._session = session

    @classmethod
    def open(cls, folder: ModelFolder, threads: int, device: Device) -> OnnxModel:
        """Open the model of a verified folder."""
        pieces = WordPieces.open(folder.tokenizer, folder.spec)
        session = open_session(folder.model, threads, device)
        inputs, output = sorted(input_shapes(session)), output_shape(session)
        if inputs != ["attention_mask", "input_ids"] or output[1:] != (folder.spec.width,):
            raise EncoderError(
                f"{folder.model} has inputs {inputs} and output {output}; it is not the "
                "model its config.json describes: save it again"
            )
        return cls(folder, pieces, session)

    @property
    def on_gpu(self) -> bool:
        """True if it runs on a GPU."""
        return runs_on_gpu(self._session)

    def token(self, text: str) -> FloatArray:
        """Return the token of one text, (d,) float32, unit length; a long text is cut."""
        token: FloatArray = self._run([self._pieces.of(text)])[0]
        return token

    def tokens(self, texts: Sequence[str]) -> FloatArray:
        """Return the tokens of texts, (n, d) float32, computed in padded batches.

        The last digits of a token depend on the other texts of its batch.
        """
        pieces = [self._pieces.of(text) for text in texts]
        tokens = np.empty((len(texts), self.folder.spec.width), dtype=np.float32)
        limits = limits_on("cuda" if self.on_gpu else "cpu")
        for group in similar_lengths([*map(len, pieces)], limits):
            tokens[group] = self._run([pieces[place] for place in group])
        return tokens

    def _run(self, pieces: Sequence[Sequence[int]]) -> FloatArray:
        ids, mask = self._pieces.padded(pieces)  # (b, t)
        inputs = {"input_ids": ids, "attention_mask": mask}
        shape = (len(pieces), self.folder.spec.width)
        return run_session(self._session, inputs, self.folder.model, shape)
