"""Read and write the settings of an index: how its records became texts and tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sat_retriever.encoder import EmbeddingEncoder, SheetEncoder
from sat_retriever.encoder.probe import packed
from sat_retriever.errors import FingerprintMismatchError, IndexFormatError, InputError
from sat_retriever.index.search.scores import DENSE_WEIGHT
from sat_retriever.index.store.place import Place
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.privacy import Privacy
from sat_retriever.records.tokens import Encoder
from sat_retriever.text.serialize import Serialization


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Settings of an index, as stored in its file.

    Attributes:
        encoder: Name or folder of the encoder of its tokens.
        fingerprint: Fingerprint of that encoder.
        probe: Tokens of the probe texts by an `EmbeddingEncoder`, packed; None for others.
        width: Token width d.
        dense_weight: Share of the cosine in its scores, in [0, 1].
        serialization: The form of a record's text.
        privacy: What the index keeps of the cells.
        reranker: Folder of the trained reranker for its tokens; None without one.
        home: Folder of the index file when `encoder` and `reranker` were recorded.
    """

    encoder: str
    fingerprint: str
    probe: str | None
    width: int
    dense_weight: float
    serialization: Serialization
    privacy: Privacy
    reranker: str | None
    home: str | None

    @classmethod
    def from_meta(cls, meta: Mapping[str, str], path: Place) -> IndexSettings:
        """Read settings from the notes of a store.

        Args:
            meta: Notes by key.
            path: Place of the index, for error messages.

        Raises:
            IndexFormatError: If a note is missing or damaged.
            FingerprintMismatchError: If records become other texts in this version.
        """
        try:
            settings = cls(
                encoder=meta["encoder"],
                fingerprint=meta["fingerprint"],
                probe=meta.get("probe"),
                width=int(meta["width"]),
                dense_weight=float(meta.get("dense_weight", DENSE_WEIGHT)),
                serialization=Serialization.from_dict(json.loads(meta["serialization"])),
                privacy=_privacy(meta),
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
                "index the folders anew into another file: sat index FOLDER --index ANOTHER.sat"
            )
        return settings

    def located(self, name: str, path: Place) -> str:
        """Return the current place of a named encoder or reranker.

        A folder that was moved together with the index file is found beside it.

        Args:
            name: `encoder` or `reranker`.
            path: The index file.
        """
        if self.home is None or not isinstance(path, Path):
            return name
        if not Path(name).is_relative_to(self.home) or Path(name).exists():
            return name
        moved = path.resolve().parent / Path(name).relative_to(self.home)
        return str(moved) if moved.exists() else name


def new_notes(
    encoder: Encoder,
    dense_weight: float | None,
    serialization: Serialization,
    path: Place,
    privacy: Privacy,
) -> dict[str, str]:
    """Return the notes for a new index file; `IndexSettings.from_meta` reads them.

    Args:
        encoder: Encoder of its tokens.
        dense_weight: See `encoder_notes`.
        serialization: The form of a record's text.
        path: Place of the index.
        privacy: What the file keeps of cells.

    Raises:
        InputError: If `dense_weight` is out of its range.
    """
    about = encoder_notes(encoder, dense_weight) | home_note(path)
    return {
        **{key: value for key, value in about.items() if value is not None},
        "serialization": json.dumps(serialization.to_dict(), sort_keys=True),
        "serialization_fingerprint": serialization.fingerprint,
        "contents": privacy.contents.value,
        "skip_columns": privacy.skip_columns,
    }


def _privacy(meta: Mapping[str, str]) -> Privacy:
    """What an index keeps of cells; one of before contents were kept notes examples alone.

    Raises:
        KeyError: If nothing is noted.
        ValueError: If there is no such level.
    """
    if "contents" not in meta and "examples" in meta:
        return Privacy(
            ContentsPolicy.EXAMPLES if meta["examples"] == "yes" else ContentsPolicy.NAMES
        )
    return Privacy(ContentsPolicy(meta["contents"]), meta["skip_columns"])


def encoder_notes(encoder: Encoder, dense_weight: float | None) -> dict[str, str | None]:
    """Return the notes about the encoder of an index's tokens; None removes a note.

    Args:
        encoder: Encoder of the tokens.
        dense_weight: Share of the cosine in scores; None takes the encoder's own (a fine-tuned one
            may have one). If it has none either, none is noted.

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
        "probe": packed(encoder.probe) if isinstance(encoder, EmbeddingEncoder) else None,
        "width": str(encoder.width),
        "dense_weight": None if dense_weight is None else repr(float(dense_weight)),
    }


def reranker_note(folder: str | Path | None) -> dict[str, str | None]:
    """Return the note about the trained reranker for an index's tokens; None removes it."""
    return {"reranker": None if folder is None else str(Path(folder).resolve())}


def home_note(path: Place) -> dict[str, str | None]:
    """Return the note about the folder of an index file, to find folders moved with it."""
    return {"home": str(path.resolve().parent) if isinstance(path, Path) else None}


def check_dense_weight(dense_weight: float) -> None:
    """Refuse a share of the cosine outside 0 to 1.

    Raises:
        InputError: If it is not between 0 and 1.
    """
    if not 0 <= dense_weight <= 1:
        raise InputError(f"dense_weight is {dense_weight}; give a share between 0 and 1")
