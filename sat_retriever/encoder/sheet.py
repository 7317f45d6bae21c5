"""Turn texts into tokens: the Sheet Encoder."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

import numpy as np

from sat_retriever.encoder.cache import cached_model
from sat_retriever.encoder.folder import (
    ModelFolder,
    is_model_folder,
    read_model_folder,
    write_model_folder,
)
from sat_retriever.encoder.model import OnnxModel
from sat_retriever.encoder.models.folder import is_packaged, packaged_model
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.encoder.onnx.session import usable_threads
from sat_retriever.encoder.source import DEFAULT, MINILM
from sat_retriever.encoder.spec import EncoderSpec, Precision, check_texts, unknown_precision
from sat_retriever.errors import EncoderError
from sat_retriever.records.progress import Progress
from sat_retriever.records.tokens import FloatArray

# One text gains little from more threads.
_THREADS_PER_TEXT = 4
# Texts given to the processors at a time; limits the rest to wait for after an interrupt.
_GROUP_TEXTS = 1024
# Number of texts from which a second session, with one core per text, pays off.
_MANY_TEXTS = 64
_SUFFIXES: Mapping[str, Precision] = {":int8": "int8", ":compact": "compact"}  # of names


class SheetEncoder:
    """A bi-encoder for sheets and queries, ready to run; may be shared between threads.

    Source: paper, section 3.3 (Sheet Encoder). Departs: any sentence-transformers model with CLS or
    mean pooling can replace `BAAI/bge-base-en-v1.5`; tokens are L2-normalised even if the source
    folder does not ask for it.
    """

    def __init__(
        self, model: OnnxModel, *, name: str, threads: int = 1, single: OnnxModel | None = None
    ) -> None:
        """Take finished parts; use `load` to get them."""
        self._model = model
        self._name = name
        self._threads = threads
        self._lock = threading.Lock()
        self._single = single

    @classmethod
    def load(
        cls,
        name_or_dir: str | Path = DEFAULT,
        *,
        precision: Precision | None = None,
        threads: int | None = None,
        device: Device = "auto",
        cache_dir: str | Path | None = None,
    ) -> SheetEncoder:
        """Load the encoder of a name or a folder.

        A source model is exported to ONNX the first time, which needs torch, and kept in the cache
        folder for all processes.

        Args:
            name_or_dir: "general" (the default: trained on sheets, part of this package, needs
                neither torch nor network), "minilm" (its base model, embedded in another package),
                a folder written by `save`, a sentence-transformers folder, or a hub name such as
                "BAAI/bge-base-en-v1.5". An existing folder has priority over a hub name. `name`
                adds the suffixes ":int8" and ":compact" to a source in these precisions.
            precision: "fp32", "int8" or "compact"; None takes that of a saved folder, and fp32 for
                a source. int8 is about twice as fast and changes some rankings; compact takes two
                fifths of the space and changes almost none.
            threads: Processor cores to use, at least 1; None takes all available ones.
            device: "cuda" (needs the extra `gpu`), "cpu", or "auto": CUDA where it can be used.
                int8 runs on the processor only.
            cache_dir: Folder for exported models; None takes the user's cache folder.

        Raises:
            EncoderError: If the encoder cannot be found, fetched, exported or opened.
            MissingExtraError: If an optional package is missing; the message names the command.
            InputError: If `threads` is below 1, or the device is unknown.
        """
        cores = usable_threads(threads)
        name, precision = _split_name(str(name_or_dir), precision)
        named = name == MINILM or is_packaged(name)
        if not named and Path(name).is_dir():
            name = str(Path(name).resolve())
        if is_packaged(name):
            folder = packaged_model(name, "encoder", read_model_folder)
            _check_precision(folder, precision, name)
        elif not named and is_model_folder(Path(name)):
            folder = read_model_folder(Path(name))
            _check_precision(folder, precision, name)
        else:
            if cache_dir is None:
                from platformdirs import user_cache_path

                cache = user_cache_path("sat-retriever") / "encoders"
            else:
                cache = Path(cache_dir).resolve()
            folder = cached_model(name, precision or "fp32", cache)
            own = folder.spec.precision
            name += f":{own}" if f":{own}" in _SUFFIXES else ""
        # A text in int8 is fastest on one core.
        per_text = 1 if folder.spec.precision == "int8" else min(cores, _THREADS_PER_TEXT)
        model = OnnxModel.open(folder, per_text, _device_for(folder.spec.precision, device))
        return cls(model, name=name, threads=cores, single=model if per_text == 1 else None)

    @property
    def spec(self) -> EncoderSpec:
        """All settings that decide a token: weights, tokenizer, pooling, prefixes, precision."""
        return self._model.folder.spec

    @property
    def fingerprint(self) -> str:
        """Identity of weights, tokenizer, pooling, prefixes and precision: 16 hex digits."""
        return self._model.folder.spec.fingerprint

    @property
    def name(self) -> str:
        """Name or folder from which `load` makes the same encoder."""
        return self._name

    @property
    def width(self) -> int:
        """Token width d."""
        return self._model.folder.spec.width

    @property
    def dense_weight(self) -> float | None:
        """Share of its cosine in the fused score that was chosen for it; None if none was."""
        return self._model.folder.dense_weight

    def save(self, folder: str | Path, *, dense_weight: float | None = None) -> None:
        """Write the encoder to a folder that `load` reads without torch.

        The folder appears complete or not at all; an existing saved encoder is replaced.

        Args:
            folder: The folder.
            dense_weight: The saved encoder's `dense_weight`; None keeps this one's.

        Raises:
            EncoderError: If it cannot be written, or something else is at that path.
        """
        source = self._model.folder
        weight = self.dense_weight if dense_weight is None else dense_weight

        def copy(target: Path) -> None:
            shutil.copyfile(source.model, target)

        write_model_folder(
            Path(folder).resolve(),
            source.spec,
            source.tokenizer,
            copy,
            dense_weight=weight,
            transformer=source.transformer,
        )

    def encode_sheets(
        self, texts: Sequence[str], *, progress: Progress | None = None
    ) -> FloatArray:
        """Return tokens of sheet texts, (n, d) float32, rows of unit length, in input order.

        Args:
            texts: The n serialized sheets; an empty list gives (0, d).
            progress: Called with (texts done, n) after each text, from this thread.

        Raises:
            InputError: If `texts` is a single string or holds anything but strings.
        """
        return self._encode(texts, self.spec.sheet_prefix, progress)

    def each_sheet(self, texts: Sequence[str]) -> Iterator[FloatArray]:
        """Yield the tokens of `encode_sheets`, (d,) each, as soon as they are ready.

        Raises:
            InputError: If `texts` is a single string or holds anything but strings.
        """
        check_texts(texts)
        yield from self._run([self.spec.sheet_prefix + text for text in texts])

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return tokens of queries, (n, d) float32, rows of unit length, in input order.

        Raises:
            InputError: If `texts` is a single string or holds anything but strings.
        """
        return self._encode(texts, self.spec.query_prefix, None)

    def encode_together(self, queries: Sequence[str]) -> FloatArray:
        """Return tokens of queries, (n, d) float32, computed in batches on one core.

        The weights are read once a batch, not once a query, which halves the time where other work
        has taken the processor's cache meanwhile. A token differs from that of `encode_queries` by
        1e-7 at most. int8 scales its numbers by those of the whole batch, so there each query
        is encoded alone.

        Raises:
            InputError: If `queries` is a single string or holds anything but strings.
        """
        if self.spec.precision == "int8":
            return self.encode_queries(queries)
        check_texts(queries)
        model = self._model if self._model.on_gpu else self._single_core()
        return model.tokens([self.spec.query_prefix + query for query in queries])

    def _encode(self, texts: Sequence[str], prefix: str, progress: Progress | None) -> FloatArray:
        """Return the tokens of the texts, each computed alone.

        In a padded batch the last bits of a token depend on the other texts. Alone, a text always
        has the same token, on any number of threads. This costs nothing: as many texts as there are
        cores run in parallel, without padding. A GPU is faster with batches, and uses them.
        """
        check_texts(texts)
        tokens = np.empty((len(texts), self.width), dtype=np.float32)
        for row, token in enumerate(self._run([prefix + text for text in texts])):
            tokens[row] = token
            if progress:
                progress(row + 1, len(texts))
        return tokens

    def _run(self, texts: Sequence[str]) -> Iterator[FloatArray]:
        if self._model.on_gpu:
            for start in range(0, len(texts), _GROUP_TEXTS):
                yield from self._model.tokens(texts[start : start + _GROUP_TEXTS])
            return
        if self._threads == 1 or len(texts) < _MANY_TEXTS:
            yield from map(self._model.token, texts)
            return
        single = self._single_core()
        with ThreadPoolExecutor(self._threads) as pool:
            for start in range(0, len(texts), _GROUP_TEXTS):
                yield from pool.map(single.token, texts[start : start + _GROUP_TEXTS])

    def _single_core(self) -> OnnxModel:
        with self._lock:
            if self._single is None:
                self._single = OnnxModel.open(self._model.folder, 1, "cpu")
            return self._single


