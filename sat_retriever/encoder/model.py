"""The exported model at run time: word pieces in, tokens out; onnxruntime and tokenizers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sat_retriever.encoder.folder import ModelFolder
from sat_retriever.errors import EncoderError
from sat_retriever.types import FloatArray

if TYPE_CHECKING:
    import onnxruntime
    from tokenizers import Tokenizer


class OnnxModel:
    """A tokenizer and a session opened from one folder; safe to share between threads."""

    def __init__(
        self, folder: ModelFolder, tokenizer: Tokenizer, session: onnxruntime.InferenceSession
    ) -> None:
        """Take finished parts; use `open` to get them."""
        self.folder = folder
        self._tokenizer = tokenizer
        self._session = session

    @classmethod
    def open(cls, folder: ModelFolder, threads: int) -> OnnxModel:
        """The model of a verified folder.

        Args:
            folder: The folder.
            threads: Processor cores one batch may use.

        Raises:
            EncoderError: If its tokenizer or its model cannot be opened.
        """
        return cls(folder, _open_tokenizer(folder), _open_session(folder, threads))

    def pieces(self, text: str) -> list[int]:
        """Word pieces of one text, special ones included, cut at the maximum length."""
        if self.folder.spec.lowercase:
            text = text.lower()
        # A lone surrogate (from a file name that is no UTF-8) cannot be split.
        text = text.encode("utf-8", "replace").decode("utf-8")
        # One by one on purpose: encode_batch starts threads that a later fork complains about.
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    def tokens(self, pieces: Sequence[Sequence[int]]) -> FloatArray:
        """Tokens of one batch, (b, d) float32, rows of unit length.

        Raises:
            EncoderError: If onnxruntime fails, for example for lack of memory.
        """
        length = max(map(len, pieces))
        ids = np.full((len(pieces), length), self.folder.spec.pad_id, dtype=np.int64)  # (b, t)
        mask = np.zeros((len(pieces), length), dtype=np.int64)
        for row, piece in enumerate(pieces):
            ids[row, : len(piece)] = piece
            mask[row, : len(piece)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask}
        try:
            tokens: FloatArray = self._session.run(None, inputs)[0]
        except Exception as error:
            raise EncoderError(f"onnxruntime failed on {self.folder.model} ({error})") from error
        return tokens


def _open_tokenizer(folder: ModelFolder) -> Tokenizer:
    """The tokenizer, cutting at the maximum length, without padding."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(folder.tokenizer))
        tokenizer.no_padding()
        tokenizer.enable_truncation(folder.spec.max_length)
    except Exception as error:  # tokenizers raises nothing more specific
        raise EncoderError(f"{folder.tokenizer} is no usable tokenizer ({error})") from error
    return tokenizer


def _open_session(folder: ModelFolder, threads: int) -> onnxruntime.InferenceSession:
    """The model, checked to have the documented inputs and width.

    Between the steps of one call threads wait actively for 0.1 ms (2.6 ms a query, 3.5 ms
    without), and stop with the call: left to spin on, they slow the search that follows
    down from 6 ms to 14 ms. Waiting longer hurts when the machine is busy.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.add_session_config_entry("session.intra_op.spin_duration_us", "100")
    try:
        session = onnxruntime.InferenceSession(
            str(folder.model), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's errors share no other base class
        raise EncoderError(f"onnxruntime cannot open {folder.model} ({error})") from error
    inputs = {item.name for item in session.get_inputs()}
    width: Any = session.get_outputs()[0].shape[-1]
    if inputs != {"input_ids", "attention_mask"} or width != folder.spec.width:
        raise EncoderError(
            f"{folder.model} has inputs {sorted(inputs)} and width {width}; it is not the "
            "model its config.json describes: save it again"
        )
    return session
