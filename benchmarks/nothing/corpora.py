"""The corpora that "nothing here" is fitted on, chosen on and tested on, with their questions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from benchmarks.contents.variants import Variant
from benchmarks.corpora import CORPORA, INDUSTRYTAB_1K, Places
from sat_retriever.datasets.dataset import Dataset, load_industrytab
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.splits import standard_split
from sat_retriever.datasets.tables import is_held_out, load_tables
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import SynthOptions

Part = Literal["fit", "validation", "test"]
_MADE = SynthOptions("800", 22, queries=800)
_WTQ = "wikitablequestions_train"


@dataclass(frozen=True, slots=True)
class Searched:
    """A corpus to search, and the questions of its parts.

    Attributes:
        name: Its name in result files.
        kin: Corpora of the same kin are never foreign to each other, nor fitted for each other.
        read: Reads it from the folder of all data; a second folder is for what is made.
        parts: Places of the questions of each part.
    """

    name: str
    kin: str
    read: Callable[[Path, Path], Dataset]
    parts: Callable[[Dataset], Mapping[Part, Places]]

    def questions(self, dataset: Dataset, part: Part, most: int) -> list[Query]:
        """At most so many questions of a part, the same ones for ever."""
        found = [dataset.queries[place] for place in self.parts(dataset).get(part, ())]
        return sorted(found, key=lambda query: hashlib.sha256(query.text.encode()).digest())[:most]


def _read(name: str, data: Path, _work: Path) -> Dataset:
    return CORPORA[name].read(data)


def _variant(name: str, data: Path, _work: Path, *, titles: bool) -> Dataset:
    return Variant(CORPORA[name], titles).read(data)


def _wtq(data: Path, _work: Path, *, titles: bool) -> Dataset:
    """All tables of the training part: those held out stand among those that are fitted on."""
    return load_tables(data / CORPORA[_WTQ].folder, _WTQ, titles=titles)


def _made(_data: Path, work: Path) -> Dataset:
    folder = work / "made_800"
    if not folder.is_dir():
        synthesize(folder, _MADE, workers=1)
    return replace(load_industrytab(folder), name="made", files=())


def _held_out_tables(dataset: Dataset) -> Mapping[Part, Places]:
    held = [is_held_out(query.positives[0]) for query in dataset.queries]
    return _divided(dataset, [place for place, out in enumerate(held) if out])


def _held_out_databases(dataset: Dataset) -> Mapping[Part, Places]:
    choose = CORPORA["spider_train"].validation
    return _divided(dataset, choose(dataset) if choose else ())


def _halves(dataset: Dataset) -> Mapping[Part, Places]:
    return _divided(dataset, range(0, len(dataset.queries), 2))


def _split(dataset: Dataset) -> Mapping[Part, Places]:
    split = standard_split(len(dataset.queries))
    return {"fit": split.train, "validation": split.validation, "test": split.test}


def _outside_development(dataset: Dataset) -> Mapping[Part, Places]:
    return {"test": CORPORA["eps_whole"].parts["test"](dataset)}


def _divided(dataset: Dataset, validation: Sequence[int]) -> Mapping[Part, Places]:
    kept = set(validation)
    others = tuple(place for place in range(len(dataset.queries)) if place not in kept)
    return {"fit": others, "validation": tuple(validation)}


def _all(part: Part) -> Callable[[Dataset], Mapping[Part, Places]]:
    return lambda dataset: {part: tuple(range(len(dataset.queries)))}


CHOSEN: Mapping[str, Searched] = MappingProxyType(
    {
        each.name: each
        for each in (
            Searched(INDUSTRYTAB_1K, "company", partial(_read, INDUSTRYTAB_1K), _split),
            Searched("made", "company", _made, _halves),
            Searched("spider_train", "spider", partial(_read, "spider_train"), _held_out_databases),
            Searched(_WTQ, "wikipedia", partial(_wtq, titles=True), _held_out_tables),
            Searched(
                f"{_WTQ}_untitled", "wikipedia", partial(_wtq, titles=False), _held_out_tables
            ),
            Searched(
                "eps_development", "eps", partial(_read, "eps_development"), _all("validation")
            ),
        )
    }
)

TESTS: Mapping[str, Searched] = MappingProxyType(
    {
        each.name: each
        for each in (
            CHOSEN[INDUSTRYTAB_1K],
            *(
                Searched(name, "spider", partial(_read, name), _all("test"))
                for name in ("spider_dev", "bird_dev")
            ),
            *(
                Searched(
                    f"{name}{'' if titles else '_untitled'}",
                    "wikipedia",
                    partial(_variant, name, titles=titles),
                    _all("test"),
                )
                for name in ("fetaqa_dev", "tabfact_val", "wikitablequestions_dev")
                for titles in (True, False)
            ),
            Searched("eps_whole", "eps", partial(_read, "eps_whole"), _outside_development),
        )
    }
)
