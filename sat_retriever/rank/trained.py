"""Keep trained rerankers in folders: their kinds, and what they were trained on."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sat_retriever.encoder.models.folder import (
    Writers,
    read_config,
    read_folder,
    reading,
    write_folder,
)
from sat_retriever.errors import EncoderError, FingerprintMismatchError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.reranker import Reranker


class TrainedOn(Protocol):
    """What a model was trained on: part of its spec, a dataclass that its folder keeps."""

    @property
    def encoder(self) -> str:
        """Fingerprint of the Sheet Encoder whose tokens or cosines it read."""
        ...

    @property
    def serialization(self) -> str:
        """Fingerprint of the sheet texts."""
        ...


Spec = TypeVar("Spec")
RERANKER = "reranker"  # folder of the reranker in the run of its training


@dataclass(frozen=True, slots=True)
class TrainedKind:
    """A reranker in a folder."""

    name: str  # of its training: `sat train reranker --kind NAME`
    label: str  # name of its row in a table
    format: str  # `format` in the `config.json` of its folder
    spec: type[Any]  # dataclass of its description; a `TrainedOn`
    load: Callable[[SheetIndex, Path], Reranker]
    carries: bool  # it may rank for an encoder that was trained further from its own

    @property
    def command(self) -> str:
        """The command that trains one."""
        return f"sat train reranker --kind {self.name}"

    def trained_on(self, folder: Path) -> TrainedOn:
        """Return the checked description of the model in a folder; loads no model."""
        found: TrainedOn = read_spec(folder, self.format, self.spec)
        return found

    def write(self, target: Path, spec: Any, files: Writers) -> None:
        """Write a folder that `load` reads; after a failure the old one is unchanged."""
        write_folder(target, self.format, asdict(spec), files)

    def copy(self, source: Path, target: Path, *, encoder: str | None = None) -> None:
        """Copy a folder, for the model's own encoder or for one trained further from it.

        `encoder` is the fingerprint of the encoder whose tokens the copy will order; None keeps
        its own. The caller must measure how well it orders them.
        """
        spec = read_spec(source, self.format, self.spec)
        spec = spec if encoder is None else replace(spec, encoder=encoder)
        names = read_config(source, self.format)["files"]
        files = {name: partial(shutil.copyfile, source / name) for name in names}
        self.write(target, spec, files)


def read_spec(folder: Path, kind: str, spec: type[Spec]) -> Spec:
    """Return the spec of a reranker's folder after checking its format, fingerprint and hashes."""
    values = read_folder(folder, kind)
    try:
        with reading(folder, kind):
            return spec_of(values, spec)
    except InputError as error:
        raise EncoderError(f"the reranker in {folder} cannot be used: {error}") from error


def spec_of(values: Mapping[str, Any], spec: type[Spec]) -> Spec:
    """Return a spec from JSON values, whose lists are tuples; an InputError if they do not fit."""
    wrong = sorted({field.name for field in fields(spec)} ^ set(values))  # type: ignore[arg-type]
    if wrong:
        raise InputError(
            f"its config.json has other fields than this version reads ({', '.join(wrong)}); "
            "upgrade sat-retriever or train it again"
        )
    return spec(
        **{name: tuple(each) if isinstance(each, list) else each for name, each in values.items()}
    )


def check_trained_on(index: SheetIndex, folder: Path, command: str, on: TrainedOn) -> None:
    """Refuse a model that was trained on other tokens or other texts than an index has."""
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
