"""What an index notes about itself: how its records became texts and tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import FingerprintMismatchError, IndexFormatError, InputError
from sat_retriever.index.scores import DENSE_WEIGHT
from sat_retriever.records.tokens import Encoder
from sat_retriever.text.serialize import Serialization


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Settings of an index, as its file has them.

    Attributes:
        encoder: Name or folder of the encoder of its tokens.
        fingerprint: Fingerprint of that encoder.
        width: Token width d.
        dense_weight: Share of the cosine in its scores, in [0, 1].
        serialization: How a record becomes text.
        examples: False if the index keeps no cell values.
        reranker: Folder of the trained reranker for its tokens; None without one.
        home: Folder of the index file when `encoder` and `reranker` were noted.
    """

    encoder: str
    fingerprint: str
    width: int
    dense_weight: float
    serialization: Serialization
    examples: bool
    reranker: str | None
    home: str | None

    @classmethod
    def from_meta(cls, meta: Mapping[str, str], path: Path) -> IndexSettings:
        """Settings from what a store notes.

        Args:
            meta: Notes by key.
            path: The index file, which an error names.

        Raises:
            IndexFormatError: If a note is missing or damaged.
            FingerprintMismatchError: If records become texts in another way by now.
        """
        try:
            settings = cls(
                encoder=meta["encoder"],
                fingerprint=meta["fingerprint"],
                width=int(meta["width"]),
                dense_weight=float(meta.get("dense_weight", DENSE_WEIGHT)),
                serialization=Serialization.from_dict(json.loads(meta["serialization"])),
                examples=meta["examples"] == "yes",
                reranker=meta.get("reranker"),
                home=meta.get("home"),
            )
            texts = meta["serialization_fingerprint"]
        except (KeyError, ValueError, TypeError) as error:
            raise IndexFormatError(
                f"the settings in {path} are damaged ({error}): index the folders anew into "
                "another file"
            ) from error
        if settings.serialization.fingerprint != texts:
            raise FingerprintMismatchError(
                f"{path} was written by a version that turned records into other texts: "
                "index the folders anew into another file"
            )
        return settings

    def located(self, name: str, path: Path) -> str:
        """Where a named encoder or reranker is now.

        A folder that was moved along with the index file is found beside it.

        Args:
            name: `encoder` or `reranker`.
            path: The index file.
        """
        if self.home is None or not Path(name).is_relative_to(self.home) or Path(name).exists():
            return name
        moved = path.resolve().parent / Path(name).relative_to(self.home)
        return str(moved) if moved.exists() else name


def new_notes(
    encoder: Encoder,
    dense_weight: float | None,
    serialization: Serialization,
    path: Path,
    *,
    examples: bool,
) -> dict[str, str]:
    """Notes for a new index file; `IndexSettings.from_meta` reads them.

    Args:
        encoder: Makes its tokens.
        dense_weight: See `encoder_notes`.
        serialization: How a record becomes text.
        path: The index file.
        examples: False keeps cell values out of the file.

    Raises:
        InputError: If `dense_weight` is out of its range.
    """
    about = encoder_notes(encoder, dense_weight) | home_note(path)
    return {
        **{key: value for key, value in about.items() if value is not None},
        "serialization": json.dumps(serialization.to_dict(), sort_keys=True),
        "serialization_fingerprint": serialization.fingerprint,
        "examples": "yes" if examples else "no",
    }


def encoder_notes(encoder: Encoder, dense_weight: float | None) -> dict[str, str | None]:
    """Notes about the encoder of an index's tokens; a value of None stands for no note.

    Args:
        encoder: Makes the tokens.
        dense_weight: Share of the cosine in scores; None takes the encoder's own (a fine-tuned
            one can bring it). Without that either, none is noted.

    Raises:
        InputError: If `dense_weight` is out of its range.
    """
    if dense_weight is None:
        dense_weight = encoder.dense_weight if isinstance(encoder, SheetEncoder) else None
    if dense_weight is not None:
        check_dense_weight(dense_weight)
    return {
        "encoder": encoder.name,
        "fingerprint": encoder.fingerprint,
        "width": str(encoder.width),
        "dense_weight": None if dense_weight is None else repr(float(dense_weight)),
    }


def reranker_note(folder: str | Path | None) -> dict[str, str | None]:
    """Note about the trained reranker for an index's tokens; None forgets it."""
    return {"reranker": None if folder is None else str(Path(folder).resolve())}


def home_note(path: Path) -> dict[str, str | None]:
    """Note about the folder of an index file, to find what is moved along with it."""
    return {"home": str(path.resolve().parent)}


def check_dense_weight(dense_weight: float) -> None:
    """Refuse a share of the cosine that is no share.

    Raises:
        InputError: If it is not between 0 and 1.
    """
    if not 0 <= dense_weight <= 1:
        raise InputError(f"dense_weight is {dense_weight}; give a share between 0 and 1")
