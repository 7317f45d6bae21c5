"""Rerank with a Cross-Encoder: it reads query and sheet together, one logit per pair.

Its folder holds `config.json`, `tokenizer.json` and `model.onnx`. It runs on onnxruntime and
tokenizers alone.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import NDArray

from sat_retriever.encoder.model import open_tokenizer
from sat_retriever.encoder.models.folder import write_folder
from sat_retriever.encoder.onnx.device import Device, runs_on_gpu
from sat_retriever.encoder.onnx.session import (
    input_shapes,
    limits_on,
    open_session,
    output_shape,
    run_session,
    similar_lengths,
    usable_threads,
)
from sat_retriever.encoder.spec import Pooling, check_texts
from sat_retriever.errors import EncoderError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.candidates import CandidateSet
from sat_retriever.index.search.fusion import probabilities
from sat_retriever.rank.reranker import Reranker, rescored
from sat_retriever.rank.trained import TrainedKind, check_trained_on, read_spec
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.serialize import serialize

if TYPE_CHECKING:
    import onnxruntime
    from tokenizers import Tokenizer

SPECIAL_PIECES = 3  # [CLS] query [SEP] sheet [SEP]
_MIN_LENGTH = 8


@dataclass(frozen=True, slots=True)
class PairSpec:
    """The form of a pair of query and sheet, and of its score; saved beside the weights."""

    backbone: str  # fingerprint of the untuned backbone, as of an encoder
    pooling: Pooling  # state that the linear head reads: "cls" the first, "mean" the mean of all
    max_length: int  # longest pair in word pieces, including special ones
    start_id: int  # word piece before the query, [CLS]
    end_id: int  # word piece after the query and after the sheet, [SEP]
    pad_id: int
    token_types: bool  # True if the model reads token types, query 0 and sheet 1
    lowercase: bool
    blend: float  # weight w of the Stage 1 score: a pair's score is logit + w · cosine
    encoder: str  # fingerprint of the Sheet Encoder whose cosines w was chosen with
    serialization: str  # fingerprint of the sheet texts that it was trained on
    dense_weight: float  # share of the cosine in the score that ranked its candidates
    candidates: int  # candidates per query that w was chosen with, the paper's K

    def __post_init__(self) -> None:
        if self.pooling not in get_args(Pooling):
            raise InputError(f"unknown pooling {self.pooling!r}; 'cls' and 'mean' are supported")
        if self.max_length < _MIN_LENGTH:
            raise InputError(f"max_length is {self.max_length}; give {_MIN_LENGTH} or more")
        if not 0 <= self.dense_weight <= 1:
            raise InputError(f"dense_weight is {self.dense_weight}; give a share from 0 to 1")
        if not 0 <= self.blend < math.inf:
            raise InputError(f"blend is {self.blend}; give a weight of 0 or more")


FORMAT = "sat-cross-encoder"
MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"


def write_pair_folder(
    target: Path, spec: PairSpec, tokenizer: Path, write_model: Callable[[Path], None]
) -> None:
    """Write a folder that `CrossEncoder.load` reads; after a failure the old one is unchanged."""

    def copy(draft: Path) -> None:
        shutil.copyfile(tokenizer, draft)

    write_folder(target, FORMAT, asdict(spec), {TOKENIZER: copy, MODEL: write_model})


Pieces = tuple[int, ...]
Inputs = Mapping[str, NDArray[np.int64]]

_CACHED_TEXTS = 5_000  # sheets whose pieces are kept: 11 MB at 60 a text
_QUERY_SHARE = 0.75  # of a pair; a longer query is cut, to leave room for the sheet


@dataclass(frozen=True, slots=True)
class Pair:
    """The word pieces of a query and a sheet, cut, before padding."""

    query: Pieces
    sheet: Pieces

    def __len__(self) -> int:
        return len(self.query) + len(self.sheet) + SPECIAL_PIECES


class PairPieces:
    """A tokenizer from texts to padded pairs; may be shared between threads.

    Source: paper, appendix (Cross-Encoder). Departs: models with another form of pairs (RoBERTa's)
    also get `[CLS] query [SEP] sheet [SEP]`.
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
        """Open a `tokenizer.json`; an EncoderError if it puts other pieces around a text."""
        return cls(open_tokenizer(file), max_length, pad_id, lowercase=lowercase)

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


_INPUTS = ("input_ids", "attention_mask")
_MOST_THREADS = 4  # one batch gains little from more


class CrossEncoder:
    """A model that reads a query and a sheet together; may be shared between threads.

    Source: paper, appendix (Cross-Encoder). Departs: a mean-pooled backbone keeps its pooling;
    the paper's BGE has a CLS state.
    """

    def __init__(
        self,
        folder: Path,
        spec: PairSpec,
        pieces: PairPieces,
        session: onnxruntime.InferenceSession,
    ) -> None:
        self.folder = folder
        self.spec = spec
        self._pieces = pieces
        self._session = session

    @classmethod
    def load(
        cls, folder: str | Path, *, threads: int | None = None, device: Device = "auto"
    ) -> CrossEncoder:
        """Load the model in a folder that training wrote; see `GraphReranker.load`."""
        cores, folder = usable_threads(threads, _MOST_THREADS), Path(folder)
        spec = read_spec(folder, FORMAT, PairSpec)
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

        Equal texts have equal logits, whatever the other texts are.

        Raises:
            InputError: If `texts` is a single string.
            EncoderError: If onnxruntime fails, or the result is not finite.
        """
        check_texts(texts)
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
    wanted = {*_INPUTS, *(["token_type_ids"] if spec.token_types else [])}
    found, output = input_shapes(session), output_shape(session)
    if set(found) != wanted or [*map(len, found.values()), len(output)] != [2] * len(found) + [1]:
        raise EncoderError(
            f"{folder / MODEL} has inputs {found} and output {output}; it is not the "
            "model its config.json describes: train it again"
        )


def blended(logits: FloatArray, cosines: FloatArray, weight: float) -> NDArray[np.float64]:
    """Return the scores of pairs, any shape, float64: logit + w · Stage 1 score.

    Source: paper, appendix (Cross-Encoder).

    >>> blended(np.float32([1.0, 0.0]), np.float32([0.5, 0.75]), 10.0).tolist()
    [6.0, 7.5]
    """
    return logits.astype(np.float64) + weight * cosines.astype(np.float64)


class CrossEncoderReranker(Reranker):
    """A reranker by logit + w · cosine; may be shared between threads.

    Raises:
        FingerprintMismatchError: If it was trained on other texts or other cosines than the
            index has.
    """

    complete_share = 0.5  # scores are probabilities: at least half as likely as the best sheet

    def __init__(self, index: SheetIndex, model: CrossEncoder) -> None:
        check_trained_on(index, model.folder, CROSS_ENCODER.command, model.spec)
        self._serialization = index.serialization
        self.model = model
        self.dense_weight = model.spec.dense_weight
        self.trained_candidates = model.spec.candidates

    @classmethod
    def load(
        cls,
        index: SheetIndex,
        folder: str | Path,
        *,
        threads: int | None = None,
        device: Device | None = None,
    ) -> CrossEncoderReranker:
        """Load the reranker in a folder that training wrote; see `GraphReranker.load`."""
        model = CrossEncoder.load(folder, threads=threads, device=device or index.device)
        return cls(index, model)

    def rerank(self, found: CandidateSet) -> list[Candidate]:
        """Return the same sheets with new scores and ranks, best first.

        The score is the sigmoid of logit + w · (cosine - 1), in [0, 1]. Subtracting w changes no
        order and separates scores that would otherwise all be close to 1. Periods that the query
        names hold it back by the same share as Stage 1's score. Exact values decide the order.
        Sheets that were removed from the index since are left out.
        """
        records, query = found.records(), found.question.text
        left = [candidate for candidate in found.candidates if candidate.sheet_id in records]
        texts = [serialize(records[c.sheet_id], self._serialization) for c in left]
        cosines = np.array([candidate.dense for candidate in left], dtype=np.float32)
        scores = blended(self.model.logits(query, texts), cosines, self.model.spec.blend)
        times = np.array([candidate.time for candidate in left], dtype=np.float64)
        shown = probabilities(scores - self.model.spec.blend) * times
        # The logarithm of the shown score still distinguishes values close to 1.
        exact = np.log(times) - np.logaddexp(0.0, self.model.spec.blend - scores.astype(np.float64))
        return rescored(left, exact, shown)


CROSS_ENCODER = TrainedKind(
    "cross-encoder", "Cross-Encoder", FORMAT, PairSpec, CrossEncoderReranker.load, carries=False
)
