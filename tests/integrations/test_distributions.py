"""Each distribution's wheel holds its own files only, and is tied to the core's minor version."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Callable
from email import message_from_bytes
from email.message import Message
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from hatch_build import shown
from tests.places import DISTRIBUTIONS, ROOT

BUILD = "import sys, hatchling.build; getattr(hatchling.build, sys.argv[1])(sys.argv[2])"
RELATIVE = re.compile(r"\]\((?!https?:)[^)]*\)")
PACKAGES = {
    "langchain-sat": "langchain_sat",
    "llama-index-postprocessor-sat": "llama_index/postprocessor/sat",
    "llama-index-query-engine-sat": "llama_index/query_engine/sat",
    "llama-index-readers-sat": "llama_index/readers/sat",
    "llama-index-retrievers-sat": "llama_index/retrievers/sat",
}
HUB = [each for each in DISTRIBUTIONS if each.name.startswith("llama-index-")]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], ZipFile]:
    """Builds the wheel of a folder, without network, once."""

    @cache
    def built(folder: Path) -> ZipFile:
        target = tmp_path_factory.mktemp("wheels")
        return ZipFile(build(folder, "build_wheel", target))

    return built


def build(folder: Path, kind: str, target: Path) -> Path:
    command = [sys.executable, "-c", BUILD, kind, str(target)]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    [file] = target.iterdir()
    return file


def metadata(wheel: ZipFile) -> Message:
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return message_from_bytes(wheel.read(name))


def requirements(wheel: ZipFile) -> list[Requirement]:
    return [Requirement(line) for line in metadata(wheel).get_all("Requires-Dist", [])]


def outside(wheel: ZipFile, package: str) -> list[str]:
    """Files that are neither of the package nor of the metadata."""
    return [
        name
        for name in wheel.namelist()
        if not name.startswith(f"{package}/") and ".dist-info/" not in name
    ]


def test_the_folders_are_these():
    assert [each.name for each in DISTRIBUTIONS] == sorted(PACKAGES)


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=lambda folder: folder.name)
def test_a_wheel_holds_its_own_package_a_licence_and_the_mark_of_types(folder, wheel):
    made, package = wheel(folder), PACKAGES[folder.name]
    assert outside(made, package) == []
    assert {f"{package}/__init__.py", f"{package}/py.typed"} <= set(made.namelist())
    [licence] = [name for name in made.namelist() if name.endswith("/LICENSE")]
    assert made.read(licence) == (ROOT / "LICENSE").read_bytes()


def test_the_wheel_of_the_core_holds_no_adapter_and_no_extra_names_one(wheel):
    made = wheel(ROOT)
    assert outside(made, "sat_retriever") == []
    assert "sat_retriever/py.typed" in made.namelist()
    assert not {each.name for each in requirements(made)} & set(PACKAGES)


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=lambda folder: folder.name)
def test_a_distribution_has_the_cores_version_and_needs_its_minor_version(folder, wheel):
    version = metadata(wheel(ROOT))["Version"]
    assert metadata(wheel(folder))["Version"] == version
    major, minor = Version(version).release[:2]
    own = [
        each for each in requirements(wheel(folder)) if each.name in {"sat-retriever", *PACKAGES}
    ]
    assert own
    for each in own:
        ends = {part.operator: Version(part.version).release[:2] for part in each.specifier}
        assert ends == {">=": (major, minor), "<": (major, minor + 1)}
        assert each.specifier.contains(version, prereleases=True)


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=lambda folder: folder.name)
def test_the_metadata_show_the_readme_and_the_licence(folder, wheel):
    said = metadata(wheel(folder))
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert said.get_payload() == readme
    assert f"\n$ pip install {folder.name}" in readme
    assert said["Description-Content-Type"] == "text/markdown"
    assert said["License-Expression"] == metadata(wheel(ROOT))["License-Expression"]
    assert said["Requires-Python"] == metadata(wheel(ROOT))["Requires-Python"]


def test_no_link_of_a_readme_leads_into_the_checkout(wheel):
    for folder in (ROOT, *DISTRIBUTIONS):
        assert RELATIVE.findall(metadata(wheel(folder)).get_payload()) == []
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(RELATIVE.findall(readme)) > 20
    whole = shown(readme, "https://example.org/sat")
    assert RELATIVE.findall(whole) == []
    assert "[guide](https://example.org/sat/blob/HEAD/docs/guides/mcp.md)" in whole
    assert "](https://example.org/sat/raw/HEAD/docs/images/how-it-works.svg)\n" in whole


@pytest.mark.parametrize("folder", [ROOT, *DISTRIBUTIONS], ids=lambda folder: folder.name)
def test_a_source_distribution_holds_no_test_that_only_the_checkout_can_run(folder, tmp_path):
    with tarfile.open(build(folder, "build_sdist", tmp_path)) as files:
        read = {each.name.partition("/")[2]: files.extractfile(each).read() for each in files}
    assert {"LICENSE", "README.md", "pyproject.toml"} <= set(read)
    code = [text for name, text in read.items() if name.endswith(".py")]
    assert code and not re.search(rb"^from (tests|benchmarks)\b", b"\n".join(code), re.M)


@pytest.mark.parametrize("folder", HUB, ids=lambda folder: folder.name)
def test_what_the_hub_is_told_can_be_imported(folder):
    hub = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["llamahub"]
    assert hub["import_path"] == PACKAGES[folder.name].replace("/", ".")
    module = importlib.import_module(hub["import_path"])
    assert hub["class_authors"]
    assert all(isinstance(getattr(module, name), type) for name in hub["class_authors"])
    assert hub["contains_example"] == any(folder.glob("examples/*.ipynb"))


@pytest.mark.parametrize("folder", HUB, ids=lambda folder: folder.name)
def test_the_frameworks_namespace_has_no_module_of_ours(folder):
    packages = [path.parent for path in folder.glob("llama_index/**/__init__.py")]
    assert packages == [folder / PACKAGES[folder.name]]
