from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest

from sat_retriever import EncoderError, MissingExtraError, SheetEncoder

_LOAD = (
    "import sys; from sat_retriever.encoder import SheetEncoder\n"
    "encoder = SheetEncoder.load(sys.argv[1], cache_dir=sys.argv[2])\n"
    "print(encoder.fingerprint, float(encoder.encode_queries(['revenue'])[0, 0]))\n"
)


@pytest.fixture
def own_cache(tiny_encoder, cache, tmp_path):
    """A cache that holds the tiny encoder and may be broken."""
    folder = tmp_path / "own"
    shutil.copytree(cache / tiny_encoder.fingerprint, folder / tiny_encoder.fingerprint)
    return folder


def test_an_export_happens_once(tiny_source, tiny_encoder, own_cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # a second export would fail
    again = SheetEncoder.load(tiny_source, cache_dir=own_cache)
    assert again.fingerprint == tiny_encoder.fingerprint


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "config.json"])
@pytest.mark.parametrize("damage", ["cut", "flip", "lose"])
def test_a_damaged_cache_is_never_used(
    tiny_source, tiny_encoder, own_cache, monkeypatch, file, damage
):
    path = own_cache / tiny_encoder.fingerprint / file
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "flip":
        middle = content.index(b"fingerprint") + 20 if file == "config.json" else len(content) // 2
        changed = bytes([content[middle] ^ 1])
        path.write_bytes(content[:middle] + changed + content[middle + 1 :])
    else:
        path.unlink()
    with monkeypatch.context() as context:
        context.setitem(sys.modules, "onnxscript", None)  # exporting is what must be tried
        with pytest.raises(MissingExtraError, match="onnxscript is not installed"):
            SheetEncoder.load(tiny_source, cache_dir=own_cache)


@pytest.mark.slow
def test_a_damaged_cache_is_exported_again(tiny_source, tiny_encoder, own_cache):
    model = own_cache / tiny_encoder.fingerprint / "model.onnx"
    model.write_bytes(model.read_bytes()[:1000])
    again = SheetEncoder.load(tiny_source, cache_dir=own_cache)
    texts = ["revenue by region"]
    assert np.abs(again.encode_queries(texts) - tiny_encoder.encode_queries(texts)).max() < 1e-5
    assert model.stat().st_size > 1000
    assert [path.name for path in own_cache.iterdir() if path.is_dir()] == [model.parent.name]


def test_two_processes_build_at_once_and_agree(tiny_source, tiny_encoder, own_cache):
    command = [sys.executable, "-c", _LOAD, f"{tiny_source}:int8", str(own_cache)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = [process.communicate(timeout=600)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert outputs[0] == outputs[1]
    folders = {path.name for path in own_cache.iterdir() if path.is_dir()}
    assert folders == {tiny_encoder.fingerprint, outputs[0].split()[0]}


def test_what_a_killed_export_left_is_removed(tiny_source, tiny_encoder, tmp_path, monkeypatch):
    leftover = tmp_path / "cache" / f".{tiny_encoder.fingerprint}.abc"
    leftover.mkdir(parents=True)
    (leftover / "model.onnx").write_bytes(b"half")
    monkeypatch.setitem(sys.modules, "onnxscript", None)  # before the next export starts
    with pytest.raises(MissingExtraError, match="onnxscript is not installed"):
        SheetEncoder.load(tiny_source, cache_dir=tmp_path / "cache")
    assert not leftover.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes (POSIX)")
@pytest.mark.slow
def test_a_full_disk_gives_an_error_and_no_half_file(tiny_source, tmp_path):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
    cache = tmp_path / "cache"
    command = [sys.executable, "-c", limit + _LOAD, str(tiny_source), str(cache)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1
    assert "EncoderError: the encoder cannot be written to" in done.stderr
    assert "free some space" in done.stderr.splitlines()[-1]
    assert [path for path in cache.iterdir() if path.suffix != ".lock"] == []


def test_a_cache_that_is_a_file_gives_an_error(tiny_source, tmp_path):
    (tmp_path / "cache").write_text("not a folder")
    with pytest.raises(EncoderError, match=r"cannot be written.*cache_dir"):
        SheetEncoder.load(tiny_source, cache_dir=tmp_path / "cache")


def test_int8_is_made_of_the_cached_fp32_export(tiny_source, own_cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    small = SheetEncoder.load(tiny_source, precision="int8", cache_dir=own_cache)
    assert (own_cache / small.fingerprint / "model.onnx").is_file()
