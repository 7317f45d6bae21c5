"""Load the encoder of an index file beside the modules that open the index."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sat_retriever.encoder.load import load_ahead
from sat_retriever.encoder.models.folder import is_packaged
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.index.store.place import Place


def load_encoder_ahead(place: Place, device: Device) -> None:
    """Begin to load the encoder that an index will ask for, if it is one of this package.

    Whatever is wrong with the file is found, and told, when the index is opened.
    """
    if not isinstance(place, Path):
        return
    try:
        with closing(sqlite3.connect(f"{place.resolve().as_uri()}?mode=ro", uri=True)) as file:
            noted = file.execute("SELECT value FROM meta WHERE key = 'encoder'").fetchone()
    except (sqlite3.Error, OSError):
        return
    if noted and is_packaged(noted[0]):
        load_ahead(noted[0], device)
