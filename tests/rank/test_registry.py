"""Every reranker has one entry, and the entry is all that the rest of the package asks."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from typing import get_args

import pytest

import sat_retriever.rank
from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.cli.train.commands import RERANKERS, Kind
from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.graph.graphrank import GRAPH
from sat_retriever.rank.load import UNTRAINED, trained_kind, trained_kinds, untrained_kind
from sat_retriever.rank.reranker import COMPLETE_SHARE, Reranker
from sat_retriever.rank.trained import RERANKER
from sat_retriever.records.sheets import SheetRecord
from tests.fakes import HashedEncoder
from tests.rank.graph.small_model import save_small_model, small_spec


@pytest.fixture
def index(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as made:
        made.add_records([SheetRecord(name, name) for name in ("sales", "taxes", "notes on sales")])
        yield made


def rerankers():
    """Every class of the package that is a reranker."""
    found = set()
    for module in pkgutil.walk_packages(sat_retriever.rank.__path__, "sat_retriever.rank."):
        for _, each in inspect.getmembers(import_module(module.name), inspect.isclass):
            if Reranker in each.__mro__[1:]:
                found.add(each)
    return found


def test_every_reranker_of_the_package_has_exactly_one_entry():
    entries = [kind.make for kind in UNTRAINED] + [kind.load.__self__ for kind in trained_kinds()]
    assert len(entries) == len(set(entries))
    assert set(entries) == rerankers()


def test_no_two_entries_share_a_name_a_label_or_a_format():
    names = [kind.name for kind in (*UNTRAINED, *trained_kinds())]
    assert len(names) == len(set(names))
    for field in ("label", "format"):
        values = [getattr(kind, field) for kind in trained_kinds()]
        assert len(values) == len(set(values))


def test_every_trained_kind_is_one_of_the_training_command():
    assert [kind.name for kind in trained_kinds()] == list(RERANKERS) == list(get_args(Kind))


def test_the_reranker_of_a_folder_is_found_in_the_folder_or_in_its_run(index, tmp_path):
    """Also in runs of earlier versions, which had other names for it."""
    for kind in trained_kinds():
        for name in {RERANKER, "reranker" if kind is GRAPH else kind.name}:
            place = tmp_path / f"{kind.name} {name}" / name
            place.mkdir(parents=True)
            (place / "config.json").write_text(f'{{"format": "{kind.format}"}}')
            assert trained_kind(place) == trained_kind(place.parent) == (kind, place)
    model = save_small_model(tmp_path / "model", small_spec(index))
    kind, place = trained_kind(model)
    assert kind.trained_on(place).encoder == index.fingerprint


def test_a_folder_without_a_reranker_says_what_makes_one(tmp_path):
    with pytest.raises(InputError, match="'sat train reranker'"):
        trained_kind(tmp_path)
    with pytest.raises(PathNotFoundError):
        trained_kind(tmp_path / "nowhere")


def test_an_untrained_reranker_is_chosen_by_its_name(index):
    for kind in UNTRAINED:
        assert untrained_kind(kind.name) == kind
        assert isinstance(SheetRetriever(index, kind.name).reranker, kind.make)
    assert untrained_kind("reranker") is None


def test_a_reranker_of_ones_own_needs_no_more_than_its_order(index):
    class LongNamesFirst(Reranker):
        def rerank(self, found):
            assert found.question.words == ("sale",)
            order = sorted(found.candidates, key=lambda each: -len(each.sheet_id))
            return [each.placed(n, 1 / n) for n, each in enumerate(order, 1)]

    own = LongNamesFirst()
    assert (own.dense_weight, own.trained_candidates, own.keeps_scale) == (None, None, False)
    assert own.complete_share == COMPLETE_SHARE
    retriever = SheetRetriever(index, own)
    assert retriever.candidates == 50
    assert retriever.retrieve("sales", 1)[0].sheet_id == "notes on sales"


def test_a_reranker_without_an_order_cannot_be_made():
    class Nothing(Reranker):
        pass

    with pytest.raises(TypeError, match="rerank"):
        Nothing()
