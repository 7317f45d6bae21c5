"""The commit and the tag of a release."""

from __future__ import annotations

import datetime as dt
import tomllib

import pytest
from distributions import distributions
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from publish import bounds, checked, following, release, tied, with_section
from release import git

from tests.ci.repository import LOG, repository

DAY = dt.date(2027, 3, 1)


def test_a_release_is_one_commit_with_its_tag_its_section_and_its_ties(tmp_path):
    root = repository(tmp_path / "checkout")
    release(root, "0.2.0", DAY)
    assert git(root, "log", "-1", "--format=%s") == "Release 0.2.0"
    assert git(root, "describe", "--exact-match") == "v0.2.0"
    assert git(root, "status", "--porcelain") == ""
    log = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]\n\n## [0.2.0] - 2027-03-01\n\n### Added\n" in log
    core, adapter = distributions(root)
    assert adapter.settings["project"]["dependencies"] == ["sat-retriever[sql]>=0.2,<0.3"]
    assert core.settings["project"]["dependencies"] == ["numpy>=1.26"]
    for each in (core, adapter):
        assert each.settings["tool"]["hatch"]["version"]["fallback-version"] == "0.2.1.dev0"


def test_nothing_is_released_twice_or_without_changes(tmp_path):
    root = repository(tmp_path / "checkout")
    release(root, "0.2.0", DAY)
    with pytest.raises(SystemExit, match=r"0\.2\.0 is not above 0\.2\.0, which is tagged"):
        release(root, "0.2.0", DAY)
    with pytest.raises(SystemExit, match=r"nothing below \[Unreleased\]"):
        release(root, "0.3.0", DAY)
    (root / "new").write_text("", encoding="utf-8")
    with pytest.raises(SystemExit, match="commit or remove these first"):
        release(root, "0.4.0", DAY)
    assert git(root, "tag") == "v0.2.0"


@pytest.mark.parametrize("text", ["", "one", "0.2", "v0.2.0", "0.2.0.dev1", "0.2.0+here", "00.2.0"])
def test_a_version_that_no_index_takes_is_refused(text):
    with pytest.raises(SystemExit, match=r"0\.2\.0"):
        checked(text, [])


def test_versions_are_compared_as_numbers():
    assert str(checked("0.10.0", ["v0.9.0", "v0.2.0"])) == "0.10.0"
    assert str(checked("1.0.0rc1", ["v0.9.0"])) == "1.0.0rc1"


@pytest.mark.parametrize(
    ("released", "next_"),
    [("0.2.0", "0.2.1.dev0"), ("1.0.9", "1.0.10.dev0"), ("1.0.0rc1", "1.0.0rc2.dev0")],
)
def test_a_tree_without_git_is_after_the_last_release_and_before_the_next(released, next_):
    version = Version(released)
    assert following(version) == next_
    assert version < Version(next_) and Version(next_) in SpecifierSet(bounds(version), True)


def test_the_log_needs_an_unreleased_part():
    with pytest.raises(SystemExit):
        with_section("# Changelog\n", Version("0.2.0"), DAY)
    again = with_section(LOG, Version("0.2.0"), DAY)
    with pytest.raises(SystemExit):
        with_section(again, Version("0.3.0"), DAY)


@pytest.mark.parametrize("tie", ["sat-retriever", "sat-retriever[sql,arrow]", "langchain-sat"])
def test_only_own_distributions_are_tied(tie):
    lines = f'dependencies = ["{tie}>=0.1,<0.2", "langchain-core>=1.4,<2"]\nname = "sat-retriever"'
    own = ["sat-retriever", "langchain-sat"]
    found = tomllib.loads(tied(lines, Version("1.2.3"), own))
    assert found["dependencies"] == [f"{tie}>=1.2,<1.3", "langchain-core>=1.4,<2"]
    assert found["name"] == "sat-retriever"


@pytest.mark.parametrize(
    ("version", "fit", "others"),
    [
        ("0.2.0", ["0.2.0", "0.2.1.dev3", "0.2.9"], ["0.1.9", "0.3.0.dev1", "0.3.0"]),
        ("0.2.0rc1", ["0.2.0rc1", "0.2.0rc2.dev3", "0.2.0", "0.2.1.dev3"], ["0.1.9", "0.3.0rc1"]),
    ],
)
def test_adapters_fit_their_release_and_the_checkout_after_it(version, fit, others):
    tie = SpecifierSet(bounds(Version(version)))
    assert [each for each in fit if not tie.contains(each, prereleases=True)] == []
    assert [each for each in others if tie.contains(each, prereleases=True)] == []


def test_every_distribution_here_gets_the_version_as_its_base_and_its_ties():
    names = [each.name for each in distributions()]
    for each in distributions():
        text = (each.folder / "pyproject.toml").read_text(encoding="utf-8")
        settings = tomllib.loads(tied(text, Version("9.8.7"), names))
        assert settings["tool"]["hatch"]["version"]["fallback-version"] == "9.8.8.dev0", each.name
        extras = settings["project"].get("optional-dependencies", {}).values()
        wanted = [*settings["project"]["dependencies"], *(text for each in extras for text in each)]
        ties = [str(tie.specifier) for tie in map(Requirement, wanted) if tie.name in names]
        assert {*ties} <= {"", "<9.9,>=9.8"}, each.name
