"""Hold the settings of an open index, and the encoder of its tokens."""

from __future__ import annotations

import threading
from pathlib import Path

from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import FingerprintMismatchError
from sat_retriever.index.settings import IndexSettings
from sat_retriever.onnx.device import Device
from sat_retriever.records.tokens import Encoder


class IndexState:
    """Settings and encoder, which change together; may be shared between threads.

    Args:
        settings: The settings in the file.
        path: The index file.
        encoder: The encoder of its tokens; None loads the one that the settings name, on first
            use.
        device: Device to load it on.

    Raises:
        FingerprintMismatchError: If the tokens were made with another encoder.
    """

    def __init__(
        self, settings: IndexSettings, path: Path, encoder: Encoder | None, device: Device
    ) -> None:
        self._lock = threading.Lock()
        self._path = path
        self._settings = settings
        self.device: Device = device
        self._encoder = None if encoder is None else self._checked(encoder)

    @property
    def settings(self) -> IndexSettings:
        """The current settings."""
        return self._settings

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
    def encoder(self) -> Encoder:
        """The encoder, loaded on first use.

        Raises:
            EncoderError: If it cannot be loaded.
            FingerprintMismatchError: If its name now loads another encoder.
        """
        with self._lock:
            if self._encoder is None:
                self._encoder = self._checked(
                    SheetEncoder.load(self.encoder_name, device=self.device)
                )
            return self._encoder

    def replace(self, settings: IndexSettings, encoder: Encoder | None = None) -> None:
        """Take over settings that were just written to the file.

        Args:
            settings: The settings from now on.
            encoder: The encoder of new tokens; None if the tokens are the same.
        """
        with self._lock:
            self._settings = settings
            self._encoder = encoder or self._encoder

    def _checked(self, encoder: Encoder) -> Encoder:
        settings = self._settings
        if encoder.fingerprint != settings.fingerprint:
            raise FingerprintMismatchError(
                f"{self._path} was written with encoder {settings.encoder!r} "
                f"({settings.fingerprint}), not {encoder.name!r} ({encoder.fingerprint}): "
                "open it with that encoder, or index the folders anew into another file"
            )
        return encoder
