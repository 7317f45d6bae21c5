"""The install command that an error names works for the way this package was installed."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys

import pytest

from sat_retriever import MissingExtraError
from sat_retriever._extras import require
from tests.places import ROOT

METADATA = """Metadata-Version: 2.4
Name: sat-retriever
Version: 99
Provides-Extra: mcp
Provides-Extra: mcp-more
Requires-Dist: numpy>=1.26
Requires-Dist: mcp<3,>=2; extra == 'mcp'
Requires-Dist: anyio; python_version >= "3" and extra == "mcp"
Requires-Dist: other; extra == 'mcp-more'
"""
PACKAGES = ["pip", "install", "mcp<3,>=2", "anyio"]


@pytest.fixture
def command(tmp_path):
    """Runs `install_command` in a process that finds an installation of the given origin."""

    def run(origin: dict | None) -> list[str]:
        installed = tmp_path / "site" / "sat_retriever-99.dist-info"
        installed.mkdir(parents=True)
        (installed / "METADATA").write_text(METADATA, encoding="utf-8")
        if origin is not None:
            (installed / "direct_url.json").write_text(json.dumps(origin), encoding="utf-8")
        code = (
            f"import sys; sys.path[:0] = [{str(installed.parent)!r}, {str(ROOT)!r}]\n"
            "from sat_retriever._extras import install_command; print(install_command('mcp'))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        return shlex.split(done.stdout.decode())

    return run


def test_from_an_editable_checkout_the_command_names_the_checkout(command, tmp_path):
    folder = tmp_path / "my 'own' checkout"
    folder.mkdir()
    said = command({"url": folder.as_uri(), "dir_info": {"editable": True}})
    assert said == ["pip", "install", "-e", f"{folder}[mcp]"]


def test_from_a_folder_the_command_names_the_folder(command, tmp_path):
    said = command({"url": tmp_path.as_uri(), "dir_info": {}})
    assert said == ["pip", "install", f"{tmp_path}[mcp]"]


@pytest.mark.parametrize(
    "origin",
    [
        None,
        {"url": "file:///gone/sat_retriever-99-py3-none-any.whl", "archive_info": {}},
        {"url": "https://example.org/sat.git", "vcs_info": {"vcs": "git", "commit_id": "0"}},
        {"url": "file:///gone/checkout", "dir_info": {"editable": True}},
    ],
    ids=["index", "wheel", "git", "folder that is gone"],
)
def test_without_a_folder_the_command_names_the_packages(command, origin):
    assert command(origin) == PACKAGES


def test_a_missing_module_is_an_error_with_the_command():
    with pytest.raises(MissingExtraError, match=r"^no_such_module is not installed; run: pip "):
        require("no_such_module", "mcp")


def test_no_text_names_this_package_to_pip_since_no_index_serves_it():
    asked = re.compile(r"pip install [^\n]*\bsat-retriever\b")
    folders = ("sat_retriever", "integrations", "examples", "tests")
    files = [path for name in folders for path in sorted((ROOT / name).rglob("*.py"))]
    assert [path for path in files if asked.search(path.read_text(encoding="utf-8"))] == []
