"""All settings that decide an encoder's tokens, with their fingerprint, and a check of texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from sat_retriever.errors import EncoderError, InputError


def check_texts(texts: Sequence[str]) -> None:
    """Refuse anything but a list of strings."""
    if isinstance(texts, str):
        raise InputError("a single string was given; give a list of texts")
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"a text is {type(text).__name__}, not str; give a list of texts")


Pooling = Literal["cls", "mean"]
Precision = Literal["fp32", "int8", "compact"]

# The scheme of each precision; another way of quantising is another encoder.
_SCHEMES = {
    "fp32": "fp32",
    "int8": "dynamic, a scale a column, 7-bit weights",
    "compact": "stored: embeddings a byte and a scale a row, layers in halves; computed in fp32",
}


@dataclass(frozen=True, slots=True)
class EncoderSpec:
    """All settings that decide the tokens of an encoder; equal specs give equal tokens."""

    weights: str  # SHA-256 of the source's safetensors files
    architecture: str  # SHA-256 of the model's configuration, without volatile keys
    tokenizer: str  # SHA-256 of `tokenizer.json`
    pooling: Pooling  # "cls" or "mean"; the pooled vector is then always L2-normalised
    width: int
    max_length: int  # longest text in word pieces, including special ones
    pad_id: int = 0  # word piece of the padding
    lowercase: bool = False
    query_prefix: str = ""
    sheet_prefix: str = ""
    # "fp32", "int8", or "compact": weights stored in bytes and half precision, computed in single
    # precision.
    precision: Precision = "fp32"

    def __post_init__(self) -> None:
        if self.precision not in get_args(Precision):
            raise unknown_precision(self.precision)
        if self.pooling not in get_args(Pooling):
            raise EncoderError(f"unknown pooling {self.pooling!r}; 'cls' and 'mean' are supported")

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over all fields, the same on every machine."""
        identity = {"encoder": 1, "normalize": "l2", "scheme": _SCHEMES[self.precision]}
        text = json.dumps(identity | self.to_dict(), sort_keys=True)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return asdict(self)

    def with_precision(self, precision: Precision) -> EncoderSpec:
        """Return the same encoder in another precision."""
        return replace(self, precision=precision)


def unknown_precision(named: str) -> EncoderError:
    """Return the error for an unknown precision."""
    known = ", ".join(map(repr, get_args(Precision)))
    return EncoderError(f"unknown precision {named!r}; choose one of: {known}")
