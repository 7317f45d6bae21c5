"""The reranker of an index, by name or by folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from sat_retriever.errors import FingerprintMismatchError, InputError, PathNotFoundError
from sat_retriever.index.index import SheetIndex
from sat_retriever.models.folder import folder_kind
from sat_retriever.models.packaged import is_packaged, packaged_model
from sat_retriever.rank.fingerprints import check_trained_on
from sat_retriever.rank.graph import folder as graph_folder
from sat_retriever.rank.graph.model import GraphModel
from sat_retriever.rank.graph.rerank import GraphReranker
from sat_retriever.rank.links import LinkReranker
from sat_retriever.rank.pairs import folder as pair_folder
from sat_retriever.rank.pairs.rerank import CrossEncoderReranker
from sat_retriever.rank.reranker import Reranker

LINKS, AUTO = "links", "auto"


IN_A_RUN = ("reranker", "cross-encoder")  # folders of a run, where a training puts what it trained


def load_reranker(index: SheetIndex, folder: str | Path) -> Reranker:
    """The trained reranker in a folder, of whichever kind, for the sheets of an index.

    Args:
        index: Where candidates come from.
        folder: A trained reranker, the run folder of its training, or "general", the one of
            this package for indexes that its encoder "general" made.

    Raises:
        PathNotFoundError: If there is no such folder.
        InputError: If there is no reranker in it.
        EncoderError: If the reranker is damaged or cannot be opened.
        FingerprintMismatchError: If it was trained on other tokens or texts than the index has.
    """
    if is_packaged(folder):
        return _packaged(index, str(folder))
    folder = Path(folder)
    if not folder.is_dir():
        raise PathNotFoundError(f"there is no folder {folder}; name one with a trained reranker")
    for place in (folder, *(folder / name for name in IN_A_RUN)):
        kind = folder_kind(place)
        if kind == graph_folder.KIND:
            return GraphReranker.load(index, place)
        if kind == pair_folder.KIND:
            return CrossEncoderReranker.load(index, place)
    raise InputError(
        f"{folder} holds no trained reranker; name a folder that 'sat train reranker' or "
        "'sat train cross-encoder' wrote; one that was stopped goes on with the same command"
    )


def _packaged(index: SheetIndex, name: str) -> Reranker:
    """A reranker of this package, if it knows the tokens and texts of the index."""
    model = packaged_model(name, "reranker", GraphModel.load)
    try:
        return GraphReranker(index, model)
    except FingerprintMismatchError as error:
        raise FingerprintMismatchError(
            f"the reranker {name!r} reads what the encoder {name!r} wrote, but {index.path} was "
            f"written with {index.encoder_name!r}, or by another version: index the folders anew "
            f"(sat index FOLDER --index NEW --encoder {name}), or search with the reranker "
            f"{LINKS!r}"
        ) from error


def own_reranker_name(index: SheetIndex) -> str:
    """What `own_reranker` loads: a folder, the name of one of this package, or "links".

    Loads no model: of one of this package only what it was trained on is read.

    Raises:
        EncoderError: If this installation has no such reranker, or its files were changed.
    """
    if index.reranker_name is not None:
        return index.reranker_name
    name = index.encoder_name
    if is_packaged(name):
        spec = packaged_model(name, "reranker", graph_folder.read_graph_folder)
        on = {"encoder": spec.encoder, "serialization": spec.serialization}
        with suppress(FingerprintMismatchError):  # an index of other texts, or of another version
            check_trained_on(index, Path(name), "reranker", **on)
            return name
    return LINKS


def own_reranker(index: SheetIndex) -> Reranker:
    """The reranker of an index: the trained one that it names, else the one of this package.

    An index that names none and whose encoder is none of this package's, or whose texts are
    others, has the link reranker.

    Raises:
        PathNotFoundError: If the reranker that it names is not there.
        EncoderError: If that is damaged.
        FingerprintMismatchError: If that was trained on other tokens than the index has.
    """
    name = own_reranker_name(index)
    if name == LINKS:
        return LinkReranker(index)
    return _packaged(index, name) if is_packaged(name) else _named(index, name)


def _named(index: SheetIndex, folder: str) -> Reranker:
    """The reranker that an index names."""
    if not Path(folder).is_dir():
        raise PathNotFoundError(
            f"{index.path} is searched with the trained reranker in {folder}, which is not there: "
            f"put it back, or search with the reranker {LINKS!r}"
        )
    return load_reranker(index, folder)


def chosen_reranker(index: SheetIndex, reranker: Reranker | str | Path | None) -> Reranker | None:
    """Stage 2 as a caller names it: "auto", "links", a folder, a reranker, or None for none.

    Raises:
        InputError: If a folder is not there, or holds no reranker.
        EncoderError: If the reranker in it is damaged or cannot be opened.
        FingerprintMismatchError: If it was trained on other tokens than the index has.
    """
    if reranker == AUTO:
        return own_reranker(index)
    if reranker == LINKS:
        return LinkReranker(index)
    return load_reranker(index, reranker) if isinstance(reranker, (str, Path)) else reranker
