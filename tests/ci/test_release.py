"""Distributions are built reproducibly, from what is committed, and reported."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
import release
from distributions import ROOT, distributions, metadata
from licences import Licences
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from publish import bounds
from release import Built, Released, build, committed, git, sha256, table, tool

from tests.ci.repository import name_author, repository

FEBRUARY = {"SOURCE_DATE_EPOCH": "1770000000"}


def needs(*modules: str) -> None:
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed; run: pip install '.[release]'")


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A small repository and two builds of it: from itself, and from a clone elsewhere."""
    needs("build", "hatchling", "hatch_vcs")
    folder = tmp_path_factory.mktemp("release")
    root = repository(folder / "checkout")
    git(root, "clone", "--quiet", str(root), str(folder / "clone"))
    build(root, folder / "first", FEBRUARY)
    build(folder / "clone", folder / "again", {**FEBRUARY, "TZ": "Etc/GMT+11"}, umask=0o077)
    return root, folder / "first", folder / "again"


def test_two_builds_of_every_distribution_are_equal(builds):
    _, first, again = builds
    names = sorted(path.name for path in first.iterdir())
    assert [re.sub(r"\+g\w+", "", name) for name in names] == [
        "sat_retriever-0.1.1.dev1-py3-none-any.whl",
        "sat_retriever-0.1.1.dev1.tar.gz",
        "sat_retriever_adapter-0.1.1.dev1-py3-none-any.whl",
        "sat_retriever_adapter-0.1.1.dev1.tar.gz",
    ]
    assert [sha256(first / name) for name in names] == [sha256(again / name) for name in names]


def test_another_file_gives_another_hash(builds, tmp_path):
    root, first, _ = builds
    git(root, "clone", "--quiet", str(root), str(tmp_path / "clone"))
    module = tmp_path / "clone" / "sat_retriever" / "__init__.py"
    module.write_text(module.read_text() + "CHANGED = True\n", encoding="utf-8")
    name_author(tmp_path / "clone")
    git(tmp_path / "clone", "commit", "--all", "--quiet", "--amend", "--no-edit")
    build(tmp_path / "clone", tmp_path / "built", FEBRUARY)
    core = distributions(root)[0]
    assert sha256(core.wheel(first)) != sha256(core.wheel(tmp_path / "built"))


def test_a_wheel_holds_the_readme_and_the_version_of_the_tag(builds, tmp_path):
    root, _, _ = builds
    git(root, "clone", "--quiet", str(root), str(tmp_path / "clone"))
    git(tmp_path / "clone", "tag", "v0.3.0")
    build(tmp_path / "clone", tmp_path / "built", FEBRUARY)
    for each in distributions(tmp_path / "clone"):
        about = metadata(each.wheel(tmp_path / "built"))
        assert (about["Name"], about["Version"]) == (each.name, "0.3.0")
        assert "the text" in about.get_payload()


def test_a_checkout_with_changes_is_not_released(tmp_path):
    root = repository(tmp_path / "checkout")
    assert committed(root)[0] == git(root, "rev-parse", "HEAD")
    (root / "new.py").write_text("", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"commit or remove these first.*\n\?\? new\.py"):
        committed(root)


def test_a_check_says_passed_or_all_that_it_found(tmp_path):
    needs("twine")
    (tmp_path / "broken-1.0-py3-none-any.whl").write_bytes(b"no archive")
    said = tool("twine", "check", "--strict", tmp_path / "broken-1.0-py3-none-any.whl")
    assert said != "passed" and said
    assert tool("this") == "passed"


@pytest.mark.parametrize(
    ("again", "checks", "refused", "passed"),
    [
        ("a", {"twine": "passed"}, [], True),
        ("b", {"twine": "passed"}, [], False),
        ("", {"twine": "passed"}, [], False),
        ("a", {"twine": "passed", "check-wheel-contents": "W002"}, [], False),
        ("a", {"twine": "passed"}, ["grim is under GPL"], False),
    ],
)
def test_a_release_passes_only_with_equal_hashes_and_every_check(again, checks, refused, passed):
    file = Built("x-1.whl", 2_500, "a", again, checks)
    each = Released("x", "1", ["numpy>=1", "rich; extra == 'y'"], [file], Licences({}, [], refused))
    assert each.passed is passed
    text = table([each])
    assert "| `x-1.whl` | 2 | `a` |" in text or "| `x-1.whl` | 3 | `a` |" in text
    assert ("equal" in text) is (again == "a")
    assert "`x` 1 needs numpy>=1." in text
    assert all(f"**refused**: {line}" in text for line in refused)


def test_all_distributions_have_one_version_and_are_tied_to_its_minor_version():
    core, *others = distributions()
    version = core.settings["tool"]["hatch"]["version"]
    assert version["source"] == "vcs"
    assert "version" in core.settings["project"]["dynamic"]
    only = SpecifierSet(bounds(Version(Version(version["fallback-version"]).base_version)))
    names = {core.name, *(each.name for each in others)}
    for each in others:
        own = each.settings["tool"]["hatch"]["version"]
        assert (own["source"], own["fallback-version"]) == ("vcs", version["fallback-version"])
        assert each.settings["build-system"] == core.settings["build-system"]
        wanted = map(Requirement, each.settings["project"]["dependencies"])
        ties = {found.name: found.specifier for found in wanted if found.name in names}
        assert core.name in ties
        assert set(ties.values()) == {only}, each.name


def test_the_report_names_tools_that_are_declared():
    extras = distributions()[0].settings["project"]["optional-dependencies"]
    declared = {text.split(">=")[0] for text in extras["release"]}
    assert set(release.TOOLS) <= declared
    assert (ROOT / "LICENSE").is_file()
