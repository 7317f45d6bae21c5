"""Hold the settings of an open index, and the encoder of its tokens."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sat_retriever.encoder import EmbeddingEncoder, SheetEncoder
from sat_retriever.encoder.embedder import ALIKE, Cost, likeness
from sat_retriever.encoder.load import is_embedding, load_encoder
from sat_retriever.encoder.ollama import PREFIX as OLLAMA
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import FingerprintMismatchError, IndexFormatError
from sat_retriever.index.settings import IndexSettings
from sat_retriever.index.store.place import Place
from sat_retriever.records.tokens import Encoder


class IndexState:
    """Settings and encoder, which change together; may be shared between threads.

    Args:
        settings: The settings in the file.
        path: Place of the index.
        encoder: The encoder of its tokens; None loads the one that the settings name, on first
            use.
        device: Device to load it on, unless it runs elsewhere; rerankers are loaded there, too.

    Raises:
        FingerprintMismatchError: If the tokens were made with another encoder.
    """

    def __init__(
        self, settings: IndexSettings, path: Place, encoder: Encoder | None, device: Device
    ) -> None:
        self._lock = threading.Lock()
        self._path = path
        self._settings = settings
        self.device: Device = device
        self._told: Callable[[Cost], None] | None = None
        self._encoder = None if encoder is None else self._checked(encoder)

    @property
    def settings(self) -> IndexSettings:
        """The current settings."""
        return self._settings

    @property
    def path(self) -> Place:
        """Where the index is."""
        return self._path

    @property
    def encoder_name(self) -> str:
        """Name or folder that loads the encoder, found again if it moved with the file."""
        return self._settings.located(self._settings.encoder, self._path)

    @property
    def loaded(self) -> Encoder | None:
        """The encoder, if it is already loaded."""
        with self._lock:
            return self._encoder

    @property
    def is_named(self) -> bool:
        """True if the encoder's name loads it; False for an object that only this program has."""
        name = self._settings.encoder
        if is_embedding(name):
            return name.startswith(OLLAMA)
        encoder = self.loaded
        return encoder is None or isinstance(encoder, SheetEncoder)

    @property
    def encoder(self) -> Encoder:
        """The encoder, loaded on first use.

        Raises:
            EncoderError: If it cannot be loaded.
            FingerprintMismatchError: If its name now loads another encoder.
        """
        with self._lock:
            if self._encoder is None:
                self._encoder = self._checked(self._load())
                self._tell(self._told)
            return self._encoder

    @property
    def cost(self) -> Cost | None:
        """The work of the encoder so far; None if it is not loaded, or does not count."""
        encoder = self.loaded
        return encoder.cost if isinstance(encoder, EmbeddingEncoder) else None

    @contextmanager
    def telling(self, told: Callable[[Cost], None] | None) -> Iterator[None]:
        """Tell the work of the encoder so far after each request, until the block ends."""
        if told is None:  # a listener of the encoder's own stays
            yield
            return
        with self._lock:
            self._told = told
            self._tell(told)
        try:
            yield
        finally:
            with self._lock:
                self._told = None
                self._tell(None)

    def replace(self, settings: IndexSettings, encoder: Encoder | None = None) -> None:
        """Take over settings that were just written to the file.

        Args:
            settings: The settings from now on.
            encoder: The encoder of new tokens; None if the tokens are the same.
        """
        with self._lock:
            self._settings = settings
            self._encoder = encoder or self._encoder

    def _load(self) -> Encoder:
        """Return the encoder of the settings; a model that runs elsewhere takes no device."""
        name = self.encoder_name
        return load_encoder(name, device="auto" if is_embedding(name) else self.device)

    def _tell(self, told: Callable[[Cost], None] | None) -> None:
        if isinstance(self._encoder, EmbeddingEncoder):
            self._encoder.tell(told)

    def _checked(self, encoder: Encoder) -> Encoder:
        settings = self._settings
        before, now = settings.fingerprint, encoder.fingerprint
        if now == before:
            self._check_probe(encoder)
            return encoder
        if encoder.name == settings.encoder:
            raise FingerprintMismatchError(
                f"{self._path} was written with another {encoder.name!r} ({before}) than there is "
                f"now ({now}): bring that one back, or {self._conversion(encoder)}"
            )
        raise FingerprintMismatchError(
            f"{self._path} was written with encoder {settings.encoder!r} ({before}), not "
            f"{encoder.name!r} ({now}): open it with that encoder, or {self._conversion(encoder)}"
        )

    def _conversion(self, encoder: Encoder) -> str:
        """Return what gives the index tokens of an encoder, as the end of a sentence."""
        command = ["sat", "reencode", "--index", str(self._path), "--encoder", encoder.name]
        return f"give its sheets tokens of this one: {shlex.join(command)}"

    def _check_probe(self, encoder: Encoder) -> None:
        """Refuse a model of the same name and digest that gives other vectors."""
        stored = self._settings.probe
        if stored is None or not isinstance(encoder, EmbeddingEncoder):
            return
        try:
            found = likeness(stored, encoder.probe)
        except ValueError as error:
            raise IndexFormatError(
                f"the probe of the encoder in {self._path} is damaged ({error}): index the "
                "folders anew into another file"
            ) from error
        if not found >= ALIKE:
            raise FingerprintMismatchError(
                f"{encoder.name!r} gives other vectors than when {self._path} was written (cosine "
                f"{found:.3f} for the same text, not {ALIKE} or more): bring that model back, or "
                f"{self._conversion(encoder)}"
            )
