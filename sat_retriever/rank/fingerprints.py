"""A trained model held against an index: refused when it was trained on other tokens or texts."""

from __future__ import annotations

from pathlib import Path

from sat_retriever.errors import FingerprintMismatchError
from sat_retriever.index.index import SheetIndex


def check_trained_on(
    index: SheetIndex, folder: Path, training: str, *, encoder: str, serialization: str
) -> None:
    """Refuse a model that was trained on other tokens or other texts than an index has.

    Args:
        index: What it is to be used on.
        folder: Where the model is, to name in the error.
        training: What `sat train` calls its training, to name in the error.
        encoder: Fingerprint of the Sheet Encoder it was trained with.
        serialization: Fingerprint of the sheet texts it was trained on.

    Raises:
        FingerprintMismatchError: If one of the two differs.
    """
    again = f"or train another on this one (sat train {training} --index {index.path})"
    if encoder != index.fingerprint:
        int8 = index.encoder_name.endswith(":int8")
        raise FingerprintMismatchError(
            f"{folder} was trained with tokens of encoder {encoder}, but {index.path} was written "
            f"with {index.encoder_name!r} ({index.fingerprint})"
            f"{', and int8 tokens are not those of fp32' if int8 else ''}: search the index it was "
            "trained on, index the folders anew with the training's encoder "
            f"(sat index FOLDER --index NEW --encoder RUN), {again}"
        )
    own = index.serialization.fingerprint
    if serialization != own:
        raise FingerprintMismatchError(
            f"{folder} was trained on sheet texts of serialization {serialization}, but "
            f"{index.path} has those of {own}: search the index it was trained on, {again}"
        )
