"""Candidate lists for the gated graph: of questions that need linked sheets, and of real workbooks.

The general encoder has learnt from no question of these: from no real workbook, from none of these
companies, and not from the databases of Spider that are held out. Another encoder should not have
either, which holds for one that was not trained here.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, get_args

from benchmarks.corpora import CORPORA
from benchmarks.general.lists import held_out_halves
from benchmarks.indexes import Links
from benchmarks.progress import progress_lines
from benchmarks.real.sources import EPS, names, read
from benchmarks.related.related import Wanted, index_of
from benchmarks.related.scoring import Searched, clusters
from benchmarks.related.sets import SETS, Asked, Part
from sat_retriever.datasets.splits import spider_training
from sat_retriever.errors import CorpusError
from sat_retriever.records.files import make_folder
from sat_retriever.records.grouping import evenly
from sat_retriever.records.permissions import EVERYONE
from sat_retriever.train.reranker.featurelists import INPUTS, FeatureLists, feature_lists

Use = Literal["taught", "judged", "tested"]
MOST = 150  # questions of a set, spread evenly


@dataclass(frozen=True, slots=True)
class Listed:
    """The candidates of a set's questions.

    Attributes:
        lists: Candidates, features and relations.
        answers: Cluster of each question: those with the same answer count as one draw.
    """

    lists: FeatureLists
    answers: Sequence[Hashable]


Sets = Mapping[str, Listed]


def collected(wanted: Wanted, *, tested: bool) -> Mapping[Use, Sets]:
    """Return the lists by use and by the name of their set.

    They are kept below the folder of runs: remove its `lists` after a change of the library's
    ranking.

    - Taught: the training parts of `run related`; every other of Spider's held-out databases; the
      sources of `real_lists` to learn from.
    - Judged: the validation parts of `run related`, of Spider the other held-out databases; the
      sources of `real_lists` for choices, and EPS's questions for development.
    - Tested: the test parts of `run related`; EPS's other questions.

    Args:
        wanted: Folders and encoder.
        tested: True for the tests as well, which are looked at once.
    """
    parts: dict[Use, Part] = {"taught": "train", "judged": "validation"}
    if tested:
        parts["tested"] = "test"
    found: dict[Use, dict[str, Listed]] = {use: {} for use in parts}
    halves = held_out_halves(CORPORA["spider_train"].read(wanted.places.data))
    databases = dict(zip(parts, halves, strict=False))
    for use, part in parts.items():
        for name, each in SETS.items():
            if part not in each.parts or (use == "taught" and name.startswith("spider")):
                continue  # the encoder has learnt from all but the held-out databases
            asked = next(each.read(part, wanted.places))  # the first corpus is enough
            with index_of(asked, wanted) as index:
                every = Searched(index, asked.dataset.queries)
                if use == "judged" and name.startswith("spider"):
                    every = _about(every, databases["judged"])
                found[use][name] = _listed(f"{name}.{part}", every, wanted)
    spider = spider_training(wanted.places.data / "spider")
    for links in get_args(Links)[:2]:  # as databases declare them, and found by headers
        with index_of(Asked(spider, links), wanted) as index:
            taught = _about(Searched(index, spider.validation), databases["taught"])
            own = f"spider_{links}"
            found["taught"][own] = _listed(f"{own}.train", taught, wanted, 3 * MOST)
    for name in names(wanted.places.data):
        with suppress(CorpusError):  # the workbooks of one source are not there
            for use, own_name, listed in _real(name, wanted):
                if use in found:
                    found[use][own_name] = listed
    return found


def _about(each: Searched, databases: Collection[str]) -> Searched:
    """Return the questions about some of Spider's databases."""
    return replace(each, queries=[one for one in each.queries if one.workbook in databases])


def _real(name: str, wanted: Wanted) -> Iterator[tuple[Use, str, Listed]]:
    """Yield the lists of a source of real workbooks, without pages that repeat its questions."""
    source = read(wanted.places.data, name)
    if source.dataset.root is None:
        return  # tables without a link among them
    with index_of(Asked(replace(source.dataset, name=name), "found"), wanted) as index:
        if source.excluded:
            index.permit(lambda record: [] if record.sheet_id in source.excluded else [EVERYONE])
        seen = index.seen_by(())
        for part, places in source.parts.items():
            if name == EPS and part == "all":
                continue
            use: Use = "taught" if source.role == "train" else "judged"
            asked = Searched(seen, [source.dataset.queries[place] for place in places])
            if part == "test":
                yield "tested", f"{name}_test", _listed(f"{name}.{part}", asked, wanted)
            else:
                yield use, name, _listed(f"{name}.{part}", asked, wanted)


def _listed(name: str, asked: Searched, wanted: Wanted, most: int = MOST) -> Listed:
    """Return the lists of some questions, made now or before."""
    chosen = replace(asked, queries=evenly(asked.queries, most))
    path = wanted.places.runs / "lists" / f"{name}.{wanted.encoder.fingerprint}.{INPUTS}.npz"
    if not path.is_file():
        make_folder(path.parent)
        told = progress_lines(name)
        feature_lists(chosen.index, chosen.queries, name, progress=told).save(path)
    return Listed(FeatureLists.load(path), clusters([chosen]))