def _split_name(name: str, precision: Precision | None) -> tuple[str, Precision | None]:
    if precision is not None and precision not in get_args(Precision):
        raise unknown_precision(precision)
    for suffix, own in _SUFFIXES.items():
        if name.endswith(suffix):
            if precision not in (None, own):
                raise EncoderError(
                    f"{name!r} names {_a(own)} encoder, but precision={precision!r} was given"
                )
            return name.removesuffix(suffix), own
    return name, precision


def _check_precision(folder: ModelFolder, precision: Precision | None, name: str) -> None:
    own = folder.spec.precision
    if precision in (None, own):
        return
    other = "load the model it was saved from"
    if is_packaged(name):
        other = "name another encoder, such as 'minilm'"
    raise EncoderError(
        f"{name} holds {_a(own)} encoder, but precision={precision!r} was given; {other}, or "
        "leave the precision out"
    )


def _device_for(precision: Precision, device: Device) -> Device:
    """Return the device to ask for; int8 has no kernels on CUDA."""
    if precision == "int8" and device == "cuda":
        raise EncoderError(
            "an int8 encoder runs on the processor only; load it in fp32, or choose device 'cpu'"
        )
    return "cpu" if precision == "int8" and device == "auto" else device


def _a(precision: Precision) -> str:
    return f"{'a' if precision == 'compact' else 'an'} {precision}"
