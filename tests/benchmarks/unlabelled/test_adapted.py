"""Label-free adaptation as a benchmark: thirty made sheets, a tiny transformer, one epoch."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("xlsxwriter", reason="xlsxwriter is not installed")

from benchmarks.__main__ import main as benchmarks_main
from benchmarks.results import read_results
from benchmarks.unlabelled import adapted
from benchmarks.unlabelled import runs as adapted_runs
from benchmarks.unlabelled.runs import Job, changed
from benchmarks.unlabelled.subjects import Places, subject_of
from sat_retriever.datasets.metrics.rows import unsupported
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.train.adapt.settings import AdaptSettings
from tests.saved_encoder import save_bag_of_words
from tests.tiny_transformer import save_tiny

pytestmark = pytest.mark.slow

WORDS = "inventory finance project sales human resources balance sheet budget payroll 2022 2023"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What one whole run leaves behind, with the arguments that it was given."""
    folder = tmp_path_factory.mktemp("adapted")
    bag = save_bag_of_words(folder / "bag", WORDS.split())
    tiny = save_tiny(folder / "tiny", layers=1, dropout=0.0)
    arguments = ["--quick", "--runs", str(folder / "runs"), "--untrained", str(bag)]
    arguments += ["--backbone", str(bag), "--set", f"backbone={json.dumps(str(tiny))}"]
    arguments += ["--set", "stage=encoder"]  # its two exports take longer than all the rest
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(adapted_runs, "apart", benchmarks_main)  # here torch is at hand already
        adapted.main(arguments)
    return folder, arguments


@pytest.fixture(scope="module")
def results(made):
    read = read_results("adapted", made[0] / "runs/results")
    return {(file["method"], file["split"]): file for file in read}


def test_every_system_is_asked_the_questions_of_its_mode(results):
    plain = {"dense", "bm25", "fused", "times", "links", "general", "general_reranker"}
    transductive = {"stage1_transductive_bag", "cascade_transductive_bag"}
    inductive = {"stage1_inductive_bag", "cascade_inductive_bag"}
    by_split = {split: {name for name, part in results if part == split} for _, split in results}
    assert by_split == {
        "all": plain | transductive,
        "grouped_42": plain | transductive | inductive,
    }


def test_metrics_follow_from_the_rows_and_the_cost_stands_beside_them(results):
    for (name, _), file in results.items():
        assert file["metrics"]["queries"] == len(file["per_query"])
        assert unsupported(file["metrics"], file["per_query"]) == []
        if name.startswith(("stage1", "cascade")):
            assert file["seed"] == 42
            assert file["metrics"]["adaptation"]["seconds"] > 0
            assert file["metrics"]["adaptation"]["memory_mib"] > 0
        else:
            assert file["seed"] is None


def test_what_is_inductive_has_seen_no_sheet_that_its_questions_ask_for(made, results):
    folder, _ = made
    runs = folder / "runs/adapted"
    subject = subject_of("tiny", Places(folder, runs), [42])
    (file,) = runs.glob("tiny/inductive.42.*/index.sat")
    with SheetIndex.open(file) as index:
        seen = set(index.sheet_ids())
    assert 0 < len(seen) < len(subject.dataset.records)
    rows = results["stage1_inductive_bag", "grouped_42"]["per_query"]
    assert rows
    for row in rows:
        assert seen.isdisjoint(subject.dataset.queries[row["query"]].positives)
    counts = results["stage1_inductive_bag", "grouped_42"]["metrics"]["adaptation"]["counts"]
    assert counts["sheets"] == len(seen)


def test_no_labelled_question_of_the_corpus_is_learnt(made):
    folder, _ = made
    runs = folder / "runs/adapted"
    for run in runs.glob("tiny/*/adapt/result.json"):
        assert json.loads(run.read_text(encoding="utf-8"))["counts"]["own"] == 0


def test_the_same_command_makes_nothing_again(made, monkeypatch, capsys):
    folder, arguments = made
    before = (folder / "runs/results/adapted.jsonl").stat().st_mtime_ns
    monkeypatch.setattr(adapted_runs, "apart", lambda _: pytest.fail("adapted again"))
    adapted.main(arguments)
    assert (folder / "runs/results/adapted.jsonl").stat().st_mtime_ns == before
    assert "is there already" in capsys.readouterr().out


def test_another_corpus_setting_or_set_of_sheets_is_another_adaptation(made):
    folder, _ = made
    subject = subject_of("tiny", Places(folder, folder / "runs/adapted"), [42])
    job = Job(subject.dataset, str(folder / "bag"), AdaptSettings())
    others = [
        replace(job, settings=AdaptSettings(epochs=1)),
        replace(job, seen=subject.unseen[42].seen),
        replace(job, dataset=replace(subject.dataset, records=subject.dataset.records[1:])),
        replace(job, dataset=replace(subject.dataset, links=())),
    ]
    assert subject.dataset.links
    assert len({job.name, *(other.name for other in others)}) == 5


def test_a_setting_that_there_is_not_is_named():
    with pytest.raises(InputError, match="there is no setting 'epoch'"):
        changed(AdaptSettings(), ["epoch=1"])


def test_a_failed_adaptation_ends_the_command(made, monkeypatch):
    folder, _ = made
    subject = subject_of("tiny", Places(folder, folder / "runs/adapted"), [42])
    job = Job(subject.dataset, str(folder / "bag"), AdaptSettings(seed=7))
    monkeypatch.setattr(adapted_runs, "apart", lambda _: 3)
    with pytest.raises(SystemExit, match=r"failed \(exit status 3\)"):
        adapted_runs.adapted(job, folder)


def test_a_process_of_its_own_tells_how_it_ended(capfd):
    assert adapted_runs.apart(["run", "no table"]) == 2
    assert "there is no table 'no table'" in capfd.readouterr().err
