"""Trainings as steps: what is learned, on what, and after which other training.

A step's key covers all that decides its outcome, so that a folder named by it can be used
again, and two plans that need the same training share it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from benchmarks.corpora import INDUSTRYTAB_614
from sat_retriever.train.settings import CrossEncoderTraining, EncoderTraining, RerankerTraining

Settings = EncoderTraining | RerankerTraining | CrossEncoderTraining
Kind = Literal["encoder", "reranker", "cross_encoder"]
Links = Literal["given", "found"]
RELEASED_STOPS = "released_stops"  # epochs end as in the released code
_SETTINGS: Mapping[str, Callable[..., Settings]] = {
    "encoder": EncoderTraining,
    "reranker": RerankerTraining,
    "cross_encoder": CrossEncoderTraining,
}


@dataclass(frozen=True, slots=True)
class Corpus:
    """Questions to learn from, questions to choose with, and the sheets they search.

    Attributes:
        name: "spider", a corpus like "industrytab_1k" below the folder of data, or a folder.
        split: "train" for Spider; else "standard", "grouped", or "legacy" for the standard split
            of IndustryTab-614's 134 old questions.
        seed: Seed of the split.
        limit: Training and validation questions used, for trials; None for all.
        data: Hash of its files, of a corpus that is not published.
    """

    name: str
    split: str
    seed: int
    limit: int | None = None
    data: str = ""

    @property
    def label(self) -> str:
        """Name of the folder that its trainings are kept in."""
        part = "" if self.limit is None else f".first_{self.limit}"
        return f"{Path(self.name).name}.{self.split}.{self.seed}{part}"

    @property
    def drawn(self) -> bool:
        """True if each seed has test questions of its own."""
        return self.split != "standard" or Path(self.name).name == INDUSTRYTAB_614


@dataclass(frozen=True, slots=True)
class Step:
    """One training.

    Attributes:
        kind: Kind of model to train.
        corpus: Corpus to learn from.
        settings: Settings of the training.
        encoder: Stage 1 whose tokens and candidates it gets; None for the untrained one.
        base: Base scorer that a graph is trained over; None if there is none.
        links: Links of the index: those that the corpus publishes, or those found in it.
        variant: A difference from the training in the library.
    """

    kind: Kind
    corpus: Corpus
    settings: Settings
    encoder: Step | None = None
    base: Step | None = None
    links: Links = "given"
    variant: str = ""

    @property
    def key(self) -> str:
        """Ten hex digits over all that decides the outcome, but for code and published data."""
        text = json.dumps(asdict(self, dict_factory=_without_data), sort_keys=True)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:10]

    @property
    def name(self) -> str:
        """Folder of the step below a folder of runs."""
        return f"{self.corpus.label}/{self.kind}-{self.key}"

    def to_json(self) -> str:
        """Return the step as JSON that `read_step` reads."""
        return json.dumps(asdict(self), indent=2) + "\n"


def _without_data(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields, without the hash of data that needs none, so that its keys stay."""
    return {name: value for name, value in pairs if (name, value) != ("data", "")}


def read_step(path: Path) -> Step:
    """Return the step that was written to a file."""
    return _step(json.loads(path.read_text(encoding="utf-8")))


def _step(content: Mapping[str, Any]) -> Step:
    parents = {
        name: None if content[name] is None else _step(content[name])
        for name in ("encoder", "base")
    }
    made = _SETTINGS[content["kind"]]
    values = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in content["settings"].items()
    }
    settings, corpus = made(**values), Corpus(**content["corpus"])
    return Step(**{**content, **parents, "settings": settings, "corpus": corpus})


def base_of(settings: RerankerTraining) -> RerankerTraining:
    """Return the settings of the base scorer alone, without those of a later graph.

    >>> base_of(RerankerTraining(layers=3, gate=-8.0)) == base_of(RerankerTraining())
    True
    """
    plain = RerankerTraining()
    return replace(
        settings,
        layers=0,
        channels=(),
        gate=plain.gate,
        joint=plain.joint,
        graph_epochs=plain.graph_epochs,
        graph_learning_rate=plain.graph_learning_rate,
    )


def overridden(settings: Settings, changes: Sequence[str]) -> Settings:
    """Return the settings with `name=value` changes; names that they lack are left out.

    >>> overridden(CrossEncoderTraining(), ["epochs=1", "layers=2"]).epochs
    1
    """
    known = {field.name for field in fields(settings)}
    found = values_of(changes)
    return replace(settings, **{name: value for name, value in found.items() if name in known})


def values_of(changes: Sequence[str]) -> dict[str, Any]:
    """Return `name=value` changes by name; values are JSON, or else text.

    >>> values_of(["epochs=1", "precision=bf16", "interpolation=[0.5]"])
    {'epochs': 1, 'precision': 'bf16', 'interpolation': [0.5]}
    """
    values: dict[str, Any] = {}
    for change in changes:
        name, _, value = change.partition("=")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return values
