"""`sat adapt` on a small made corpus and a tiny transformer: kept, not kept, stopped, gone on."""

from __future__ import annotations

import contextlib
import csv
import json
import shutil
import signal
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from sat_retriever import Column, SheetEncoder, SheetIndex, SheetRecord, SheetRetriever
from sat_retriever.cli.train.session import TrainingBar
from sat_retriever.encoder.models.folder import file_hash
from sat_retriever.errors import TrainingError
from sat_retriever.rank.graph.graphrank import GRAPH
from sat_retriever.train.adapt.outcome import next_verdict
from sat_retriever.train.adapt.settings import AdaptSettings
from sat_retriever.train.loop.summary import read_run
from tests.cli.conftest import Run
from tests.cli.test_train import ran, run_here
from tests.rank.graph.small_model import base_spec, save_base_scorer
from tests.saved_encoder import save_bag_of_words
from tests.tiny_transformer import save_tiny
from tests.train.adapt.corpus import WORDS, sheet_id, write_books

SMALL = ("--number", 150, "--share", 0.4, "--trained-layers", "all", "--max-length", 32,
         "--batch-size", 16, "--learning-rate", 0.003, "--stage-2-epochs", 2,
         "--candidates", 20)  # fmt: skip


@dataclass(frozen=True)
class Desk:
    """Where the tests work.

    Attributes:
        folder: For all files.
        plain: An index that knows the words.
        blind: One whose encoder knows none, and that goes by it alone.
        tiny: What Stage 1 starts from.
    """

    folder: Path
    plain: Path
    blind: Path
    tiny: Path


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    for module in ("torch", "transformers", "accelerate", "onnxscript"):
        pytest.importorskip(module, reason="pip install '.[train]'")
    folder = tmp_path_factory.mktemp("desk")
    books = write_books(folder / "books")
    for name, words, weight in (("plain", WORDS, None), ("blind", (), 1.0)):
        bag = SheetEncoder.load(save_bag_of_words(folder / f"{name} bag", words))
        made = SheetIndex.create(folder / f"{name}.sat", bag, dense_weight=weight)
        with made:
            made.sync(books)
    tiny = save_tiny(folder / "tiny", max_length=32)
    return Desk(folder, folder / "plain.sat", folder / "blind.sat", tiny)


def tokens_of(file: Path):
    with SheetIndex.open(file) as opened:
        ids = opened.sheet_ids()
        return opened.fingerprint, opened.search.tokens(ids).tobytes(), opened.dense_weight


@contextlib.contextmanager
def stopping(method: str, *wanted: object):
    """Ctrl-C of a user who watches, when the bar is told this."""
    tell = getattr(TrainingBar, method)

    def stop(self, *told):
        tell(self, *told)
        said = told if method == "counting" else (told[0].phase, told[0].doing, told[0].step)
        if said[: len(wanted)] == wanted:
            signal.raise_signal(signal.SIGINT)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TrainingBar, method, stop)
        yield


@dataclass(frozen=True)
class Journey:
    """An adaptation that was stopped in every part of it, and came to its end."""

    command: tuple[object, ...]
    stopped: tuple[Run, ...]
    untouched: tuple[bool, ...]
    ended: Run
    before: tuple[object, ...]


@pytest.fixture(scope="module")
def journey(desk):
    command = ("adapt", "--index", desk.blind, "--backbone", desk.tiny, "--epochs", 2, *SMALL)
    before = tokens_of(desk.blind)
    stopped, untouched = [], []
    for place in (
        ("counting", "making questions"),
        ("training", "stage-1", "training", 3),
        ("counting", "judging"),
        ("counting", "candidates", 20),
        ("training", "graph", "training", 2),
        ("counting", "encoding the index anew"),
    ):
        with stopping(*place):
            stopped.append(run_here(*command))
        untouched.append(tokens_of(desk.blind) == before)
    return Journey(command, tuple(stopped), tuple(untouched), ran(*command, "--json"), before)


# ---- better than before


@pytest.mark.slow
def test_stopped_anywhere_the_index_is_as_it_was_and_the_same_command_goes_on(journey, desk):
    assert [run.code for run in journey.stopped] == [130] * 6, journey.stopped
    assert all("run the same command to continue" in run.err for run in journey.stopped)
    assert all(journey.untouched)
    run = read_run(desk.folder / "blind.sat.adapt" / "stage-1")
    rows = (run.path / "metrics.jsonl").read_text().splitlines()
    steps = [json.loads(row)["step"] for row in rows if '"row": "step"' in row]
    assert steps == list(range(1, len(steps) + 1))  # each was taken once
    runs = [read_run(desk.folder / "blind.sat.adapt" / name) for name in ("stage-1", "stage-2")]
    assert json.loads(journey.ended.out)["seconds"] > sum(each.seconds for each in runs)


