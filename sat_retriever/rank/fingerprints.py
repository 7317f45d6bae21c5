"""Check that a trained model fits an index: the same tokens and the same sheet texts."""

from __future__ import annotations

from pathlib import Path

from sat_retriever.errors import FingerprintMismatchError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.kind import TrainedOn


def check_trained_on(index: SheetIndex, folder: Path, command: str | None, on: TrainedOn) -> None:
    """Refuse a model that was trained on other tokens or other texts than an index has.

    Args:
        index: The index whose sheets the model ranks.
        folder: Folder of the model, for the error message.
        command: The command that trains one, for the error message; None if there is none.
        on: The tokens and texts that it was trained on.

    Raises:
        FingerprintMismatchError: If one of the two differs.
    """
    again = "or search with the reranker 'links'"
    if command is not None:
        again = f"or train another on this one ({command} --index {index.path})"
    if on.encoder != index.fingerprint:
        int8 = index.encoder_name.endswith(":int8")
        raise FingerprintMismatchError(
            f"{folder} was trained with tokens of encoder {on.encoder}, but {index.path} was "
            f"written with {index.encoder_name!r} ({index.fingerprint})"
            f"{', and int8 tokens are not those of fp32' if int8 else ''}: search the index it was "
            "trained on, index the folders anew with the training's encoder "
            f"(sat index FOLDER --index NEW --encoder RUN), {again}"
        )
    own = index.serialization.fingerprint
    if on.serialization != own:
        raise FingerprintMismatchError(
            f"{folder} was trained on sheet texts of serialization {on.serialization}, but "
            f"{index.path} has those of {own}: search the index it was trained on, {again}"
        )
