"""Load the encoder of a name, a folder, or an object of a framework."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from sat_retriever.encoder.embedding import BATCH_SIZE, EmbeddingEncoder
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.encoder.sheet import SheetEncoder
from sat_retriever.encoder.spec import Precision
from sat_retriever.encoder.wrapped import (
    LANGCHAIN,
    LLAMA_INDEX,
    EmbeddingModel,
    LangChainEmbeddings,
    LlamaIndexEmbedding,
)
from sat_retriever.errors import EncoderError, InputError
from sat_retriever.llm.served import PREFIXES
from sat_retriever.records.tokens import Encoder

EncoderLike = Encoder | EmbeddingModel | str | Path
"""An encoder, an embedding model of LlamaIndex or LangChain, or a name or folder to load."""


_ahead: dict[tuple[str, Device], Future[SheetEncoder]] = {}


def load_ahead(name: str, device: Device) -> None:
    """Begin to load an encoder in a thread; `load_encoder` waits for it, and raises what it does.

    All modules of this package that it needs are loaded already: two threads must not load them.
    """
    _ahead[name, device] = ThreadPoolExecutor(1).submit(SheetEncoder.load, name, device=device)


def load_encoder(
    name: str | Path,
    *,
    precision: Precision | None = None,
    batch_size: int | None = None,
    device: Device = "auto",
) -> Encoder:
    """Load the encoder of a name or a folder: "ollama:MODEL", "openai:MODEL", or `SheetEncoder`'s.

    `batch_size` is that of requests to a server, which has its own precision and device.

    Raises:
        EncoderError: If it cannot be loaded, or is an object that only its program has.
        InputError: If an option is not one of this kind of encoder.
        MissingExtraError: If an optional package is missing; the message names the command.
    """
    text = str(name)
    if text.startswith(PREFIXES):
        if precision is not None:
            raise InputError(f"the precision of {text!r} is its server's; leave out {precision!r}")
        if device != "auto":
            raise InputError(f"the device of {text!r} is its server's; leave out {device!r}")
        return EmbeddingEncoder.served(text, batch_size=batch_size or BATCH_SIZE)
    if is_embedding(text):
        raise EncoderError(
            f"the encoder {text!r} is an object of the program that made the index, and cannot be "
            "loaded by its name; open the index with it: SheetIndex.open(PATH, encoder=OBJECT)"
        )
    if batch_size is not None:
        raise InputError(
            f"{text!r} encodes each text alone; a batch size is for models of a server, such as "
            "'ollama:bge-m3'"
        )
    if precision is None and (text, device) in _ahead:
        return _ahead.pop((text, device)).result()
    return SheetEncoder.load(name, precision=precision, device=device)


def as_encoder(given: EncoderLike, *, device: Device = "auto") -> Encoder:
    """Return an encoder: as it is, loaded by its name, or made of a framework's object.

    Only one that is loaded by its name takes the device.
    """
    if isinstance(given, (str, Path)):
        return load_encoder(given, device=device)
    if isinstance(given, (LangChainEmbeddings, LlamaIndexEmbedding)) or not hasattr(
        given, "encode_sheets"
    ):
        return EmbeddingEncoder.of(given)
    return given


def is_embedding(name: str) -> bool:
    """True for the name of an `EmbeddingEncoder` in an index.

    >>> is_embedding("ollama:bge-m3"), is_embedding("langchain:Fake"), is_embedding("general:int8")
    (True, True, False)
    """
    return name.startswith((*PREFIXES, LANGCHAIN, LLAMA_INDEX))
