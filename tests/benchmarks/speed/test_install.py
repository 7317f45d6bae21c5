"""What the install benchmark makes of what it finds."""

from importlib.metadata import PathDistribution

import pytest

from benchmarks.results import ROOT
from benchmarks.speed.environment import Environment, Package
from benchmarks.speed.install import MOST_MB, UNWANTED, general, sizes, too_much, unwanted
from benchmarks.tables.sections import SECTIONS
from sat_retriever.encoder.models import folder as model_folders
from sat_retriever.errors import EncoderError
from tests.saved_encoder import save_bag_of_words


def install_by_hand(site, name, files):
    """A distribution of files of so many bytes, as pip would leave it."""
    about = site / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    for path, size in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(b"." * size)
    (about / "RECORD").write_text("".join(f"{path},,\n" for path in files))
    return PathDistribution(about)


@pytest.fixture
def environment(tmp_path):
    site = tmp_path / "site"
    models = model_folders.FOLDER.relative_to(ROOT).as_posix()  # a wheel has them there, too
    weights = f"{models}/general/encoder/model.onnx"
    install_by_hand(site, "sat-retriever", {"sat_retriever/a.py": 100_000, weights: 2_000_000})
    install_by_hand(site, "SciPy", {"scipy/b.py": 300_000, "scipy.libs/c.so": 5_000_000})
    return Environment(tmp_path / "python", tmp_path / "sat", (site,))


def test_sizes_are_counted_in_total_by_package_and_of_the_models(tmp_path, environment):
    wheel = tmp_path / "a.whl"
    wheel.write_bytes(b"." * 1_240_000)
    found = sizes(environment, wheel)
    assert found["packages"] == 2
    assert (found["SciPy_mb"], found["sat-retriever_mb"]) == (5.3, 2.1)
    assert list(found).index("SciPy_mb") < list(found).index("sat-retriever_mb")  # largest first
    assert found["files_mb"] == 7.4
    assert found["models_mb"] == 2.0
    assert found["wheel_mb"] == 1.2
    assert found["unwanted"] == 1


def test_packages_of_training_are_found_however_they_write_their_names():
    names = ("Torch", "numpy", "SciPy", "torchvision")
    assert unwanted([Package(name, "1", 1) for name in names]) == ["torch", "scipy"]
    assert unwanted([Package("numpy", "1", 1)]) == []


def test_an_install_that_is_too_large_or_brings_training_is_refused():
    assert too_much({"on_disk_mb": MOST_MB, "unwanted": 0}) == []
    large, training = too_much({"on_disk_mb": MOST_MB + 0.1, "unwanted": 2})
    assert "320.1 MB" in large
    assert all(name in training for name in UNWANTED)


def test_the_general_encoder_is_measured_with_its_reranker_as_soon_as_it_is_there(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(model_folders, "FOLDER", tmp_path)
    with pytest.raises(EncoderError, match="has no encoder 'general'"):
        general()
    save_bag_of_words(tmp_path / "general/encoder", ["sales"])
    assert general().folder == tmp_path / "general/encoder"
    assert general().reranker == ""
    (tmp_path / "general/reranker").mkdir()
    assert general().reranker == "general"


def test_the_tables_of_results_show_the_numbers_that_are_measured(tmp_path, environment):
    size, encoder = [section for section in SECTIONS if section.benchmark == "install"]
    wheel = tmp_path / "a.whl"
    wheel.touch()
    measured = set(sizes(environment, wheel))
    assert {"packages", "on_disk_mb", "sat-retriever_mb", "models_mb", "unwanted"} <= measured
    assert {"packages", "on_disk_mb", "sat-retriever_mb", "models_mb"} <= set(size.columns)
    assert not set(size.columns) & set(encoder.columns)  # so that no result stands in both
