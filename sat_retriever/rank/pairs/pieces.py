"""Turn query and sheet into one row of word pieces, the same in training and online."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sat_retriever.errors import EncoderError
from sat_retriever.rank.pairs.spec import SPECIAL_PIECES

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Pieces = tuple[int, ...]
Inputs = Mapping[str, NDArray[np.int64]]

_CACHED_TEXTS = 5_000  # sheets whose pieces are kept: 11 MB at 60 a text
_QUERY_SHARE = 0.75  # of a pair; a longer query is cut, to leave room for the sheet


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair before padding.

    Attributes:
        query: Word pieces of the query, cut.
        sheet: Word pieces of the sheet, cut.
    """

    query: Pieces
    sheet: Pieces

    def __len__(self) -> int:
        return len(self.query) + len(self.sheet) + SPECIAL_PIECES


class PairPieces:
    """A tokenizer from texts to padded pairs; may be shared between threads.

    Source: paper, appendix (Cross-Encoder). Departs: models with another form of pairs (RoBERTa's)
    also get `[CLS] query [SEP] sheet [SEP]`.

    Args:
        tokenizer: A tokenizer without padding and truncation.
        max_length: Longest pair in word pieces, including special ones.
        pad_id: Word piece of the padding.
        lowercase: True lower-cases texts before they are split.
    """

    def __init__(
        self, tokenizer: Tokenizer, max_length: int, pad_id: int, *, lowercase: bool
    ) -> None:
        self._tokenizer = tokenizer
        self._pad_id = pad_id
        self._lowercase = lowercase
        self._room = max_length - SPECIAL_PIECES
        self._split = lru_cache(_CACHED_TEXTS)(self._pieces)
        self.start_id, self.end_id = _special(tokenizer)

    @classmethod
    def open(cls, file: Path, max_length: int, pad_id: int, *, lowercase: bool) -> PairPieces:
        """Open a `tokenizer.json`.

        Raises:
            EncoderError: If the file is not a usable tokenizer.
        """
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(file))
            tokenizer.no_padding()
            tokenizer.no_truncation()
        except Exception as error:  # tokenizers raises nothing more specific
            raise EncoderError(f"{file} is no usable tokenizer ({error})") from error
        return cls(tokenizer, max_length, pad_id, lowercase=lowercase)

    def pairs(self, query: str, sheets: Sequence[str]) -> list[Pair]:
        """Pair one query with each of the sheet texts; the sheet is cut first, then the query."""
        asked = self._split(query)[: int(self._room * _QUERY_SHARE)]
        room = self._room - len(asked)
        return [Pair(asked, self._split(sheet)[:room]) for sheet in sheets]

    def padded(self, pairs: Sequence[Pair]) -> Inputs:
        """Return `input_ids`, `attention_mask` and `token_type_ids` of pairs, each (b, t) int64."""
        shape = (len(pairs), max(map(len, pairs)))
        ids = np.full(shape, self._pad_id, dtype=np.int64)  # (b, t)
        mask = np.zeros(shape, dtype=np.int64)
        types = np.zeros(shape, dtype=np.int64)
        for row, pair in enumerate(pairs):
            first = len(pair.query) + 2  # the sheet begins after [CLS] query [SEP]
            ids[row, : len(pair)] = [
                self.start_id, *pair.query, self.end_id, *pair.sheet, self.end_id,
            ]  # fmt: skip
            mask[row, : len(pair)] = 1
            types[row, first : len(pair)] = 1
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}

    def _pieces(self, text: str) -> Pieces:
        """Return the word pieces of one text without special ones, cut to the room in a pair."""
        # A lone surrogate (from a file name that is no UTF-8) cannot be split.
        text = text.encode("utf-8", "replace").decode("utf-8")
        text = text.lower() if self._lowercase else text
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids[: self._room])


def _special(tokenizer: Tokenizer) -> tuple[int, int]:
    """Return the word pieces that the tokenizer puts before and after a text: [CLS] and [SEP]."""
    ids: list[int] = tokenizer.encode("").ids
    if len(ids) != 2:
        raise EncoderError(
            f"the tokenizer puts {len(ids)} word pieces around a text, not one before and one "
            "behind ([CLS] … [SEP]); choose a backbone of BERT's kind"
        )
    return ids[0], ids[1]
