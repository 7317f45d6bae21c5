"""What adapted and packaged systems answer: the same as a user's search of such an index."""

from __future__ import annotations

import pytest

from benchmarks.unlabelled.runs import Job
from benchmarks.unlabelled.systems import (
    Model,
    adapted_systems,
    index_by,
    packaged_systems,
    plain_systems,
)
from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.encoder import SheetEncoder
from sat_retriever.encoder.models import folder as model_folders
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.train.adapt.outcome import ENCODER, STAGE_1, Adaptation
from sat_retriever.train.adapt.settings import AdaptSettings
from tests.rank.graph.small_model import save_small_model, small_spec
from tests.saved_encoder import save_bag_of_words

WORDS = ("payroll", "stock", "sales", "2021", "2022", "alpha", "beta")
QUERIES = ("payroll alpha 2021", "stock of beta", "sales 2022")


@pytest.fixture
def dataset():
    records = [
        SheetRecord(f"{n:02}", f"{company} {kind} {year}", columns=(Column(f"{kind} id"),))
        for n, (company, kind, year) in enumerate(
            (company, kind, year)
            for company in WORDS[5:]
            for kind in WORDS[:3]
            for year in WORDS[3:5]
        )
    ]
    links = tuple(
        Link(records[n].sheet_id, records[n + 1].sheet_id, "formula_reference")
        for n in range(0, len(records), 2)
    )
    return Dataset("small", tuple(records), (), links)


@pytest.fixture
def start(tmp_path):
    return save_bag_of_words(tmp_path / "start", WORDS)


@pytest.fixture
def stage1(tmp_path):
    return save_bag_of_words(tmp_path / "adapt" / STAGE_1 / ENCODER, WORDS, seed=1)


def outcome(tmp_path, encoder, reranker):
    return Adaptation(
        tmp_path / "adapt", "both", (), apart=True, encoder=encoder, dense_weight=None,
        reranker=reranker, counts={}, seconds=1.0, memory_mib=1.0,
    )  # fmt: skip


def same(system, retriever):
    for query in QUERIES:
        hits = [hit.sheet_id for hit in retriever.retrieve(query, 5)]
        assert [found.sheet_id for found in system.method.rank(query)][:5] == hits


def test_a_cascade_is_what_a_search_with_the_kept_encoder_and_reranker_finds(
    dataset, start, stage1, tmp_path
):
    whole = index_by(dataset, SheetEncoder.load(stage1), tmp_path)
    reranker = save_small_model(tmp_path / "reranker", small_spec(whole), (50.0, 0.0))
    made = outcome(tmp_path, stage1, reranker)
    job = Job(dataset, str(start), AdaptSettings())
    first, last = adapted_systems(dataset, tmp_path, job, made)
    assert (first.name, last.name) == (
        "stage1_transductive_start", "cascade_transductive_start",
    )  # fmt: skip
    same(first, SheetRetriever(whole, None))
    same(last, SheetRetriever(whole, reranker))
    assert any(
        [each.sheet_id for each in last.method.rank(query)]
        != [each.sheet_id for each in first.method.rank(query)]
        for query in QUERIES
    )


def test_where_nothing_is_kept_a_cascade_is_the_search_before_it(dataset, start, stage1, tmp_path):
    job = Job(dataset, str(start), AdaptSettings(), frozenset({"00"}))
    first, last = adapted_systems(dataset, tmp_path, job, outcome(tmp_path, None, None))
    assert first.index.fingerprint == SheetEncoder.load(stage1).fingerprint
    assert last.index.fingerprint == SheetEncoder.load(start).fingerprint
    assert len(last.index) == len(dataset.records)
    assert "inductive, from start" in last.title
    same(last, SheetRetriever(last.index))


def test_a_packaged_model_is_asked_with_its_own_reranker(dataset, stage1, tmp_path, monkeypatch):
    monkeypatch.setattr(model_folders, "FOLDER", tmp_path / "models")
    save_bag_of_words(tmp_path / "models/general/encoder", WORDS, seed=2)
    index = index_by(dataset, SheetEncoder.load("general"), tmp_path)
    save_small_model(tmp_path / "models/general/reranker", small_spec(index))
    first, last = packaged_systems(dataset, tmp_path, Model.named("general"))
    assert (first.name, last.name) == ("general", "general_reranker")
    same(last, SheetRetriever(first.index, "general"))


def test_without_a_packaged_model_the_reason_is_said(dataset, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(model_folders, "FOLDER", tmp_path / "models")
    assert list(packaged_systems(dataset, tmp_path, Model.named("general"))) == []
    assert "general: not run, this installation has no encoder" in capsys.readouterr().out


def test_zero_shot_is_cosine_alone_and_words_are_words_alone(dataset, start, tmp_path):
    found = {system.name: system for system in plain_systems(dataset, tmp_path, str(start))}
    assert list(found) == ["dense", "bm25", "fused", "times", "links"]
    (best, *_) = found["dense"].method.rank("payroll alpha 2021")
    assert best.score == best.dense
    assert all(each.lexical > 0 for each in found["bm25"].method.rank("stock"))
    same(found["links"], SheetRetriever(found["links"].index))
