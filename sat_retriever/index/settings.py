"""The settings of an index, and the encoder of its tokens."""

from __future__ import annotations

import json
import shlex
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sat_retriever.encoder import EmbeddingEncoder, SheetEncoder
from sat_retriever.encoder.embedder import ALIKE, Cost, likeness, packed
from sat_retriever.encoder.load import is_embedding, load_encoder
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import FingerprintMismatchError, IndexFormatError, InputError
from sat_retriever.index.search.fusion import DENSE_WEIGHT
from sat_retriever.index.store.place import Place
from sat_retriever.llm.served import PREFIXES
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.privacy import Privacy
from sat_retriever.records.tokens import Encoder, FloatArray
from sat_retriever.stages import Cache, Stage, looked_up, stage
from sat_retriever.text.serialize import Serialization

if TYPE_CHECKING:
    from sat_retriever.index.permissions import ByFunction

_AHEAD = 1_024  # queries encoded ahead that nobody has asked yet


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Settings of an index, as stored in its file."""

    encoder: str
    fingerprint: str
    probe: str | None  # tokens of the probe texts by an `EmbeddingEncoder`, packed; None for others
    width: int
    dense_weight: float  # share of the cosine in its scores, in [0, 1]
    serialization: Serialization
    privacy: Privacy  # what the index keeps of the cells
    reranker: str | None  # folder of the trained reranker for its tokens; None without one
    home: str | None  # folder of the index file when `encoder` and `reranker` were recorded

    @classmethod
    def from_meta(cls, meta: Mapping[str, str], path: Place) -> IndexSettings:
        """Read settings from the notes of the index at a place.

        Raises `IndexFormatError` for a missing or damaged note, `FingerprintMismatchError` if
        records become other texts in this version.
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
        """The current place of a named encoder or reranker, perhaps moved with the index file."""
        return located(name, self.home, path)


def located(name: str, home: str | None, path: Place) -> str:
    """The place of a model that was noted when an index lay in a home; see `IndexSettings`."""
    if home is None or not isinstance(path, Path):
        return name
    if not Path(name).is_relative_to(home) or Path(name).exists():
        return name
    moved = path.resolve().parent / Path(name).relative_to(home)
    return str(moved) if moved.exists() else name


def new_notes(
    encoder: Encoder,
    dense_weight: float | None,
    serialization: Serialization,
    path: Place,
    privacy: Privacy,
) -> dict[str, str]:
    """Notes for a new index, which `from_meta` reads; `InputError` for a wrong `dense_weight`."""
    about = encoder_notes(encoder, dense_weight) | home_note(path)
    return {
        **{key: value for key, value in about.items() if value is not None},
        "serialization": json.dumps(serialization.to_dict(), sort_keys=True),
        "serialization_fingerprint": serialization.fingerprint,
        "contents": privacy.contents.value,
        "skip_columns": privacy.skip_columns,
    }


def _privacy(meta: Mapping[str, str]) -> Privacy:
    """What an index keeps of cells; one of before contents were kept notes examples alone."""
    if "contents" not in meta and "examples" in meta:
        return Privacy(
            ContentsPolicy.EXAMPLES if meta["examples"] == "yes" else ContentsPolicy.NAMES
        )
    return Privacy(ContentsPolicy(meta["contents"]), meta["skip_columns"])


def encoder_notes(encoder: Encoder, dense_weight: float | None) -> dict[str, str | None]:
    """Notes about the encoder of an index's tokens; None removes a note.

    A `dense_weight` of None takes the encoder's own (a fine-tuned one may have one). If it has none
    either, none is noted. One out of its range raises `InputError`.
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
    """The note about the trained reranker for an index's tokens; None removes it."""
    return {"reranker": None if folder is None else str(Path(folder).resolve())}


def home_note(path: Place) -> dict[str, str | None]:
    """The note about the folder of an index file, to find folders moved with it."""
    return {"home": str(path.resolve().parent) if isinstance(path, Path) else None}


