"""Stage 2 from candidate sets to a folder that ranks without torch."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from sat_retriever.errors import EncoderError, InputError, TrainingError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.graph.graph import CandidateGraph
from sat_retriever.rank.graph.graphrank import GraphModel, GraphReranker
from sat_retriever.rank.trained import TrainedKind
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.train.loop.runfolder import RunFolder
from sat_retriever.train.loop.state import TrainingProgress
from sat_retriever.train.loop.weights import load_tensors, load_weights
from sat_retriever.train.reranker import graph as reranker
from sat_retriever.train.reranker.candidatesets import (
    CandidateSets,
    candidate_metrics,
    candidate_sets,
)
from sat_retriever.train.reranker.graph import base_weights, export_scorer
from sat_retriever.train.reranker.graphtask import logits_of
from sat_retriever.train.reranker.run import TrainedReranker
from sat_retriever.train.reranker.scorer import BaseScorer, GraphScorer, GraphShape, ScorerShape
from sat_retriever.train.reranker.train import train_reranker
from sat_retriever.train.settings import RERANKER_PRESETS, RerankerTraining
from tests.fakes import HashedEncoder
from tests.train import sheet_world

SETTINGS = RerankerTraining(
    candidates=8,
    channels=("semantic", "query", "schema", "formula_reference"),
    features=("lexical",),
    base_epochs=3,
    base_learning_rate=5e-3,
    graph_epochs=3,
    graph_learning_rate=5e-3,
    batch_size=5,
    gate=0.0,
)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Sums come in one order, so that weights can be compared bit for bit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with sheet_world.index(tmp_path_factory.mktemp("index") / "i.sat") as made:
        yield made


@pytest.fixture(scope="module")
def sets(index) -> CandidateSets:
    return candidate_sets(index, sheet_world.queries(), SETTINGS)


@pytest.fixture(scope="module")
def trained(sets, tmp_path_factory) -> TrainedReranker:
    return train_reranker(sets, sets, SETTINGS, tmp_path_factory.mktemp("run") / "run")


@pytest.fixture
def no_export(monkeypatch):
    """The export to ONNX takes most of the time here: only what reads a model needs one."""
    monkeypatch.setattr(reranker, "export_scorer", lambda scorer, spec, folder: None)


def rows(folder: Path) -> list[dict]:
    return RunFolder(folder, main=False).metrics()


def test_the_loss_falls_in_both_phases(trained):
    for phase in ("base", "graph"):
        losses = [r["loss"] for r in rows(trained.folder) if r["phase"] == phase and "loss" in r]
        assert len(losses) == 9
        assert sum(losses[-3:]) < sum(losses[:3])


def test_a_run_has_both_models_and_all_weights(trained):
    names = sorted(path.name for path in trained.folder.iterdir())
    assert names == [
        "base", "base.safetensors", "config.json", "graph.safetensors", "metrics.jsonl",
        "reranker", "result.json",
    ]  # fmt: skip
    assert GraphModel.load(trained.folder / "base").spec.layers == 0
    assert GraphModel.load(trained.folder / "reranker").spec.channels == SETTINGS.channels


def test_the_untrained_graph_competes_and_a_later_epoch_must_be_better(trained):
    epochs = [r for r in rows(trained.folder) if r["phase"] == "graph" and r["row"] == "epoch"]
    assert [row["epoch"] for row in epochs] == [0, 1, 2, 3]
    values = [row["validation"]["NDCG@5"] for row in epochs]
    assert trained.best_epoch == values.index(max(values))


def test_gates_and_channel_weights_are_measured_each_epoch(trained):
    for row in rows(trained.folder):
        if row["phase"] == "graph" and row["row"] == "epoch":
            found = row["validation"]
            assert 0 < found["gate 1"] < 1
            weights = [found[f"weight 1 {channel}"] for channel in SETTINGS.channels]
            assert sum(weights) == pytest.approx(1, abs=1e-5)
    graph = (r for r in rows(trained.folder) if r["phase"] == "graph")
    first = next(r["validation"] for r in graph if r["epoch"] == 0)
    assert first["gate 1"] == 0.5


def test_the_online_path_gives_the_trained_scorers_order(trained, sets, index):
    """Logits of torch, on padded batches, against ONNX through the whole online path."""
    base = BaseScorer(ScorerShape(16, 1))
    load_weights(trained.folder / "base.safetensors", base)
    scorer = GraphScorer(base, GraphShape(SETTINGS.channels, 1, 0.0))
    load_weights(trained.folder / "graph.safetensors", scorer)
    for folder, logits in (("base", logits_of(base, sets)), ("reranker", logits_of(scorer, sets))):
        online = GraphReranker.load(index, trained.folder / folder)
        for row, query in enumerate(sheet_world.queries()):
            found = online.rerank(
                online.index.question(query.text),
                index.candidates(index.question(query.text, dense_weight=1.0), 8),
            )
            wanted = {
                sets.sheet_ids[place]: 1 / (1 + np.exp(-float(value)))
                for place, value in zip(sets.rows[row], logits[row], strict=True)
            }
            assert {hit.sheet_id: hit.score for hit in found} == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize(("layers", "features"), [(0, ("lexical", "dense")), (2, ())])
def test_onnx_gives_torchs_logits_for_any_number_of_candidates(tmp_path, layers, features):
    torch.manual_seed(4)
    channels = ("semantic", "schema", "query", "join_key") if layers else ()
    scorer: BaseScorer | GraphScorer = BaseScorer(ScorerShape(12, len(features)))
    nn.init.normal_(scorer.perceptron[3].weight)
    if layers:
        scorer = GraphScorer(scorer, GraphShape(channels, layers, gate=0.0))
    settings = replace(SETTINGS, channels=channels, features=features, layers=layers)
    with sheet_world.index(tmp_path / "i.sat", width=12) as index:
        spec = candidate_sets(index, sheet_world.queries()[:1], settings).spec
    export_scorer(scorer, spec, tmp_path / "model")
    model = GraphModel.load(tmp_path / "model", threads=1)
    draw = np.random.default_rng(8)
    for k in (1, 2, 50, 200):
        graph = CandidateGraph(
            candidates=(),
            query=draw.normal(size=12).astype(np.float32),
            tokens=draw.normal(size=(k, 12)).astype(np.float32),
            scores=draw.random(k, dtype=np.float32),
            features=draw.random((k, len(features)), dtype=np.float32),
            relations=draw.random((len(channels), k, k), dtype=np.float32),
        )
        names = ["query", "tokens", "scores", "features", *(["relations"] if layers else [])]
        inputs = {name: torch.from_numpy(getattr(graph, name))[None] for name in names}
        with torch.no_grad():
            wanted = scorer(**inputs, mask=torch.ones(1, k, dtype=torch.bool))[0].numpy()
        np.testing.assert_allclose(model.scores(graph), wanted, atol=1e-4)


def test_any_number_of_candidates_is_reranked(trained, tmp_path):
    with SheetIndex.create(tmp_path / "many.sat", HashedEncoder(16)) as many:
        names = [f"red {number}" for number in range(200)]
        many.add_records((SheetRecord(name, name) for name in names), find_links=False)
        online = GraphReranker.load(many, trained.folder / "reranker")
        for k in (1, 2, 50, 200):
            found = online.rerank(online.index.question("red 7"), many.candidates("red 7", k))
            assert len({hit.sheet_id for hit in found}) == k
            assert all(0 <= hit.score <= 1 for hit in found)


class Killed(BaseException):
    pass


@pytest.mark.usefixtures("no_export")
def test_a_killed_training_goes_on_to_the_same_weights(trained, sets, tmp_path):
    """Killed in each phase; the uninterrupted run is another one of the same seed."""

    def kill_at(phase: str, step: int):
        def progress(standing: TrainingProgress) -> None:
            if (standing.phase, standing.step) == (phase, step):
                raise Killed

        return progress

    folder = tmp_path / "run"
    for phase, step in (("base", 4), ("graph", 5)):
        with pytest.raises(Killed):
            train_reranker(sets, sets, SETTINGS, folder, progress=kill_at(phase, step))
    again = train_reranker(sets, sets, SETTINGS, folder)
    for name in ("base", "graph"):
        ours = load_tensors(folder / f"{name}.safetensors")
        theirs = load_tensors(trained.folder / f"{name}.safetensors")
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[key], theirs[key]) for key in ours)
    assert (again.best_epoch, again.metrics) == (trained.best_epoch, trained.metrics)
    losses = [[r["loss"] for r in rows(f) if "loss" in r] for f in (folder, trained.folder)]
    assert losses[0] == losses[1]


def test_another_seed_gives_other_weights(trained, sets, tmp_path):
    steps = []

    def stop(standing: TrainingProgress) -> None:
        steps.append(standing.loss)
        if standing.step == 2:
            raise Killed

    with pytest.raises(Killed):
        train_reranker(sets, sets, replace(SETTINGS, seed=43), tmp_path / "run", progress=stop)
    first = [row["loss"] for row in rows(trained.folder) if "loss" in row]
    assert steps[-1] != first[1]


def test_a_finished_run_is_not_trained_again(trained, sets):
    def never(standing: TrainingProgress) -> None:
        raise AssertionError(standing)

    again = train_reranker(sets, sets, SETTINGS, trained.folder, progress=never)
    assert again == trained


def test_a_graph_can_start_from_another_runs_base_scorer(trained, sets, tmp_path):
    settings = replace(SETTINGS, channels=("schema",), graph_epochs=1)
    folder = tmp_path / "run"
    train_reranker(sets, sets, settings, folder, base=trained.folder)
    assert {row["phase"] for row in rows(folder)} == {"graph"}
    for name in ("base.safetensors", "base/model.onnx"):
        assert (folder / name).read_bytes() == (trained.folder / name).read_bytes()
    assert GraphModel.load(folder / "reranker").spec.channels == ("schema",)
    written = json.loads((folder / "config.json").read_text())
    with pytest.raises(TrainingError, match="another training: there base is"):
        train_reranker(sets, sets, settings, folder)
    assert written["settings"]["base"]


@pytest.mark.usefixtures("no_export")
def test_joint_training_changes_the_graphs_base_scorer_only(trained, sets, tmp_path):
    settings = replace(SETTINGS, joint=True, channels=("query",), graph_epochs=1)
    seen = []
    training = train_reranker(
        sets, sets, settings, tmp_path / "run", base=trained.folder, progress=seen.append
    )
    base = load_tensors(trained.folder / "base.safetensors")
    alone = load_tensors(training.folder / "base.safetensors")
    graph = load_tensors(training.folder / "graph.safetensors")
    assert all(torch.equal(alone[name], base[name]) for name in base)
    assert {f"base.{name}" for name in base} < graph.keys()
    moved = [name for name in base if not torch.equal(graph[f"base.{name}"], base[name])]
    assert bool(moved) == (training.best_epoch > 0)


def test_stage_1s_order_can_compete_with_the_base_scorer(sets, tmp_path, no_export, monkeypatch):
    """Trained to put irrelevant sheets first, so that no epoch is better than the start."""
    wrong = replace(sets, relevant=~sets.relevant)
    monkeypatch.setattr(TrainedKind, "copy", lambda *_: None)
    settings = replace(SETTINGS, layers=0, keep_start=True, base_epochs=1)
    made = train_reranker(wrong, sets, settings, tmp_path / "run")
    assert made.best_epoch == 0
    assert made.metrics == candidate_metrics(sets, sets.scores)
    first = rows(made.folder)[0]
    assert (first["epoch"], first["row"]) == (0, "epoch")


@pytest.mark.parametrize(
    "changed",
    [
        {"start": "best"},
        {"candidates": 0},
        {"layers": -1},
        {"dense_weight": 1.5},
        {"dropout": 1.0},
        {"gate": float("nan")},
        {"list_weight": -1.0},
        {"list_weight": 0.0, "bce_weight": 0.0, "pair_weight": 0.0},
        {"margin": float("inf")},
        {"base_epochs": 0},
        {"graph_learning_rate": 0.0},
    ],
)
def test_settings_out_of_range_are_refused(changed):
    with pytest.raises(InputError, match=r"; (give|choose)"):
        RerankerTraining(**changed)


def test_the_presets_have_the_papers_values():
    first, second = RERANKER_PRESETS["industrytab_1k"], RERANKER_PRESETS["industrytab_614"]
    assert first == RerankerTraining()
    assert (first.gate, second.gate) == (-4.0, -6.0)
    assert set(second.channels) - set(first.channels) == {"aggregation"}


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"features": ()}, "reads something else"),
        ({"candidates": 4}, "reads something else"),
    ],
)
def test_a_base_scorer_of_other_inputs_is_refused(trained, index, tmp_path, changed, error):
    settings = replace(SETTINGS, **changed)
    other = candidate_sets(index, sheet_world.queries(), settings)
    with pytest.raises(TrainingError, match=error):
        train_reranker(other, other, settings, tmp_path / "run", base=trained.folder)


def test_a_base_that_is_no_run_is_refused(sets, tmp_path):
    with pytest.raises(TrainingError, match="no base scorer to start from"):
        train_reranker(sets, sets, SETTINGS, tmp_path / "run", base=tmp_path / "nowhere")


def test_nothing_to_train_is_refused(trained, sets, tmp_path):
    with pytest.raises(InputError, match="nothing is left to train"):
        settings = replace(SETTINGS, layers=0)
        train_reranker(sets, sets, settings, tmp_path / "run", base=trained.folder)


def test_sets_of_other_settings_are_refused(sets, tmp_path):
    with pytest.raises(InputError, match="built with other settings"):
        train_reranker(sets, sets, replace(SETTINGS, start="fused"), tmp_path / "run")


# ---- beginning with another reranker's base scorer


@pytest.mark.parametrize("name", ["base", "reranker"])
def test_a_base_scorer_comes_back_from_its_folder_with_a_graph_over_it_or_without(
    trained, sets, name
):
    found = base_weights(trained.folder / name, sets.spec)
    expected = load_tensors(trained.folder / "base.safetensors")
    assert found.keys() == expected.keys()
    assert all(torch.equal(value, expected[key]) for key, value in found.items())


def test_a_training_begins_where_another_ended_and_keeps_it_if_nothing_is_better(
    trained, sets, tmp_path, monkeypatch
):
    settings = replace(SETTINGS, layers=0, keep_start=True, base_learning_rate=1e-12)
    seen = []
    monkeypatch.setattr(reranker, "export_scorer", lambda made, *_: seen.append(made.state_dict()))
    monkeypatch.setattr(TrainedKind, "copy", lambda *_: None)
    ended = train_reranker(
        sets, sets, settings, tmp_path / "run", start_from=trained.folder / "base"
    )
    base = BaseScorer(ScorerShape(sets.spec.width, 1))
    load_weights(trained.folder / "base.safetensors", base)
    first = next(row for row in rows(tmp_path / "run") if row["row"] == "epoch")
    assert first["validation"]["NDCG@5"] == candidate_metrics(sets, logits_of(base, sets))["NDCG@5"]
    assert ended.best_epoch == first["epoch"] == 0
    torch.testing.assert_close(seen[0], dict(base.state_dict()), atol=0, rtol=0)


def test_without_layers_the_reranker_is_the_base_scorer_and_has_one_beginning(
    trained, sets, tmp_path
):
    settings, start = replace(SETTINGS, layers=0), trained.folder / "base"
    made = train_reranker(sets, sets, settings, tmp_path / "run", start_from=start)
    assert not (made.folder / "graph.safetensors").exists()
    base, whole = ((made.folder / name / "model.onnx") for name in ("base", "reranker"))
    assert base.read_bytes() == whole.read_bytes()
    assert train_reranker(sets, sets, settings, tmp_path / "run", start_from=start) == made
    for other in (None, made.folder / "base"):
        with pytest.raises(TrainingError, match="start_from"):
            train_reranker(sets, sets, settings, tmp_path / "run", start_from=other)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"features": ("dense",)}, r"with features \('dense',\) .* which has \('lexical',\)"),
        ({"start": "fused"}, "with start fused .* which has dense"),
    ],
)
def test_a_beginning_that_reads_something_else_is_refused_and_the_folder_is_free(
    trained, index, tmp_path, changed, said, no_export
):
    settings = replace(SETTINGS, **changed)
    sets = candidate_sets(index, sheet_world.queries(), settings)
    with pytest.raises(TrainingError, match=said):
        train_reranker(sets, sets, settings, tmp_path / "run", start_from=trained.folder / "base")
    assert not (tmp_path / "run").exists()


def test_a_beginning_that_is_none_is_refused(trained, sets, tmp_path):
    both = {"base": trained.folder, "start_from": trained.folder / "base"}
    with pytest.raises(InputError, match="leave out start_from"):
        train_reranker(sets, sets, SETTINGS, tmp_path / "run", **both)
    with pytest.raises(EncoderError, match="no complete reranker"):
        train_reranker(sets, sets, SETTINGS, tmp_path / "run", start_from=tmp_path / "none")
    new = BaseScorer(ScorerShape(sets.spec.width, 1))
    export_scorer(new, replace(sets.spec, channels=(), layers=0), tmp_path / "new")
    with pytest.raises(TrainingError, match="has never learnt"):
        train_reranker(sets, sets, SETTINGS, tmp_path / "run", start_from=tmp_path / "new")