@pytest.mark.slow
def test_a_better_encoder_is_in_the_index_and_the_table_says_how_much(journey, desk):
    facts = json.loads(journey.ended.out)
    first, second = facts["rows"][:2]
    assert (facts["replaced"], second["kept"]) == (True, True)
    assert second["ndcg"] > first["ndcg"]
    assert second["ahead"]["low"] > 0
    assert second["ahead"]["mean"] == pytest.approx(second["ndcg"] - first["ndcg"])
    folder = desk.folder / "blind.sat.adapt"
    with SheetIndex.open(desk.blind) as opened:
        assert opened.encoder_name == str(folder / "stage-1" / "encoder") == facts["encoder"]
        assert opened.dense_weight == opened.encoder.dense_weight == facts["dense_weight"]
        wanted = opened.encoder.encode_sheets(["x"]).shape
        assert wanted == (1, opened.width)
        assert len(opened.candidates("sales report of beta in 2022", 5)) == 5
    assert not (folder / ".drafts").exists()
    assert facts["counts"]["train"] > 50
    assert facts["counts"]["families_held_out"] >= 2


@pytest.mark.slow
def test_the_trained_reranker_is_there_for_search_whether_it_is_better_or_not(journey, desk, sat):
    facts = json.loads(journey.ended.out)
    run = desk.folder / "blind.sat.adapt" / "stage-2"
    assert (facts["reranker"] is not None) == facts["rows"][2]["kept"]
    with SheetIndex.open(desk.blind) as opened:
        assert opened.reranker_name == facts["reranker"]
    found = sat("search", "payroll of gamma", "-i", desk.blind, "--reranker", run, "--json")
    assert len(json.loads(found.out)["hits"]) == 5


@pytest.mark.slow
def test_index_and_folder_may_be_moved_together(journey, desk, tmp_path):
    there = tmp_path / "there"
    shutil.copytree(desk.folder / "blind.sat.adapt", tmp_path / "here" / "blind.sat.adapt")
    with SheetIndex.open(desk.blind) as opened:
        opened.copied(tmp_path / "here" / "blind.sat").close()
    with SheetIndex.open(tmp_path / "here" / "blind.sat") as opened:
        run = tmp_path / "here" / "blind.sat.adapt"
        opened.reencode(SheetEncoder.load(run / "stage-1" / "encoder"), reranker=run / "stage-2")
    (tmp_path / "here").rename(there)
    with SheetIndex.open(there / "blind.sat") as opened:
        assert opened.encoder_name == str(there / "blind.sat.adapt" / "stage-1" / "encoder")
        assert opened.reranker_name == str(there / "blind.sat.adapt" / "stage-2")
        assert SheetRetriever(opened).retrieve("payroll of gamma", 5)
        opened.name_reranker(None)
    (there / "blind.sat").rename(tmp_path / "alone.sat")  # the folder stays
    with SheetIndex.open(tmp_path / "alone.sat") as opened:
        assert opened.encoder_name == str(there / "blind.sat.adapt" / "stage-1" / "encoder")
        assert opened.reranker_name is None


@pytest.mark.slow
def test_the_same_command_again_shows_the_same_and_does_nothing(journey, desk, sat):
    before = tokens_of(desk.blind)
    assert before != journey.before
    shown = sat(*journey.command)
    assert shown.code == 0, shown.err
    assert tokens_of(desk.blind) == before
    for said in ("adapted encoder", "adapted encoder and reranker", "NDCG@5", "kept", "keep that"):
        assert said in shown.out
    again = json.loads(sat(*journey.command, "--json").out)
    assert again == json.loads(journey.ended.out)


@pytest.mark.parametrize(
    ("option", "said"),
    [(("--epochs", 3), "epochs is 2, here it is 3"), (("--seed", 1), "seed is 42, here it is 1")],
)
@pytest.mark.slow
def test_other_options_in_the_same_folder_are_named(option, said, journey, desk, sat):
    run = sat(*journey.command, *option)
    assert run.code == 1
    assert said in " ".join(run.err.split())


@pytest.mark.slow
def test_other_sheets_in_the_same_folder_are_refused(journey, desk, tmp_path, sat):
    shutil.copytree(desk.folder / "blind.sat.adapt", tmp_path / "run")
    other = ("adapt", "--index", desk.plain, *journey.command[3:], "--out", tmp_path / "run")
    run = sat(*other)
    assert run.code == 1
    assert "holds another training" in " ".join(run.err.split())


