"""A reranker folder on an index: scores, order, and what is refused."""

import json
import random
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from sat_retriever import (
    EmptyInputError,
    EncoderError,
    Filters,
    FingerprintMismatchError,
    InputError,
    MissingExtraError,
    Serialization,
    SheetIndex,
    SheetRetriever,
)
from sat_retriever.encoder.onnx.device import gpu_count
from sat_retriever.rank.graph.graph import candidate_graph
from sat_retriever.rank.graph.graphrank import GRAPH, GraphModel, GraphReranker
from sat_retriever.rank.graph.spec import MODEL
from tests.fakes import HashedEncoder
from tests.rank.graph.small_model import save_small_model, small_logits, small_spec

QUERY = "sales amount 003"
WEIGHTS = (5.0, 0.5)


@pytest.fixture
def saved(index, tmp_path):
    return save_small_model(tmp_path / "reranker", small_spec(index))


@pytest.fixture
def for_large(large, tmp_path):
    folder = save_small_model(tmp_path / "reranker", small_spec(large), WEIGHTS)
    return GraphReranker.load(large, folder)


def sigmoid(logits):
    return 1 / (1 + np.exp(-np.asarray(logits, dtype=np.float64)))


@pytest.mark.parametrize("k", [1, 2, 50, 200])
def test_scores_are_the_models_in_a_new_order(large, for_large, k):
    found = large.candidates(QUERY, k)
    graph = candidate_graph(large, large.question(QUERY), found, for_large.model.spec)
    parts = (graph.query, graph.tokens, graph.scores, graph.features, graph.relations)
    logits = small_logits(*parts, WEIGHTS)
    assert for_large.model.scores(graph) == pytest.approx(logits, abs=1e-4)
    wanted = dict(zip([c.sheet_id for c in graph.candidates], sigmoid(logits), strict=True))
    ranked = for_large.rerank(large.question(QUERY), found)
    assert {c.sheet_id: c.score for c in ranked} == pytest.approx(wanted, abs=1e-5)
    assert [c.rank for c in ranked] == list(range(1, k + 1))
    assert [(-c.score, c.sheet_id) for c in ranked] == sorted(
        (-c.score, c.sheet_id) for c in ranked
    )
    before = {c.sheet_id: c for c in found}
    assert all(c.dense == before[c.sheet_id].dense for c in ranked)
    random.Random(k).shuffle(found)
    assert for_large.rerank(large.question(QUERY), found) == ranked


def test_equal_logits_come_in_the_order_of_sheet_ids(index, tmp_path):
    """`10 s + lexical` is 3.75 for both, though "summary" starts before "q1"."""
    saved = save_small_model(tmp_path / "m", small_spec(index, dense_weight=0.5), (0.0, 0.0))
    q1, summary = sorted(
        index.score_sheets(index.question("zebra"), ["q1", "summary"]), key=lambda c: c.sheet_id
    )
    found = [
        replace(summary, dense=0.75, lexical=0.0, together=0.0),
        replace(q1, dense=0.0, lexical=0.625, together=0.625),
    ]
    reranker = GraphReranker.load(index, saved)
    graph = candidate_graph(index, index.question("zebra"), found, reranker.model.spec)
    assert [c.sheet_id for c in graph.candidates] == ["summary", "q1"]
    assert reranker.model.scores(graph).tolist() == [3.75, 3.75]
    assert [c.sheet_id for c in reranker.rerank(index.question("zebra"), found)] == [
        "q1",
        "summary",
    ]


def test_scores_that_round_to_one_come_in_the_order_of_their_logits(index, tmp_path):
    spec = small_spec(index, start="dense", features=())
    reranker = GraphReranker.load(index, save_small_model(tmp_path / "m", spec, (0.0, 0.0)))
    q1, summary = sorted(
        index.score_sheets(index.question("zebra"), ["q1", "summary"]), key=lambda c: c.sheet_id
    )
    found = [replace(q1, dense=4.5), replace(summary, dense=5.0)]
    ranked = reranker.rerank(index.question("zebra"), found)
    assert [(c.sheet_id, c.score) for c in ranked] == [("summary", 1.0), ("q1", 1.0)]


