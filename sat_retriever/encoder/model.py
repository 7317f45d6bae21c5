"""Run the exported model: a text in, its token out, with onnxruntime and tokenizers only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sat_retriever.encoder.folder import ModelFolder
from sat_retriever.encoder.pieces import WordPieces
from sat_retriever.errors import EncoderError
from sat_retriever.onnx.session import input_shapes, open_session, output_shape, run_session
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
    def open(cls, folder: ModelFolder, threads: int) -> OnnxModel:
        """Open the model of a verified folder.

        Args:
            folder: The folder.
            threads: Processor cores that one text may use.

        Raises:
            EncoderError: If its tokenizer or its model cannot be opened.
        """
        pieces = WordPieces.open(folder.tokenizer, folder.spec)
        return cls(folder, pieces, _open_session(folder, threads))

    def token(self, text: str) -> FloatArray:
        """Return the token of one text, (d,) float32, unit length; a long text is cut.

        Raises:
            EncoderError: If onnxruntime fails, for example for lack of memory, or the result is not
                finite.
        """
        ids, mask = self._pieces.padded([self._pieces.of(text)])  # (1, t)
        inputs = {"input_ids": ids, "attention_mask": mask}
        shape = (1, self.folder.spec.width)
        token: FloatArray = run_session(self._session, inputs, self.folder.model, shape)[0]
        return token


def _open_session(folder: ModelFolder, threads: int) -> onnxruntime.InferenceSession:
    """Open the model, and check its inputs and width."""
    session = open_session(folder.model, threads)
    inputs, output = sorted(input_shapes(session)), output_shape(session)
    if inputs != ["attention_mask", "input_ids"] or output[1:] != (folder.spec.width,):
        raise EncoderError(
            f"{folder.model} has inputs {inputs} and output {output}; it is not the "
            "model its config.json describes: save it again"
        )
    return session
