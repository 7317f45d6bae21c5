"""Load the reranker of an index, by name or by folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from sat_retriever.encoder.models.folder import folder_kind, is_packaged, packaged_model
from sat_retriever.errors import (
    EncoderError,
    FingerprintMismatchError,
    InputError,
    PathNotFoundError,
)
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.links.linkrank import LINKS
from sat_retriever.rank.reranker import Reranker, UntrainedKind
from sat_retriever.rank.trained import RERANKER, TrainedKind, TrainedOn, check_trained_on
from sat_retriever.records.contents import ContentsPolicy

UNTRAINED: tuple[UntrainedKind, ...] = (LINKS,)


def trained_kinds() -> tuple[TrainedKind, ...]:
    """Return the kinds of trained rerankers; loaded here, because most searches use none."""
    from sat_retriever.rank.cross_encoder import CROSS_ENCODER
    from sat_retriever.rank.features.featurerank import FEATURES
    from sat_retriever.rank.graph.graphrank import GRAPH

    return FEATURES, GRAPH, CROSS_ENCODER


def untrained_kind(name: str) -> UntrainedKind | None:
    """Return the untrained kind of that name, if there is one."""
    return next((kind for kind in UNTRAINED if kind.name == name), None)


def trained_kind(folder: Path) -> tuple[TrainedKind, Path]:
    """Return the kind of the trained reranker in a folder or a training's run, and its folder."""
    if not folder.is_dir():
        raise PathNotFoundError(f"there is no folder {folder}; name one with a trained reranker")
    by_format = {kind.format: kind for kind in trained_kinds()}
    # Trainings of earlier versions named it after its kind.
    for place in (folder, *(folder / name for name in (RERANKER, "cross-encoder", "features"))):
        kind = by_format.get(folder_kind(place) or "")
        if kind is not None:
            return kind, place
    raise InputError(
        f"{folder} holds no trained reranker; name a folder that 'sat train reranker' wrote; one "
        "that was stopped goes on with the same command"
    )


AUTO = "auto"


def load_reranker(index: SheetIndex, folder: str | Path) -> Reranker:
    """Load the trained reranker in a folder, of any kind, for the sheets of an index.

    Args:
        index: Source of the candidates.
        folder: A trained reranker, the run folder of its training, or "general": this package's
            reranker for indexes with its encoder "general".

    Raises:
        PathNotFoundError: If there is no such folder.
        InputError: If the folder holds no reranker.
        EncoderError: If the reranker is damaged or cannot be opened.
        FingerprintMismatchError: If it was trained on other tokens or texts than the index has.
    """
    if is_packaged(folder):
        return _packaged(index, str(folder))
    kind, place = trained_kind(Path(folder))
    return kind.load(index, place)


def _packaged(index: SheetIndex, name: str) -> Reranker:
    kind, place, on = _described(name)
    try:
        check_trained_on(index, Path(name), kind.command, on)
    except FingerprintMismatchError as error:
        raise FingerprintMismatchError(
            f"the reranker {name!r} reads what the encoder {name!r} wrote, but {index.path} was "
            f"written with {index.encoder_name!r}, or by another version: index the folders anew "
            f"(sat index FOLDER --index NEW --encoder {name}), or search with the reranker "
            f"{LINKS.name!r}"
        ) from error
    return packaged_model(name, "reranker", lambda _: kind.load(index, place))


def located_reranker(folder: str | Path) -> tuple[TrainedKind, Path]:
    """Return the kind of a trained reranker, and the folder of its model; loads no model."""
    if is_packaged(folder):
        return packaged_model(str(folder), "reranker", _located)
    return trained_kind(Path(folder))


def _located(folder: Path) -> tuple[TrainedKind, Path]:
    try:
        return trained_kind(folder)
    except InputError as error:
        raise EncoderError(str(error)) from error


def _described(name: str) -> tuple[TrainedKind, Path, TrainedOn]:
    kind, place = located_reranker(name)
    return kind, place, packaged_model(name, "reranker", lambda _: kind.trained_on(place))


def own_reranker_name(index: SheetIndex) -> str:
    """Return the name or folder that `own_reranker` loads; "links" for the untrained one.

    An index with contents is ranked over links: the reranker of this package gains nothing there
    on real workbooks (benchmarks/LOG.md). No model is loaded; only the description of one of this
    package is read.
    """
    if index.reranker_name is not None:
        return index.reranker_name
    name = index.encoder_name
    if is_packaged(name) and not _keeps_contents(index):
        kind, _, on = _described(name)
        with suppress(FingerprintMismatchError):  # an index of other texts, or of another version
            check_trained_on(index, Path(name), kind.command, on)
            return name
    return LINKS.name


def _keeps_contents(index: SheetIndex) -> bool:
    # With permissions the setting says so, which is the same for all who ask: a retriever is made
    # before anybody asks, and its choice must tell nothing of hidden sheets.
    if index.is_restricted:
        return index.privacy.contents is not ContentsPolicy.NAMES
    return index.has_contents


def own_reranker(index: SheetIndex) -> Reranker:
    """Load the reranker of an index: the trained one that it names, else one of this package.

    The link reranker is used if the index names none and has contents, or if its encoder is not
    this package's, or its texts differ.

    It raises what `load_reranker` raises.
    """
    name = own_reranker_name(index)
    if name == index.reranker_name and not Path(name).is_dir():
        raise PathNotFoundError(
            f"{index.path} is searched with the trained reranker in {name}, which is not there: "
            f"put it back, or search with the reranker {LINKS.name!r}"
        )
    untrained = untrained_kind(name)
    return untrained.make() if untrained else load_reranker(index, name)


def chosen_reranker(index: SheetIndex, reranker: Reranker | str | Path | None) -> Reranker | None:
    """Return the Stage 2 that a caller named: "auto", "links", a folder, a reranker, or None."""
    if not isinstance(reranker, (str, Path)):
        return reranker
    if reranker == AUTO:
        return own_reranker(index)
    untrained = untrained_kind(str(reranker)) if isinstance(reranker, str) else None
    return untrained.make() if untrained else load_reranker(index, reranker)
