"""What a missing extra says: a command that works for the way this package was installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sat_retriever
from sat_retriever._extras import install_command, require
from sat_retriever.errors import MissingExtraError

WHEEL = "file:///wheels/sat_retriever-9-py3-none-any.whl"
ORIGINS = {
    "an index": (None, "pip install 'sat-retriever[train]'"),
    "a folder": (
        {"url": "file:///my%20work/sat", "dir_info": {}},
        "pip install '/my work/sat[train]'",
    ),
    "a folder, editable": (
        {"url": "file:///work/sat", "dir_info": {"editable": True}},
        "pip install --editable '/work/sat[train]'",
    ),
    "a wheel": (
        {"url": WHEEL, "archive_info": {"hash": "sha256=1"}},
        f"pip install 'sat-retriever[train] @ {WHEEL}'",
    ),
    "a repository": (
        {
            "url": "https://example.org/sat.git",
            "vcs_info": {"vcs": "git", "requested_revision": "main", "commit_id": "c0ffee"},
        },
        "pip install 'sat-retriever[train] @ git+https://example.org/sat.git@c0ffee'",
    ),
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Makes this package look installed from somewhere, by the files that pip writes."""

    def install(origin: dict | None) -> None:
        noted = tmp_path / "sat_retriever-9.dist-info"
        noted.mkdir()
        (noted / "METADATA").write_text("Metadata-Version: 2.1\nName: sat-retriever\nVersion: 9\n")
        if origin is not None:
            (noted / "direct_url.json").write_text(json.dumps(origin))
        monkeypatch.syspath_prepend(tmp_path)

    return install


@pytest.mark.parametrize(("origin", "command"), ORIGINS.values(), ids=ORIGINS)
def test_the_command_installs_from_where_the_package_came(installed, origin, command):
    installed(origin)
    assert install_command("train") == command
    with pytest.raises(MissingExtraError) as error:
        require("no_such_module", "train")
    assert str(error.value) == f"no_such_module is not installed; run: {command}"


def test_without_an_extra_the_package_alone_is_named(installed):
    installed({"url": "file:///work/sat", "dir_info": {}})
    assert install_command() == "pip install /work/sat"


def test_a_checkout_that_nothing_installed_names_its_folder(monkeypatch):
    monkeypatch.setattr("sys.path", [])
    checkout = Path(sat_retriever.__file__).parents[1]
    assert install_command("mcp") == f"pip install '{checkout}[mcp]'"
