"""`run gpu` without a GPU: it writes nothing as a GPU's, and goes on where it was."""

from __future__ import annotations

import os
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")

from benchmarks import results
from benchmarks.gpu import gpu, measured
from benchmarks.gpu.device import choose, device_info
from benchmarks.training.methods import RECIPES
from sat_retriever.encoder.onnx.device import gpu_count
from sat_retriever.train.settings import ENCODER_PRESETS
from tests.training_corpus import write_corpus

NAMES = ["stage1", "base", "graph", "cross", "step_fp32", "encode"]


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    """What a trial on the processor changes is changed back."""
    for name in ("CUDA_VISIBLE_DEVICES", "ACCELERATE_USE_CPU"):
        monkeypatch.setenv(name, "")


@pytest.mark.skipif(gpu_count() > 0, reason="there is a CUDA device here")
def test_without_a_gpu_it_says_so_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path / "committed")
    with pytest.raises(SystemExit, match=r"not run: .*CUDA"):
        gpu.main(["--folder", str(tmp_path / "gpu")])
    assert list(tmp_path.iterdir()) == []


def test_without_its_data_it_says_how_to_get_it(tmp_path):
    with pytest.raises(SystemExit, match=r"not run: .* lacks bge-base.* --prepare"):
        gpu.main(["--folder", str(tmp_path), "--device", "cpu"])


def test_its_data_is_in_one_folder(tmp_path):
    write_corpus(tmp_path / "public" / "industrytab_1k")
    for name in gpu.ENCODERS.values():
        place = tmp_path / "gpu" / "data" / name
        place.mkdir(parents=True)
        (place / "modules.json").write_text("[]")  # fetched before: nothing is downloaded
    for _ in range(2):
        gpu.main(
            ["--prepare", "--folder", str(tmp_path / "gpu"), "--data", str(tmp_path / "public")]
        )
    held = sorted(path.name for path in (tmp_path / "gpu" / "data").iterdir())
    assert held == ["all-mpnet-base-v2", "bge-base-en-v1.5", "industrytab_1k"]
    assert (tmp_path / "gpu" / "data" / "industrytab_1k" / "query.json").is_file()
    with pytest.raises(SystemExit, match="there is no corpus"):
        gpu.main(["--prepare", "--folder", str(tmp_path), "--data", str(tmp_path)])


def test_a_copy_that_is_stopped_is_made_again(tmp_path, monkeypatch):
    write_corpus(tmp_path / "public" / "industrytab_1k")
    asked = ["--prepare", "--folder", str(tmp_path / "gpu"), "--data", str(tmp_path / "public")]
    asked += ["--encoders", "all-mpnet-base-v2"]
    (tmp_path / "mpnet").mkdir()
    monkeypatch.setattr(gpu.fetch, "unpacked", lambda _: tmp_path / "mpnet")

    def stopped(_, target):
        target.mkdir()
        raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr(gpu.shutil, "copytree", stopped)
        with pytest.raises(KeyboardInterrupt):
            gpu.main(asked)
    assert list((tmp_path / "gpu" / "data").iterdir()) == []
    gpu.main(asked)
    assert (tmp_path / "gpu" / "data" / "industrytab_1k" / "query.json").is_file()


def test_the_recipes_are_the_papers_with_its_own_backbone_and_precision():
    found = measured.paper_recipes("folder/bge")
    assert list(found) == ["stage1", "base", "graph", "cross"]
    for name, recipe in found.items():
        assert recipe.title == RECIPES[name].title
        assert (recipe.encoder.backbone, recipe.encoder.precision) == ("folder/bge", "auto")
        assert recipe.encoder.epochs == ENCODER_PRESETS["paper"].epochs
        assert recipe.reranker == RECIPES[name].reranker


def test_a_trial_that_is_done_is_not_done_again_and_stays_out_of_the_results(
    tmp_path, monkeypatch, capsys
):
    """Every result is there already, so nothing is trained."""
    monkeypatch.setattr(results, "FOLDER", tmp_path / "committed")
    for method in NAMES:
        where = {"step_fp32": ("corpus-120", "train"), "encode": ("template_300", "all")}
        dataset, split = where.get(method, ("corpus-120", "standard"))
        found = {"device": {"name": "CPU"}, "step_s": 2.5}
        done = results.Result(method, dataset, found, split, 42)
        results.write_result("gpu", done, folder=tmp_path / "gpu" / "results")
    gpu.main(["--quick", "--device", "cpu", "--folder", str(tmp_path / "gpu")])
    said = capsys.readouterr().out
    assert said.count("is there already, of ") == len(NAMES)
    assert "measuring" not in said
    assert not (tmp_path / "committed").exists()


def test_a_processor_is_told_by_its_name_and_hides_every_gpu():
    assert device_info("cpu")["name"] == "CPU"
    choose("cpu")
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ""  # CUDA reads it when it starts


@pytest.mark.gpu("torch")
def test_a_gpu_is_told_with_driver_and_versions(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    found = device_info("cuda")
    assert found["name"]
    assert found["memory_gib"] > 0
    assert found["cuda"]
