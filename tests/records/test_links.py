"""The table of the types of links, and that nothing else keeps a list of its own."""

from __future__ import annotations

import pickle
from pathlib import Path

import sat_retriever
from sat_retriever import LinkType
from sat_retriever.rank.graph.channels import CHANNELS
from sat_retriever.rank.links.pulls import LinkSettings
from sat_retriever.records.links import OTHER_KIND, in_order, kind_of
from sat_retriever.train.adapt.settings import AdaptSettings

PACKAGE = Path(sat_retriever.__file__).parent


def test_a_type_is_its_name_wherever_a_text_is_wanted():
    for kind in LinkType:
        assert LinkType(kind.value) is kind
        assert pickle.loads(pickle.dumps(kind)) is kind
        assert {kind.value: 1}[kind] == 1
        assert kind_of(kind.value) is kind.kind


def test_a_type_without_a_row_has_the_row_of_all_others():
    assert kind_of("owned by") is OTHER_KIND
    assert in_order(["owned by", *reversed(LinkType)]) == [*LinkType, "owned by"]


def test_every_row_says_something_of_its_own():
    kinds = [kind.kind for kind in LinkType]
    assert len({kind.meaning for kind in kinds}) == len(kinds)
    assert len({kind.colours[0] for kind in kinds}) == len(kinds)
    assert len({kind.colours[1] for kind in kinds}) == len(kinds)
    for kind in kinds:
        assert (kind.says[0] != kind.says[1]) == kind.directed


def test_rankings_and_channels_have_every_type_of_the_table():
    names = {kind.value for kind in LinkType}
    assert LinkSettings().types == {kind.value: kind.kind.pull for kind in LinkType}
    assert names <= set(CHANNELS)
    assert names <= set(AdaptSettings().reranker_training().channels)


def test_a_type_of_link_is_spelled_in_its_row_alone():
    spelled = [
        path.relative_to(PACKAGE).as_posix()
        for path in sorted(PACKAGE.rglob("*.py"))
        if '"sibling_period"' in path.read_text(encoding="utf-8")
    ]
    assert spelled == ["records/links.py"]


def test_scripts_and_styles_of_pages_name_no_type_of_link():
    for path in (each for end in ("js", "css", "html") for each in PACKAGE.rglob(f"*.{end}")):
        text = path.read_text(encoding="utf-8")
        assert [kind for kind in LinkType if kind.value in text] == []
