"""Run the exported model: a text in, its token out, with onnxruntime and tokenizers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sat_retriever.encoder.folder import ModelFolder
from sat_retriever.encoder.onnx.batches import limits_on, similar_lengths
from sat_retriever.encoder.onnx.device import Device, runs_on_gpu
from sat_retriever.encoder.onnx.session import input_shapes, open_session, output_shape, run_session
from sat_retriever.encoder.pieces import WordPieces
from sat_retriever.errors import EncoderError
from sat_retriever.records.tokens import FloatArray

if TYPE_CHECKING:
    import onnxruntime


class OnnxModel:
    """A tokenizer and a session from one folder; may be shared between threads."""

    def __init__(
        self, folder: ModelFolder, pieces: WordPieces, session: onnxruntime.InferenceSession
    ) -> None:
        """Take finished parts; use `open` to get them."""
        self.folder = folder
        self._pieces = pieces
        self._session = session

    @classmethod
    def open(cls, folder: ModelFolder, threads: int, device: Device) -> OnnxModel:
        """Open the model of a verified folder.

        Args:
            folder: The folder.
            threads: Processor cores that one text may use.
            device: See `sat_retriever.encoder.onnx.session.open_session`.

        Raises:
            EncoderError: If its tokenizer or its model cannot be opened, or CUDA cannot be used
                and is asked for.
            MissingExtraError: If CUDA is asked for, and onnxruntime lacks it.
        """
        pieces = WordPieces.open(folder.tokenizer, folder.spec)
        return cls(folder, pieces, _open_session(folder, threads, device))

    @property
    def on_gpu(self) -> bool:
        """True if it runs on a GPU."""
        return runs_on_gpu(self._session)

    def token(self, text: str) -> FloatArray:
        """Return the token of one text, (d,) float32, unit length; a long text is cut.

        Raises:
            EncoderError: If onnxruntime fails, for example for lack of memory, or the result is not
                finite.
        """
        token: FloatArray = self._run([self._pieces.of(text)])[0]
        return token

    def tokens(self, texts: Sequence[str]) -> FloatArray:
        """Return the tokens of texts, (n, d) float32, computed in padded batches for a GPU.

        The last digits of a token depend on the other texts of its batch.

        Raises:
            EncoderError: As `token`.
        """
        pieces = [self._pieces.of(text) for text in texts]
        tokens = np.empty((len(texts), self.folder.spec.width), dtype=np.float32)
        for group in similar_lengths([*map(len, pieces)], limits_on("cuda")):
            tokens[group] = self._run([pieces[place] for place in group])
        return tokens

    def _run(self, pieces: Sequence[Sequence[int]]) -> FloatArray:
        """Return the tokens of one padded batch, (b, d)."""
        ids, mask = self._pieces.padded(pieces)  # (b, t)
        inputs = {"input_ids": ids, "attention_mask": mask}
        shape = (len(pieces), self.folder.spec.width)
        return run_session(self._session, inputs, self.folder.model, shape)


def _open_session(
    folder: ModelFolder, threads: int, device: Device
) -> onnxruntime.InferenceSession:
    """Open the model, and check its inputs and width."""
    session = open_session(folder.model, threads, device)
    inputs, output = sorted(input_shapes(session)), output_shape(session)
    if inputs != ["attention_mask", "input_ids"] or output[1:] != (folder.spec.width,):
        raise EncoderError(
            f"{folder.model} has inputs {inputs} and output {output}; it is not the "
            "model its config.json describes: save it again"
        )
    return session
