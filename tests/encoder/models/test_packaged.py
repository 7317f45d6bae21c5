"""Models that are part of the package, with a small made one in place of the trained."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sat_retriever import (
    Column,
    EncoderError,
    FingerprintMismatchError,
    GraphReranker,
    LinkReranker,
    PathNotFoundError,
    Serialization,
    SheetEncoder,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
    load_reranker,
)
from sat_retriever.datasets.labels import Query
from sat_retriever.encoder.models import folder as model_folders
from sat_retriever.evaluation.methods import named_methods
from sat_retriever.rank.load import AUTO, own_reranker
from tests.fakes import HashedEncoder
from tests.rank.graph.small_model import save_small_model, small_spec
from tests.saved_encoder import save_bag_of_words

RECORDS = [
    SheetRecord(name, name, columns=(Column("Amount"),)) for name in ("sales", "sales tax", "staff")
]


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """A folder of models with a general encoder and a reranker for its tokens."""
    folder = tmp_path / "models"
    save_bag_of_words(folder / "general/encoder", ["sales", "tax", "staff", "amount"])
    monkeypatch.setattr(model_folders, "FOLDER", folder)
    with SheetIndex.create(tmp_path / "first.sat", SheetEncoder.load("general")) as index:
        save_small_model(folder / "general/reranker", small_spec(index))
    return folder


def made_index(path, encoder, **options):
    index = SheetIndex.create(path, encoder, **options)
    index.add_records(RECORDS, find_links=False)
    return index


def test_the_general_encoder_is_loaded_by_name_and_an_index_finds_it_again(shipped, tmp_path):
    with made_index(tmp_path / "a.sat", SheetEncoder.load("general")) as index:
        assert index.encoder_name == "general"
    with SheetIndex.open(tmp_path / "a.sat") as again:
        assert again.candidates("staff")[0].sheet_id == "staff"


def test_the_general_reranker_is_loaded_by_name(shipped, tmp_path):
    with made_index(tmp_path / "a.sat", SheetEncoder.load("general")) as index:
        assert isinstance(load_reranker(index, "general"), GraphReranker)
        assert SheetRetriever(index, "general").retrieve("staff")[0].sheet_id == "staff"


def test_what_is_shipped_for_the_encoder_is_taken_and_links_where_nothing_is(shipped, tmp_path):
    encoder, texts = SheetEncoder.load("general"), Serialization(max_headers=3)
    with (
        made_index(tmp_path / "a.sat", encoder) as ours,
        made_index(tmp_path / "b.sat", HashedEncoder()) as foreign,
        made_index(tmp_path / "c.sat", encoder, serialization=texts) as other_texts,
    ):
        assert isinstance(SheetRetriever(ours, AUTO).reranker, GraphReranker)
        assert isinstance(SheetRetriever(foreign, AUTO).reranker, LinkReranker)
        assert isinstance(SheetRetriever(other_texts, AUTO).reranker, LinkReranker)


def test_a_comparison_has_the_reranker_that_a_search_would_take(shipped, tmp_path):
    with (
        made_index(tmp_path / "a.sat", SheetEncoder.load("general")) as ours,
        made_index(tmp_path / "b.sat", HashedEncoder()) as foreign,
    ):
        methods = named_methods(ours)
        found = methods["+ own reranker"].run({0: Query("staff", ("staff",))})
        ranked = [hit.sheet_id for hit in SheetRetriever(ours).retrieve("staff")]
        assert [hit.sheet_id for hit in found[0]] == ranked
        assert "+ own reranker" not in named_methods(foreign)


def test_an_index_has_the_reranker_that_it_names(shipped, tmp_path):
    encoder = SheetEncoder.load("general")
    with made_index(tmp_path / "a.sat", encoder) as index:
        assert index.status()["reranker"] is None
        folder = save_small_model(tmp_path / "own", small_spec(index))
        index.name_reranker(folder)
        assert index.reranker_name == index.status()["reranker"] == str(folder)
        assert isinstance(own_reranker(index), GraphReranker)
    with SheetIndex.open(tmp_path / "a.sat") as again:
        assert again.reranker_name == str(folder)
        shutil.rmtree(folder)
        with pytest.raises(PathNotFoundError, match=r"own, which is not there: put it back"):
            SheetRetriever(again)
        with pytest.raises(PathNotFoundError):
            named_methods(again)
        lost = []
        assert list(named_methods(again, ["general"], lost.append))[-1] == "Stage 2 (general)"
        (said,) = lost
        assert said.startswith("+ own reranker is left out:")
        assert "which is not there" in said
        assert isinstance(SheetRetriever(again, "links").reranker, LinkReranker)
        again.name_reranker(None)
        assert again.reranker_name is None
        assert isinstance(own_reranker(again), GraphReranker)  # the one of the package


@pytest.mark.parametrize("folder", ["nowhere", ""])
def test_a_reranker_that_is_not_there_cannot_be_named(tmp_path, folder):
    with made_index(tmp_path / "a.sat", HashedEncoder()) as index:
        with pytest.raises(PathNotFoundError, match="there is no folder"):
            index.name_reranker(folder)
        assert index.reranker_name is None


def test_new_tokens_forget_the_reranker_of_the_old_ones(tmp_path):
    with made_index(tmp_path / "a.sat", HashedEncoder()) as index:
        (tmp_path / "old").mkdir()
        index.name_reranker(tmp_path / "old")
        index.reencode(HashedEncoder(48, "new"), reranker=tmp_path / "new")
        assert index.reranker_name == str(tmp_path / "new")
        index.reencode(HashedEncoder(32, "newer"))
        assert index.reranker_name is None
        assert isinstance(own_reranker(index), LinkReranker)


def test_the_general_reranker_is_refused_for_tokens_of_another_encoder(shipped, tmp_path):
    with (
        made_index(tmp_path / "a.sat", HashedEncoder()) as index,
        pytest.raises(FingerprintMismatchError, match="--encoder general"),
    ):
        load_reranker(index, "general")


def test_a_name_goes_before_a_folder_of_that_name(shipped, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_bag_of_words(tmp_path / "general", ["other"], seed=1)
    assert SheetEncoder.load("general").name == "general"
    assert SheetEncoder.load("./general").name == str(tmp_path / "general")


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_changed_file_is_named_with_what_to_do(shipped, file):
    path = shipped / "general/encoder" / file
    content = path.read_bytes()
    old = b'"weights": "' if file == "config.json" else content[-9:-8]
    path.write_bytes(content.replace(old, old[:-1] + bytes([old[-1] ^ 1])))
    with pytest.raises(EncoderError, match=r"'general' of this installation.*install sat-ret"):
        SheetEncoder.load("general")


def test_the_file_that_was_changed_is_named(shipped):
    path = shipped / "general/encoder/tokenizer.json"
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(EncoderError, match=r"tokenizer\.json is not what was written there"):
        SheetEncoder.load("general")


def test_a_model_that_is_not_shipped_says_what_to_choose(tmp_path, monkeypatch):
    monkeypatch.setattr(model_folders, "FOLDER", tmp_path)
    with pytest.raises(EncoderError, match=r"no encoder 'general'; choose 'minilm'"):
        SheetEncoder.load("general")


def test_another_precision_than_the_shipped_one_is_refused(shipped):
    with pytest.raises(
        EncoderError, match=r"general holds an fp32 encoder.*another encoder, such as 'minilm'"
    ):
        SheetEncoder.load("general", precision="int8")


def test_searching_with_the_shipped_models_imports_no_training_code(shipped, tmp_path):
    with made_index(tmp_path / "a.sat", SheetEncoder.load("general")):
        pass
    code = (
        "import sys, pathlib, sat_retriever.encoder.models.folder as model_folders\n"
        f"model_folders.FOLDER = pathlib.Path({str(shipped)!r})\n"
        "from sat_retriever import SheetIndex, SheetRetriever\n"
        f"with SheetIndex.open({str(tmp_path / 'a.sat')!r}) as index:\n"
        "    print(SheetRetriever(index).retrieve('staff')[0].sheet_id)\n"
        "heavy = {'torch', 'transformers', 'onnx', 'safetensors', 'huggingface_hub', 'pandas'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    command = [sys.executable, "-I", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["staff", "[]"]


def test_a_reranker_that_is_not_shipped_says_what_to_choose(shipped, tmp_path):
    for file in (shipped / "general/reranker").iterdir():
        file.unlink()
    (shipped / "general/reranker").rmdir()
    with (
        made_index(tmp_path / "a.sat", SheetEncoder.load("general")) as index,
        pytest.raises(EncoderError, match=r"no reranker 'general'; choose 'links'"),
    ):
        load_reranker(index, "general")


def test_nothing_is_told_to_the_makers_of_onnxruntime(tmp_path):
    look = (
        "import os, sys; from sat_retriever import SheetEncoder; "
        "SheetEncoder.load('general').encode_queries(['staff']); "
        "here = '/proc/self/fd'; files = [f'{here}/{name}' for name in os.listdir(here)]; "
        "print(*(os.readlink(file) for file in files if os.path.exists(file)))"
    )
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("this system does not tell a process which files it has open")
    bare = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    told = subprocess.run(
        [sys.executable, "-c", look], env=bare | {"HOME": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "onnxruntime.db" not in told.stdout
    assert not list(tmp_path.rglob("*onnxruntime*"))