def test_too_many_candidates_for_their_relations_are_refused(large, for_large, monkeypatch):
    monkeypatch.setattr("sat_retriever.rank.graph.graph.MAX_ENTRIES", 2 * 10**2)
    assert len(for_large.rerank(large.question(QUERY), large.candidates(QUERY, 10))) == 10
    with pytest.raises(InputError, match=r"11 candidates .* 2 channels; ask for 10 sheets"):
        for_large.rerank(large.question(QUERY), large.candidates(QUERY, 11))


def test_a_link_raises_the_sheet_it_leads_to(index, tmp_path):
    saved = save_small_model(tmp_path / "linked", small_spec(index), (30.0, 0.0))
    retriever = SheetRetriever(index, saved)
    assert [hit.sheet_id for hit in retriever.retrieve("total sales", 2)] == ["q1", "summary"]
    flat = SheetRetriever(index, None).retrieve("total sales", 2)
    assert [hit.sheet_id for hit in flat] == ["summary", "sales notes"]


def test_no_candidates_give_no_candidates_and_an_empty_query_is_refused(index, saved):
    reranker = GraphReranker.load(index, saved)
    assert reranker.rerank(index.question("total sales"), []) == []
    found = index.candidates("total sales", 4)
    with pytest.raises(EmptyInputError, match="empty"):
        reranker.rerank(index.question("  "), found)
    index.remove([c.sheet_id for c in found])
    assert reranker.rerank(index.question("total sales"), found) == []


def test_sheets_that_links_bring_in_meet_the_filters(large, tmp_path):
    spec = small_spec(large, start="links")
    reranker = GraphReranker.load(large, save_small_model(tmp_path / "linked", spec, WEIGHTS))
    first = Filters(metadata={"half": "first"})
    found = large.candidates(QUERY, 2, first)
    all_of_them, kept = (
        reranker.rerank(large.question(QUERY), found),
        reranker.rerank(large.question(QUERY), found, first),
    )
    assert 2 < len(kept) < len(all_of_them)
    halves = {r.metadata["half"] for r in large.records([c.sheet_id for c in kept]).values()}
    assert halves == {"first"}


def test_candidates_are_found_with_the_weight_the_model_was_trained_on(large, tmp_path):
    spec = small_spec(large, dense_weight=1.0, start="dense")
    retriever = SheetRetriever(large, save_small_model(tmp_path / "dense", spec), candidates=3)
    wanted = {c.sheet_id for c in large.candidates(large.question(QUERY, dense_weight=1.0), 3)}
    assert wanted != {c.sheet_id for c in large.candidates(QUERY, 3)}
    assert {hit.sheet_id for hit in retriever.retrieve(QUERY, 3)} == wanted


def test_as_many_candidates_are_found_as_the_model_was_trained_on(large, tmp_path):
    folder = save_small_model(tmp_path / "few", small_spec(large, candidates=3))
    assert SheetRetriever(large, folder).candidates == 3
    assert SheetRetriever(large, folder, candidates=7).candidates == 7
    assert SheetRetriever(large).candidates == SheetRetriever(large, None).candidates == 50
    wanted = GraphReranker.load(large, folder).rerank(
        large.question(QUERY), large.candidates(QUERY, 3)
    )
    assert [h.sheet_id for h in SheetRetriever(large, folder).retrieve(QUERY, 1)] == [
        wanted[0].sheet_id
    ]


def test_a_complete_answer_ends_where_the_reranker_says(index, tmp_path):
    sizes = {}
    for share in (0.999, 0.9, 0.001):
        spec = small_spec(index, complete_share=share)
        retriever = SheetRetriever(index, save_small_model(tmp_path / f"m{share}", spec))
        scores = [hit.score for hit in retriever.retrieve("total sales", 4)]
        sizes[share] = len(retriever.retrieve_set("total sales"))
        assert sizes[share] == sum(score >= share * scores[0] for score in scores)
    assert 1 <= sizes[0.999] < sizes[0.9] < sizes[0.001] == 4


