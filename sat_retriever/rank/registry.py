"""Register every kind of reranker: a new one is a module with its class, and an entry here."""

from __future__ import annotations

from pathlib import Path

from sat_retriever.encoder.models.folder import folder_kind
from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.rank.features.featurerank import FEATURES
from sat_retriever.rank.graph.graphrank import GRAPH
from sat_retriever.rank.kind import TrainedKind, UntrainedKind
from sat_retriever.rank.links.linkrank import LINKS
from sat_retriever.rank.pairs.pairrank import PAIRS

UNTRAINED: tuple[UntrainedKind, ...] = (LINKS,)
TRAINED: tuple[TrainedKind, ...] = (GRAPH, PAIRS, FEATURES)


def untrained_kind(name: str) -> UntrainedKind | None:
    """Return the untrained kind of that name, if there is one."""
    return next((kind for kind in UNTRAINED if kind.name == name), None)


def trained_kind(folder: Path) -> tuple[TrainedKind, Path]:
    """Return the kind of the trained reranker in a folder, and the folder of its model.

    Args:
        folder: A trained reranker, or the run folder of its training.

    Raises:
        PathNotFoundError: If there is no such folder.
        InputError: If the folder holds no reranker.
    """
    if not folder.is_dir():
        raise PathNotFoundError(f"there is no folder {folder}; name one with a trained reranker")
    by_format = {kind.format: kind for kind in TRAINED}
    for place in (folder, *(folder / kind.name for kind in TRAINED)):
        kind = by_format.get(folder_kind(place) or "")
        if kind is not None:
            return kind, place
    trainings = " or ".join(f"'{kind.command}'" for kind in TRAINED if kind.command)
    raise InputError(
        f"{folder} holds no trained reranker; name a folder that {trainings} wrote; one that was "
        "stopped goes on with the same command"
    )