def check_dense_weight(dense_weight: float) -> None:
    """Raise `InputError` for a share of the cosine that is not between 0 and 1."""
    if not 0 <= dense_weight <= 1:
        raise InputError(f"dense_weight is {dense_weight}; give a share between 0 and 1")


class IndexState:
    """Settings and encoder of an open index, which change together; threads may share it.

    Without an encoder it loads the one that the settings name, on first use. Encoder and rerankers
    are loaded on the device, unless they run elsewhere. An encoder that has not made the tokens
    raises `FingerprintMismatchError`.
    """

    def __init__(
        self, settings: IndexSettings, path: Place, encoder: Encoder | None, device: Device
    ) -> None:
        self._lock = threading.Lock()
        self._path = path
        self._settings = settings
        self.device: Device = device
        # The function that says who may see a sheet; only the process that gave it has it.
        self.by_function: ByFunction | None = None
        self._progress: Callable[[Cost], None] | None = None
        self._encoder = None if encoder is None else self._checked(encoder)
        self._ahead: OrderedDict[str, tuple[Encoder, FloatArray]] = OrderedDict()

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
            return name.startswith(PREFIXES)
        encoder = self.loaded
        return encoder is None or isinstance(encoder, SheetEncoder)

    @property
    def encoder(self) -> Encoder:
        """The encoder, loaded on first use; see `SheetIndex.encoder`."""
        with self._lock:
            if self._encoder is None:
                self._encoder = self._checked(self._load())
                self._tell(self._progress)
            return self._encoder

    def query_token(self, query: str) -> FloatArray:
        """The token (d,) of a query: that of `encode_ahead`, which is used once, or made now."""
        encoder = self.encoder
        with self._lock:
            by, token = self._ahead.pop(query, (None, None))
        ahead = token is not None and by is encoder
        looked_up(Cache.TOKENS, found=ahead)
        if token is not None and ahead:
            return token
        with stage(Stage.ENCODE):
            made: FloatArray = encoder.encode_queries([query])[0]
        return made

    def encode_ahead(self, queries: Sequence[str]) -> None:
        """Encode together what will be asked in a moment; nothing if the encoder runs elsewhere."""
        encoder = self.encoder
        if isinstance(encoder, SheetEncoder):
            with stage(Stage.ENCODE):
                tokens = encoder.encode_together(queries)
            with self._lock:
                for query, token in zip(queries, tokens, strict=True):
                    self._ahead[query] = (encoder, token)
                while len(self._ahead) > _AHEAD:  # a client may go away before it is answered
                    self._ahead.popitem(last=False)

    @property
    def cost(self) -> Cost | None:
        """The work of the encoder so far; None if it is not loaded, or does not count."""
        encoder = self.loaded
        return encoder.cost if isinstance(encoder, EmbeddingEncoder) else None

    @contextmanager
    def telling(self, progress: Callable[[Cost], None] | None) -> Iterator[None]:
        """Tell the work of the encoder so far after each request, until the block ends."""
        if progress is None:  # a listener of the encoder's own stays
            yield
            return
        with self._lock:
            self._progress = progress
            self._tell(progress)
        try:
            yield
        finally:
            with self._lock:
                self._progress = None
                self._tell(None)

    def replace(self, settings: IndexSettings, encoder: Encoder | None = None) -> None:
        """Take over settings just written; an encoder, if the tokens are new."""
        with self._lock:
            self._settings = settings
            self._encoder = encoder or self._encoder

    def _load(self) -> Encoder:
        """Load the encoder of the settings; a model that runs elsewhere takes no device."""
        name = self.encoder_name
        return load_encoder(name, device="auto" if is_embedding(name) else self.device)

    def _tell(self, progress: Callable[[Cost], None] | None) -> None:
        if isinstance(self._encoder, EmbeddingEncoder):
            self._encoder.tell(progress)

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
        """The command that gives the index tokens of an encoder, as the end of a sentence."""
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