def test_an_index_of_another_encoder_is_refused_with_both_fingerprints(saved, tmp_path):
    with SheetIndex.create(tmp_path / "other.sat", HashedEncoder(512, "other")) as other:
        said = (
            r"encoder hashed-512, but .*other\.sat was written with 'other' \(other-512\): .*"
            r"sat index FOLDER --index NEW --encoder RUN\).*"
            r"sat train reranker --kind graph --index .*other\.sat"
        )
        with pytest.raises(FingerprintMismatchError, match=said):
            GraphReranker.load(other, saved)


def test_an_index_of_int8_tokens_is_told_why(saved, tmp_path):
    encoder = HashedEncoder(512, "hashed:int8")
    with (
        SheetIndex.create(tmp_path / "small.sat", encoder) as other,
        pytest.raises(FingerprintMismatchError, match="int8 tokens are not those of fp32"),
    ):
        GraphReranker.load(other, saved)


def test_an_index_of_other_texts_is_refused(index, saved, tmp_path):
    paper = Serialization(form="paper")
    path = tmp_path / "other.sat"
    with SheetIndex.create(path, HashedEncoder(512), serialization=paper) as other:
        said = f"{index.serialization.fingerprint}.*{paper.fingerprint}"
        with pytest.raises(FingerprintMismatchError, match=said):
            GraphReranker.load(other, saved)


@pytest.mark.parametrize("damage", ["flip", "lose", "config"])
def test_a_damaged_folder_is_refused(index, saved, damage):
    if damage == "flip":
        content = (saved / "model.onnx").read_bytes()
        (saved / "model.onnx").write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    elif damage == "lose":
        (saved / "model.onnx").unlink()
    else:
        config = json.loads((saved / "config.json").read_text())
        config["spec"]["dense_weight"] = 0.9
        (saved / "config.json").write_text(json.dumps(config))
    with pytest.raises(EncoderError, match=r"(damaged|no complete reranker folder).*again"):
        GraphReranker.load(index, saved)


@pytest.mark.parametrize("change", [{"width": 64}, {"features": ()}, {"channels": ("schema",)}])
def test_a_model_of_another_shape_than_its_spec_is_refused(index, saved, tmp_path, change):
    model = (saved / "model.onnx").read_bytes()
    wrong = small_spec(index, **change)
    GRAPH.write(tmp_path / "wrong", wrong, {MODEL: lambda path: path.write_bytes(model)})
    with pytest.raises(EncoderError, match=r"not the model its config.json describes"):
        GraphModel.load(tmp_path / "wrong")


@pytest.mark.parametrize("shape", [[], ["k"], ["k", 512, 1]])
def test_inputs_of_another_rank_are_refused(index, tmp_path, shape):
    def write(path):
        scores, query, tokens = (
            helper.make_tensor_value_info(name, TensorProto.FLOAT, size)
            for name, size in (("scores", ["k"]), ("query", [512]), ("tokens", shape))
        )
        logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["k"])
        nodes = [helper.make_node("Identity", ["scores"], ["logits"])]
        graph = helper.make_graph(nodes, "bare", [query, tokens, scores], [logits])
        opset = [helper.make_opsetid("", 18)]
        onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=10), path)

    GRAPH.write(tmp_path / "bare", small_spec(index), {MODEL: write})
    with pytest.raises(EncoderError, match=r"not the model its config.json describes"):
        GraphModel.load(tmp_path / "bare")


def test_a_model_that_gives_no_numbers_is_an_error(index, tmp_path):
    broken = save_small_model(tmp_path / "nan", small_spec(index), (float("nan"), 0.0))
    reranker = GraphReranker.load(index, broken)
    with pytest.raises(EncoderError, match=r"gave NaN or infinity .* shape \(4,\)"):
        reranker.rerank(index.question("total sales"), index.candidates("total sales", 4))


def test_a_reranker_is_loaded_on_the_device_of_its_index_unless_another_is_named(saved, index):
    with SheetIndex.open(index.path, index.encoder, device="cuda") as on_gpu:
        if not gpu_count():
            with pytest.raises((EncoderError, MissingExtraError), match="CUDA"):
                GraphReranker.load(on_gpu, saved)
        assert GraphReranker.load(on_gpu, saved, device="cpu").model.spec.width == index.width


def test_threads_below_one_are_refused(saved):
    with pytest.raises(InputError, match="threads is 0"):
        GraphModel.load(saved, threads=0)