@pytest.mark.slow
def test_what_was_learnt_from_other_sheets_is_refused(journey, desk, tmp_path, sat):
    with SheetIndex.open(desk.blind) as adapted:
        encoder = adapted.encoder
    file = tmp_path / "other.sat"
    with SheetIndex.create(file, encoder) as other:
        other.add_records([SheetRecord("elsewhere", "elsewhere", columns=(Column("Amount"),))])
    run = sat("adapt", "--index", file, *journey.command[3:], "--out", f"{desk.blind}.adapt")
    assert run.code == 1
    assert "sheets that it learnt from are not in" in " ".join(run.err.split())
    assert tokens_of(file)[0] == encoder.fingerprint


@pytest.mark.slow
def test_sheets_may_come_and_go_while_it_learns_and_before_it_is_taken(desk, tmp_path):
    from sat_retriever.train.adapt import adapt as module

    file = tmp_path / "busy.sat"
    with SheetIndex.open(desk.plain) as opened:
        ids = opened.sheet_ids()
        opened.copied(file).close()
    new = SheetRecord("new", "new", columns=(Column("Amount"), Column("Region")))
    command = ("adapt", "-i", file, "--backbone", desk.tiny, "--epochs", 1, *SMALL)

    def better(*given, sure):
        return replace(next_verdict(*given, sure=sure), kept=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "next_verdict", better)
        for place, gone in (
            (("training", "stage-1", "training", 2), ids[0]),
            (("counting", "encoding the index anew"), ids[-1]),
        ):
            with stopping(*place):
                assert run_here(*command).code == 130
            with SheetIndex.open(file) as opened:
                opened.remove([gone])
                opened.add_records([new])
        facts = json.loads(ran(*command, "--json").out)
    assert facts["counts"]["sheets"] == len(ids)  # that it learnt from
    with SheetIndex.open(file) as opened:
        assert opened.encoder_name == facts["encoder"]
        assert set(opened.sheet_ids()) == {*ids[1:-1], "new"}
        assert opened.candidates("amount by region", 5)


@pytest.mark.slow
def test_an_adapted_index_is_adapted_again_from_its_own_weights(journey, desk, tmp_path, sat):
    file = Path(shutil.copy(desk.blind, tmp_path / "again.sat"))
    with stopping("training", "stage-1", "training", 1):
        run = sat("adapt", "-i", file, *SMALL)
    assert run.code == 130, run.err
    settings = read_run(tmp_path / "again.sat.adapt" / "stage-1").settings
    assert settings["backbone"] == str(
        desk.folder / "blind.sat.adapt" / "stage-1" / "sentence-transformers"
    )


@pytest.mark.slow
def test_the_share_of_the_cosine_that_came_with_the_encoder_is_kept(
    journey, desk, tmp_path, monkeypatch
):
    from sat_retriever.train.adapt import adapt as module

    shares = []

    def looked(data, *_, **__):
        shares.append(data.shares)
        raise TrainingError("looked at")

    monkeypatch.setattr(module, "train_encoder", looked)
    small = AdaptSettings(number=150, share=0.4)
    for name, file in (("adapted", desk.blind), ("plain", desk.plain)):
        backbone = "own" if name == "adapted" else str(desk.tiny)
        with (
            SheetIndex.open(shutil.copy(file, tmp_path / f"{name}.sat")) as index,
            pytest.raises(TrainingError, match="looked at"),
        ):
            module.adapt(index, tmp_path / name, replace(small, backbone=backbone))
    learnt = SheetEncoder.load(desk.folder / "blind.sat.adapt" / "stage-1" / "encoder")
    assert shares[0] == (learnt.dense_weight,)
    assert len(shares[1]) > 1


# ---- an index with a trained reranker


@pytest.fixture(scope="module")
def twice(journey, desk, tmp_path_factory):
    """The adapted index with a trained reranker, adapted again: its encoder counts as better."""
    from sat_retriever.train.adapt import adapt as module

    folder = tmp_path_factory.mktemp("twice")
    file = Path(shutil.copy(desk.blind, folder / "again.sat"))
    with SheetIndex.open(file) as opened:
        save_base_scorer(folder / "reranker", base_spec(opened), scale=-100)  # a bad one
        opened.name_reranker(folder / "reranker")
    better = iter([True, False])

    def judged(*given, sure):
        return replace(next_verdict(*given, sure=sure), kept=next(better))

    command = ("adapt", "-i", file, "--epochs", 1, *SMALL, "--learning-rate", 1e-12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "next_verdict", judged)
        shown = ran(*command)
    return file, shown, json.loads(ran(*command, "--json").out)


@pytest.mark.slow
def test_the_adapted_encoder_is_judged_with_the_reranker_from_before(twice):
    file, _, facts = twice
    before = GRAPH.trained_on(file.parent / "reranker")
    adapted = SheetEncoder.load(facts["encoder"])
    assert GRAPH.trained_on(Path(facts["run"]) / "carried") == replace(
        before, encoder=adapted.fingerprint
    )
    now, new = facts["rows"][:2]  # nothing was learnt: the same answers
    assert (new["ndcg"], new["recall"]) == pytest.approx((now["ndcg"], now["recall"]))
    assert new["name"] == "adapted encoder, reranker from before"
    assert new["ndcg"] < 0.5  # links would give far better answers


