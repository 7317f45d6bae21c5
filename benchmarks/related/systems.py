"""The rankings that are compared on questions that need several sheets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sat_retriever.encoder.models.folder import GENERAL
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.links.linkrank import LinkReranker
from sat_retriever.rank.links.pulls import LinkSettings
from sat_retriever.rank.load import load_reranker
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.links import LinkType

CANDIDATES, WALK = "candidates", "walk"
_PULLING = tuple(kind for kind in LinkType if kind.kind.pull)
_NONE = LinkSettings(types={}, other=0.0, siblings=0.0)
Make = Callable[[SheetIndex], Reranker | None]


@dataclass(frozen=True, slots=True)
class System:
    """One row of the table.

    Attributes:
        name: Its name in result files.
        title: Its name in tables.
        make: Makes its second stage for an index; None for the candidates alone.
        against: Names of the rows that it is compared with; all come before it.
        kind: Type of the links that it leaves out; a corpus without such links has no such row.
    """

    name: str
    title: str
    make: Make
    against: tuple[str, ...] = ()
    kind: str = ""


def systems(*, ablations: bool = True) -> Iterator[System]:
    """Yield every row in the order of the table, also those without a kind of links if wanted."""
    yield System(CANDIDATES, "candidates alone", lambda _: None)
    yield System(WALK, "+ training-free walk", lambda _: LinkReranker(), (CANDIDATES,))
    if ablations:
        yield from _walks()
    yield System(
        GENERAL,
        "+ shipped reranker",
        lambda index: load_reranker(index, GENERAL),
        (WALK, CANDIDATES),
    )


def _walks() -> Iterator[System]:
    """Yield the walk without each kind of links."""
    for kind in _PULLING:
        weights = {each.value: each.kind.pull for each in LinkType if each != kind}
        yield _walk(kind.value, LinkSettings(types=weights, other=0.0), kind.value)
    yield _walk("siblings", LinkSettings(siblings=0.0))
    yield _walk("links", _NONE)


def _walk(left_out: str, settings: LinkSettings, kind: str = "") -> System:
    return System(
        f"{WALK}_without_{left_out}",
        f"walk without {left_out.replace('_', ' ')}",
        lambda _: LinkReranker(settings),
        (WALK,),
        kind,
    )
