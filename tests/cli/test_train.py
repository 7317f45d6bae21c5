"""`sat train` on a tiny corpus and a tiny transformer: options, journeys, errors."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import sys
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from sat_retriever import InputError, SheetEncoder, SheetIndex
from sat_retriever._extras import install_command
from sat_retriever.cli import main
from sat_retriever.cli.train.fields import option_name, settings_of, shown
from sat_retriever.cli.train.session import TrainingBar
from sat_retriever.train.loop.summary import read_run
from sat_retriever.train.settings import (
    CrossEncoderTraining,
    EncoderTraining,
    FeatureTraining,
    RerankerTraining,
)
from tests.cli.conftest import Run, run_sat
from tests.modelserver import Reaction, always, ollama
from tests.saved_encoder import save_bag_of_words
from tests.tiny_transformer import COMPANIES, SUBJECTS, YEARS, save_tiny
from tests.training_corpus import write_corpus, write_labels, write_workbooks

KINDS = {
    "encoder": [EncoderTraining()],
    "reranker": [FeatureTraining(), RerankerTraining(), CrossEncoderTraining()],
}
SMALL = ("--batch-size", 8, "--learning-rate", 0.003, "--max-length", 32)


def run_here(*arguments: object) -> Run:
    """The command in this process, for fixtures that several tests share."""
    out, err = io.StringIO(), io.StringIO()
    before = sys.argv
    sys.argv = ["sat", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
        return Run(code, out.getvalue(), err.getvalue())
    finally:
        sys.argv = before
    raise AssertionError("the command did not end")


def ran(*arguments: object) -> Run:
    run = run_here(*arguments)
    assert run.code == 0, run.err
    return run


# ---- a place to train at


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    write_corpus(folder / "corpus")
    write_workbooks(folder / "books")
    write_labels(folder / "labels.csv")
    save_bag_of_words(folder / "bag", [*COMPANIES, *YEARS, *SUBJECTS])
    ran("index", folder / "books", "-i", folder / "own.sat", "--encoder", folder / "bag")
    return folder


@pytest.fixture(scope="module")
def tiny(desk):
    for module in ("torch", "transformers", "accelerate", "onnxscript"):
        pytest.importorskip(module, reason="pip install '.[train]'")
    return save_tiny(desk / "tiny")


@contextlib.contextmanager
def stopping_at_the_second_step():
    """Ctrl-C of a user who watches."""
    tell = TrainingBar.training

    def stop(self, standing):
        tell(self, standing)
        if (standing.doing, standing.step) == ("training", 2):
            signal.raise_signal(signal.SIGINT)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TrainingBar, "training", stop)
        yield


@dataclass(frozen=True)
class EncoderRun:
    """Stage 1 trained on an own index with labels: stopped, looked at, gone on with."""

    out: Path
    command: tuple[object, ...]
    stopped: Run
    looked_at: Run
    ended: Run


@pytest.fixture(scope="module")
def encoder_run(desk, tiny):
    out = desk / "run"
    own = ("--index", desk / "own.sat", "--labels", desk / "labels.csv", "--share", 0.2)
    options = ("--backbone", tiny, "--trained-layers", "all", "--epochs", 2, *SMALL)
    command = ("train", "encoder", *own, "--out", out, *options)
    with stopping_at_the_second_step():
        stopped = run_here(*command)
    return EncoderRun(out, command, stopped, ran("train", "status", out), ran(*command))


@pytest.fixture(scope="module")
def reranker_run(desk, encoder_run):
    """Stage 2 trained on the index of the trained encoder, and what was printed."""
    ran("index", desk / "books", "-i", desk / "new.sat", "--encoder", encoder_run.out)
    out = desk / "rerank"
    own = ("--index", desk / "new.sat", "--labels", desk / "labels.csv", "--share", 0.2)
    epochs = ("--kind", "graph", "--base-epochs", 2, "--graph-epochs", 1, "--batch-size", 8)
    return out, ran("train", "reranker", *own, "--encoder", encoder_run.out, "--out", out, *epochs)


# ---- options


@pytest.mark.parametrize("name", ["", *KINDS, "status"])
def test_help_has_examples_and_fits_80_columns(name, sat, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    run = sat("train", *filter(None, [name]), "--help")
    assert run.code == 0
    assert f"$ sat train {name}".rstrip() in run.out
    assert max(len(line.rstrip()) for line in run.out.splitlines()) <= 80


@pytest.mark.parametrize("name", KINDS)
def test_every_setting_is_an_option_with_its_default_and_its_meaning(name, sat, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    lines = sat("train", name, "--help").out.splitlines()
    for settings in KINDS[name]:
        for field in fields(settings):
            found = [line for line in lines if line.startswith(f"│ {option_name(field.name)} ")]
            assert len(found) == 1, field.name
            default = found[0].rpartition("[")[2].partition("]")[0]
            value = shown(getattr(settings, field.name))
            of_kinds = [part.rpartition(" ")[2] for part in default.split(", ")]
            assert value == default or value in of_kinds
            meaning = found[0].partition(option_name(field.name))[2]
            assert len(meaning.split()) >= 5, meaning


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        (EncoderTraining, {"trained_layers": "all"}, {"trained_layers": None}),
        (EncoderTraining, {"trained_layers": "2"}, {"trained_layers": 2}),
        (RerankerTraining, {"joint": True, "layers": 3}, {"joint": True, "layers": 3}),
        (RerankerTraining, {"channels": "schema, join_key"}, {"channels": ("schema", "join_key")}),
        (RerankerTraining, {"channels": "none", "layers": 0}, {"channels": (), "layers": 0}),
        (RerankerTraining, {"dense_weight": "own"}, {"dense_weight": None}),
        (CrossEncoderTraining, {"dense_weight": "0.5"}, {"dense_weight": 0.5}),
        (CrossEncoderTraining, {"blend": "0,2.5"}, {"blend": (0.0, 2.5)}),
        (EncoderTraining, {"seed": None, "corpus": "x"}, {}),
    ],
)
def test_what_is_given_is_read_as_the_fields_type(kind, given, expected):
    assert settings_of(kind(), given) == kind(**expected)


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (EncoderTraining, {"trained_layers": "some"}, "--trained-layers: 'some' is not a whole"),
        (CrossEncoderTraining, {"blend": "1,x"}, "--blend: 'x' is not a number"),
    ],
)
def test_a_value_that_cannot_be_read_is_named(kind, given, message):
    with pytest.raises(InputError, match=message):
        settings_of(kind(), given)


# ---- wrong usage


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("encoder", 2, "give exactly one source of training data"),
        ("encoder --corpus corpus --spider corpus", 2, "give exactly one source of training data"),
        ("encoder --index own.sat", 2, "--index needs --labels FILE"),
        ("encoder --corpus corpus --labels labels.csv", 2, "--labels is only valid with --index"),
        (
            "encoder --index own.sat --labels labels.csv --split grouped",
            2,
            "is only valid with --corpus",
        ),
        ("encoder --corpus corpus --hold-out workbook", 2, "--hold-out is only valid with --index"),
        ("encoder --corpus corpus --share 0.2", 2, "--share is only valid with --index"),
        ("encoder --index own.sat --labels labels.csv --share 2", 2, "between 0 and 1"),
        ("encoder --corpus corpus --split odd", 2, "'odd'"),
        ("encoder --corpus corpus --loss odd", 2, "'odd'"),
        ("encoder --corpus corpus --epochs 0", 2, "epochs is 0"),
        ("encoder --corpus corpus --epochs few", 2, "Invalid value for '--epochs'"),
        ("encoder --corpus corpus --preset odd", 2, "no preset 'odd'; choose one of: paper"),
        ("encoder --corpus books", 2, "holds none of query.json"),
        (
            "reranker --corpus corpus --encoder tiny --kind graph --channels none",
            2,
            "layers is 1 without a ch",
        ),
        ("reranker --corpus corpus --layers 2", 2, "--layers is a setting of --kind graph, not of"),
        ("reranker --corpus corpus --kind odd", 2, "'odd'"),
        ("reranker --corpus corpus --bound 0", 2, "bound is 0.0"),
        ("encoder --index none.sat --labels labels.csv", 1, "none.sat"),
        ("encoder --index own.sat --labels gone.csv", 2, "gone.csv is missing"),
        ("encoder --corpus corpus --backbone ./gone", 1, "'./gone' is neither an existing"),
        ("reranker --corpus corpus", 2, "name the Sheet Encoder with --encoder"),
        (
            "reranker --corpus corpus --kind cross-encoder",
            2,
            "name the Sheet Encoder with --encoder",
        ),
        ("status books", 1, "books is no run of sat train"),
    ],
)
def test_what_does_not_go_says_why_and_what_to_do(
    words, code, message, sat, desk, tiny, monkeypatch
):
    monkeypatch.chdir(desk)
    out = () if words.startswith("status") else ("--out", "odd")
    run = sat("train", *words.split(), *out)
    assert (run.code, message in " ".join(run.err.split())) == (code, True), run.err
    assert not [file for file in desk.glob("odd/*") if file.name != ".index"]


def test_labels_about_other_sheets_are_counted_and_named(sat, desk, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("query,sheet_id,relevance\nsales,gone.csv#gone,1\n", encoding="utf-8")
    run = sat(
        "train", "encoder", "-i", desk / "own.sat", "--labels", labels, "--out", tmp_path / "r"
    )
    assert run.code == 2
    said = " ".join(run.err.split())
    assert "1 of the sheets that the labels name (in 1 of the questions) are not in" in said
    assert "'gone.csv#gone'" in said


def test_a_missing_extra_is_named_with_the_command(sat, desk, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "accelerate", None)
    run = sat("train", "encoder", "--corpus", desk / "corpus", "--out", tmp_path / "run")
    assert run.code == 1
    assert install_command("train") in run.err


@pytest.mark.parametrize(("rank", "said"), [("0", True), ("1", False)])
def test_of_several_processes_only_the_first_one_speaks(rank, said, sat, desk, monkeypatch):
    monkeypatch.setenv("RANK", rank)
    run = sat("train", "encoder", "--corpus", desk / "books", "--out", desk / "odd")
    assert (run.code, bool(run.err)) == (2, said)


# ---- Stage 1


@pytest.mark.slow
def test_the_result_is_summed_up_with_the_next_command(encoder_run, desk):
    out, run = encoder_run.out, encoder_run.ended
    assert "labels.csv over own.sat" in run.err
    assert "27 questions to learn from, 6 to choose with" in run.err
    assert "run, encoder, own, finished" in run.out.replace(f"{desk}/", "")
    assert "NDCG@5" in run.out
    assert "peak memory" in run.out
    assert "not measured before" not in run.out
    weight = read_run(out).phases[-1].best.validation["dense_weight"]
    assert f"with cosine weight {weight:g} and word weight {1 - weight:g}: " in run.out
    assert SheetEncoder.load(out / "encoder").dense_weight == weight
    flat = run.out.replace("\n", "")
    assert f"sat index {desk / 'books'} --index new.sat --encoder {out / 'encoder'}" in flat


@pytest.mark.slow
def test_the_run_folder_says_how_it_was_trained(encoder_run):
    run = read_run(encoder_run.out)
    assert run.finished
    assert (run.settings["epochs"], run.settings["trained_layers"]) == (2, None)
    assert [each.epoch for each in run.phases[0].epochs][-1] == 2
    assert len(run.phases[0].losses) == 2 * 4  # 27 questions in batches of 8
    assert run.phases[0].best is not None
    assert run.seconds > 0
    assert run.memory_mib > 10


@pytest.mark.slow
def test_status_shows_the_same_to_people_and_to_programs(encoder_run, sat):
    out, first = encoder_run.out, encoder_run.ended
    shown_again = sat("train", "status", out).out
    assert [line for line in first.out.splitlines() if "best" in line] == [
        line for line in shown_again.splitlines() if "best" in line
    ]
    facts = json.loads(sat("train", "status", out, "--json").out)
    kept = read_run(out).phases[-1].best
    assert (facts["best_epoch"], facts["after"]) == (kept.epoch, kept.validation["NDCG@5"])
    assert facts["settings"]["backbone"].endswith("tiny")


@pytest.mark.slow
def test_the_same_command_again_trains_nothing_anew(encoder_run, sat):
    written = (encoder_run.out / "encoder" / "model.onnx").stat().st_mtime_ns
    assert sat(*encoder_run.command).code == 0
    assert (encoder_run.out / "encoder" / "model.onnx").stat().st_mtime_ns == written
    other = sat(*encoder_run.command, "--seed", 43)
    assert other.code == 1
    assert "seed" in other.err


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on_and_the_same_command_does(encoder_run):
    stopped = encoder_run.stopped
    assert (stopped.code, "run the same command to continue" in stopped.err) == (130, True)
    assert "not finished" in encoder_run.looked_at.out
    assert encoder_run.ended.code == 0
    rows = (encoder_run.out / "metrics.jsonl").read_text().splitlines()
    steps = [json.loads(row)["step"] for row in rows if '"step", ' in row]
    assert steps == list(range(1, 9))  # each was taken once


# ---- Stage 2 and the Cross-Encoder


@pytest.mark.slow
def test_the_trained_reranker_is_what_search_takes(reranker_run, desk, sat):
    out, run = reranker_run
    assert read_run(out).data["name"] == "new"
    assert f"--reranker {out / 'reranker'}" in run.out.replace("\n", "")
    assert "note: the Sheet Encoder was trained on other" not in run.err
    words = ("search", "sales in 2022", "-i", desk / "new.sat", "--json")
    hits = {
        named: json.loads(sat(*words, "--reranker", named).out)["hits"]
        for named in ("links", "none", out, out / "reranker")
    }
    assert all(len(found) == 5 for found in hits.values())
    assert hits[out] == hits[out / "reranker"]
    assert [hit["score"] for hit in hits[out]] != [hit["score"] for hit in hits["none"]]


@pytest.mark.slow
def test_a_reranker_of_other_tokens_and_what_is_none_are_refused(reranker_run, desk, sat):
    words = ("search", "sales", "-i", desk / "own.sat", "--reranker")
    other = sat(*words, reranker_run[0])
    assert other.code == 1
    assert "was trained with tokens of encoder" in other.err
    none = sat(*words, desk / "books")
    assert none.code == 2
    assert "holds no trained reranker" in none.err


@pytest.mark.slow
def test_an_index_of_other_tokens_is_refused_with_the_command_to_index_anew(
    encoder_run, desk, sat, tmp_path
):
    own = ("--index", desk / "own.sat", "--labels", desk / "labels.csv")
    run = sat("train", "reranker", *own, "--encoder", encoder_run.out, "--out", tmp_path / "r")
    assert run.code == 1
    said = " ".join(run.err.split())
    assert f"sat index {desk / 'books'} --index NEW.sat --encoder {encoder_run.out}" in said


@pytest.mark.slow
def test_an_encoder_trained_on_other_questions_is_noted(reranker_run, encoder_run, desk, sat):
    own = ("--index", desk / "new.sat", "--labels", desk / "labels.csv")  # share 0.1, not 0.2
    with stopping_at_the_second_step():  # it is noted before anything is trained
        run = sat("train", "reranker", *own, "--out", desk / "other")
    assert run.code == 130
    assert "note: the Sheet Encoder was trained on other questions" in " ".join(run.err.split())


@pytest.mark.slow
def test_a_grouped_corpus_is_trained_without_held_out_sheets(desk, tiny, sat):
    out = desk / "grouped"
    words = ("--corpus", desk / "corpus", "--split", "grouped", "--encoder", desk / "bag")
    epochs = ("--kind", "graph", "--base-epochs", 1, "--layers", 0)
    run = sat("train", "reranker", *words, "--out", out, *epochs)
    assert run.code == 0, run.err
    assert "corpus, grouped: 7 questions to learn from, 7 to choose with; 19 left out" in run.err
    assert not (out / ".index").exists()
    with SheetIndex.open(out / "index.sat") as opened:
        assert len(opened) == 36
        assert {link.type for link in opened.all_links()} == {"formula_reference"}
    assert f"--index {out / 'index.sat'} --reranker" in run.out.replace("\n", "")
    assert sat("train", "reranker", *words, "--out", out, *epochs).code == 0


def test_a_servers_encoder_finds_candidates_for_a_training_on_the_processor(
    desk, tmp_path, monkeypatch
):
    pytest.importorskip("torch", reason="pip install '.[train]'")
    small = ("--kind", "graph", "--base-epochs", 1, "--layers", 0, "--device", "cpu")
    with ollama(always(Reaction()), models=("small:latest",)) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        words = ("--corpus", desk / "corpus", "--encoder", "ollama:small")
        ran("train", "reranker", *words, "--out", tmp_path / "r", *small)
    with SheetIndex.open(tmp_path / "r" / "index.sat") as opened:
        assert opened.encoder_name == "ollama:small"


def test_the_reranker_of_the_packages_kind_is_what_search_takes(desk, tmp_path, sat):
    pytest.importorskip("torch", reason="pip install '.[train]'")
    own = ("-i", desk / "own.sat", "--labels", desk / "labels.csv", "--share", 0.2)
    ran("train", "reranker", *own, "--out", tmp_path / "r", "--epochs", 2)
    assert [each.epoch for each in read_run(tmp_path / "r").phases[0].epochs] == [0, 1, 2]
    words = ("search", "sales in 2022", "-i", desk / "own.sat", "--json")
    found = sat(*words, "--reranker", tmp_path / "r")
    assert len(json.loads(found.out)["hits"]) == 5


@pytest.mark.slow
def test_the_cross_encoder_is_what_search_takes(desk, tiny, sat):
    out = desk / "cross"
    words = ("--corpus", desk / "corpus", "--encoder", desk / "bag", "--backbone", tiny)
    small = ("--kind", "cross-encoder", "--epochs", 1, "--max-length", 48)
    run = sat("train", "reranker", *words, "--out", out, *small)
    assert run.code == 0, run.err
    found = sat("search", "sales in 2022", "-i", out / "index.sat", "--reranker", out, "--json")
    assert len(json.loads(found.out)["hits"]) == 5


@pytest.mark.slow
def test_it_runs_in_a_process_of_its_own(encoder_run):
    run = run_sat("train", "status", encoder_run.out, PYTHONIOENCODING="ascii")
    assert run.code == 0
    assert "validation NDCG@5" in run.out
    assert "?" not in run.out.replace("…", "")