@pytest.mark.slow
def test_the_encoder_is_kept_with_it_and_searched_by_it(twice):
    file, shown, facts = twice
    carried = str(Path(facts["run"]) / "carried")
    assert (facts["replaced"], facts["reranker"], facts["stage_2_kept"]) == (True, carried, False)
    with SheetIndex.open(file) as opened:
        assert opened.reranker_name == carried
        assert SheetRetriever(opened).retrieve("payroll of gamma")
    said = " ".join(shown.out.split())
    assert "the adapted reranker is not better: it is not used" in said
    assert "rank with the previous reranker in" in said


@pytest.mark.slow
def test_the_new_reranker_begins_with_the_one_from_before(twice):
    run = Path(twice[2]["run"])
    told = json.loads((run / "stage-2" / "config.json").read_text())["settings"]
    assert told["start_from"] == file_hash(run / "carried" / "model.onnx")


# ---- not better


@pytest.mark.slow
def test_where_nothing_is_better_the_index_stays_and_that_is_said(desk, sat):
    before = desk.plain.read_bytes(), tokens_of(desk.plain)
    command = ("adapt", "-i", desk.plain, "--backbone", desk.tiny, "--epochs", 1, *SMALL)
    run = sat(
        *command, "--out", desk.folder / "not better", "--stage", "encoder", "--learning-rate", 1e-9
    )
    assert run.code == 0, run.err
    assert "not kept" in run.out
    assert "the adapted encoder is not better" in run.out
    assert "are unchanged" in run.out
    assert (desk.plain.read_bytes(), tokens_of(desk.plain)) == before
    assert not (desk.folder / "not better" / "stage-2").exists()


# ---- a user's own questions


@pytest.mark.slow
def test_labelled_and_clicked_questions_are_learnt_from_and_counted(desk, tmp_path, sat):
    clicks, labels = tmp_path / "clicks.csv", tmp_path / "labels.jsonl"
    with clicks.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["query", "sheet_id", "relevance"])
        for year in ("2021", "2022"):  # one clicked twice, one not
            rows.writerow(["what the machines cost", sheet_id("beta", "repair log", year), 2])
            rows.writerow(["what the machines cost", sheet_id("beta", "energy use", year), 0])
    asked = {"query": "who teaches", "positives": [sheet_id("alpha", "training plan", "2023")]}
    labels.write_text(json.dumps(asked) + "\n")
    command = ("adapt", "-i", desk.plain, "--backbone", desk.tiny, "--epochs", 1, *SMALL)
    own = ("--queries", clicks, "--queries", labels, "--out", tmp_path / "run")
    with stopping("training", "stage-1", "training", 1):
        run = sat(*command, *own)
    assert run.code == 130
    assert "questions to learn from" in run.err
    settings = json.loads((tmp_path / "run" / "config.json").read_text())["settings"]
    assert (
        settings["labels"]
        != json.loads((desk.folder / "blind.sat.adapt" / "config.json").read_text())["settings"][
            "labels"
        ]
    )
    gone = tmp_path / "gone.csv"
    gone.write_text("query,sheet_id,relevance\nsales,gone.csv#gone,1\n")
    refused = sat(*command, "--queries", gone, "--out", tmp_path / "other")
    assert refused.code == 2
    assert "'gone.csv#gone'" in refused.err


# ---- wrong usage


def test_an_encoder_that_cannot_learn_is_named_and_another_start_may_be_given(desk, tmp_path, sat):
    command = ("adapt", "-i", desk.plain, "--out", tmp_path / "run", *SMALL)
    run = sat(*command)
    assert run.code == 1
    assert "--backbone" in run.err
    with stopping("training", "stage-1", "training", 1):
        again = sat(*command, "--backbone", desk.tiny)
    assert again.code == 130, again.err


def test_what_cannot_be_adapted_says_why(desk, tmp_path, sat):
    gone = sat("adapt", "-i", tmp_path / "none.sat")
    assert (gone.code, "none.sat" in gone.err) == (1, True)
    wrong = sat("adapt", "-i", desk.plain, "--share", 2)
    assert (wrong.code, "share is 2" in wrong.err) == (2, True)
    with SheetIndex.create(tmp_path / "e.sat", SheetEncoder.load(desk.folder / "plain bag")):
        pass
    empty = sat("adapt", "-i", tmp_path / "e.sat")
    assert empty.code == 2
    assert "no sheets" in empty.err


def test_several_processes_are_refused(desk, tmp_path, sat, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    run = sat("adapt", "-i", desk.plain, "--out", tmp_path / "run", *SMALL)
    assert run.code == 1
    assert "in one process" in run.err
