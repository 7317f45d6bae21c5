"""The rankings that are compared on questions that need several sheets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sat_retriever.encoder.models.folder import GENERAL
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.graph.channels import LEARNT
from sat_retriever.rank.graph.graph import CandidateGraph
from sat_retriever.rank.graph.graphrank import GraphModel, GraphReranker
from sat_retriever.rank.graph.spec import FORMAT, GraphSpec
from sat_retriever.rank.links.linkrank import LinkReranker
from sat_retriever.rank.links.pulls import LinkSettings
from sat_retriever.rank.load import load_reranker
from sat_retriever.rank.reranker import Reranker
from sat_retriever.rank.trained import read_spec
from sat_retriever.records.links import LinkType
from sat_retriever.records.tokens import FloatArray

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


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained second stage.

    Attributes:
        name: Its name in result files.
        folder: Run folder of its training, or folder of the reranker.
    """

    name: str
    folder: Path

    @classmethod
    def named(cls, text: str) -> Trained:
        """Return the model of an option NAME=FOLDER.

        >>> Trained.named("ours=runs/a").name
        'ours'
        """
        name, _, folder = text.partition("=")
        return cls(name, Path(folder))


class WithoutChannel(GraphModel):
    """A trained graph with one relation set to zero; that of learnt states cannot be."""

    @classmethod
    def of(cls, model: GraphModel, channel: str) -> WithoutChannel:
        """Return the model without a channel."""
        made = cls(model.folder, model.spec, model._session)
        made._place = model.spec.channels.index(channel)
        return made

    _place: int

    def scores(self, graph: CandidateGraph) -> FloatArray:
        """Return the logits of the candidates, (k,) float32, in their order."""
        relations = graph.relations.copy()
        relations[self._place] = 0
        return super().scores(replace(graph, relations=relations))


def systems(trained: Iterable[Trained], *, ablations: bool = True) -> Iterator[System]:
    """Yield every row in the order of the table.

    Args:
        trained: Trained models beside the shipped one.
        ablations: Also yield rows without a kind of links or a channel.
    """
    yield System(CANDIDATES, "candidates alone", lambda _: None)
    yield System(WALK, "+ training-free walk", LinkReranker, (CANDIDATES,))
    if ablations:
        yield from _walks()
    yield System(
        GENERAL,
        "+ shipped reranker",
        lambda index: load_reranker(index, GENERAL),
        (WALK, CANDIDATES),
    )
    for model in trained:
        yield from _models(model, ablations=ablations)


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
        lambda index: LinkReranker(index, settings),
        (WALK,),
        kind,
    )


def _models(model: Trained, *, ablations: bool) -> Iterator[System]:
    """Yield a trained model: its base scorer, its graph, and its graph without each channel."""
    name, graph = model.name, model.folder / "reranker"
    base = model.folder / "base"
    place = graph if graph.is_dir() else model.folder
    rivals: tuple[str, ...] = (WALK,)
    if base.is_dir():
        yield System(f"{name}_base", f"+ base scorer, {name}", _loaded(base), rivals)
        rivals = (f"{name}_base", WALK)
    spec = read_spec(place, FORMAT, GraphSpec)
    if not spec.layers:
        if not base.is_dir():
            yield System(f"{name}_base", f"+ base scorer, {name}", _loaded(place), rivals)
        return
    yield System(name, f"+ gated graph, {name}", _loaded(place), rivals)
    given = [channel for channel in spec.channels if channel not in LEARNT]
    for channel in given if ablations else ():
        yield System(
            f"{name}_without_{channel.replace(':', '_')}",
            f"{name} without {channel.replace('_', ' ')}",
            _loaded(place, channel),
            (name,),
            channel if channel in _KINDS else "",
        )


_KINDS: Mapping[str, LinkType] = {kind.value: kind for kind in LinkType}


def _loaded(folder: Path, without: str = "") -> Make:
    def make(index: SheetIndex) -> Reranker:
        model = GraphModel.load(folder)
        return GraphReranker(index, WithoutChannel.of(model, without) if without else model)

    return make
