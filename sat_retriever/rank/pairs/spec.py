"""Describe all settings that decide the scores of a Cross-Encoder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, get_args

from sat_retriever.encoder.spec import Pooling
from sat_retriever.errors import EncoderError

SPECIAL_PIECES = 3  # [CLS] query [SEP] sheet [SEP]
_MIN_LENGTH = 8


@dataclass(frozen=True, slots=True)
class PairSpec:
    """The form of a pair of query and sheet, and of its score; saved beside the weights.

    Attributes:
        backbone: Fingerprint of the untuned backbone, as of an encoder.
        pooling: State that the linear head reads: "cls" the first, "mean" the mean of all.
        max_length: Longest pair in word pieces, including special ones.
        start_id: Word piece before the query, [CLS].
        end_id: Word piece after the query and after the sheet, [SEP].
        pad_id: Word piece of the padding.
        token_types: True if the model reads token types, query 0 and sheet 1.
        lowercase: True if texts are lower-cased before they are split.
        blend: Weight w of the Stage 1 score: a pair's score is logit + w · cosine.
        encoder: Fingerprint of the Sheet Encoder whose cosines w was chosen with.
        serialization: Fingerprint of the sheet texts that it was trained on.
        dense_weight: Share of the cosine in the score that ranked its candidates.
        candidates: Candidates per query that w was chosen with, the paper's K.

    Raises:
        EncoderError: If a value is unknown or out of its range.
    """

    backbone: str
    pooling: Pooling
    max_length: int
    start_id: int
    end_id: int
    pad_id: int
    token_types: bool
    lowercase: bool
    blend: float
    encoder: str
    serialization: str
    dense_weight: float
    candidates: int

    def __post_init__(self) -> None:
        if self.pooling not in get_args(Pooling):
            raise EncoderError(f"unknown pooling {self.pooling!r}; 'cls' and 'mean' are supported")
        if self.max_length < _MIN_LENGTH:
            raise EncoderError(f"max_length is {self.max_length}; give {_MIN_LENGTH} or more")
        if not 0 <= self.dense_weight <= 1:
            raise EncoderError(f"dense_weight is {self.dense_weight}; give a share from 0 to 1")
        if not 0 <= self.blend < math.inf:
            raise EncoderError(f"blend is {self.blend}; give a weight of 0 or more")

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PairSpec:
        """Read a spec from the output of `to_dict`.

        Raises:
            EncoderError: If a field is missing, unknown or of another type.
        """
        names = {field.name for field in fields(cls)}
        if set(values) != names:
            wrong = ", ".join(sorted(names ^ set(values)))
            raise EncoderError(
                f"the Cross-Encoder's config.json has other fields than this version reads "
                f"({wrong}); upgrade sat-retriever or train again"
            )
        try:
            return cls(**values)
        except TypeError as error:
            raise EncoderError(f"the Cross-Encoder's config.json is damaged ({error})") from error
