"""A tree without git is built under a version that is true."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from packaging.version import Version
from release import git

from tests.ci.repository import name_author
from tests.places import DISTRIBUTIONS, ROOT

NAMES = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitattributes")
OVERRIDE = "SETUPTOOLS_SCM_PRETEND_VERSION"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files of this checkout that decide about versions, in a repository of their own."""
    root = tmp_path / "checkout"
    for folder in (ROOT, *DISTRIBUTIONS):
        target = root / folder.relative_to(ROOT)
        target.mkdir(parents=True, exist_ok=True)
        for name in (*NAMES, ".git_archival.txt"):
            if (folder / name).is_file():
                shutil.copy(folder / name, target / name)
    git(root, "init", "--quiet")
    name_author(root)
    commit(root)
    return root


def commit(root: Path) -> None:
    (root / "new").write_text(os.urandom(8).hex())
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "All")


def exported(root: Path) -> Path:
    """The tree as `git archive` and the archives of git's hosts give it."""
    archive, tree = root.with_name("tree.tar"), root.with_name("tree")
    git(root, "archive", "--output", str(archive), "HEAD")
    with tarfile.open(archive) as files:
        files.extractall(tree, filter="data")
    return tree


def versions(root: Path, **settings: str) -> set[str]:
    """The versions of all distributions in a tree."""
    folders = [root, *(root / each.relative_to(ROOT) for each in DISTRIBUTIONS)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SETUPTOOLS_SCM")}
    done = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "hatchling", "version"],
            cwd=folder, env={**environment, **settings}, capture_output=True, text=True, check=True,
        )
        for folder in folders
    ]  # fmt: skip
    return {each.stdout.strip() for each in done}


def test_a_tree_from_a_tag_or_after_it_has_the_version_that_git_tells(checkout):
    git(checkout, "tag", "v0.7.0")
    assert versions(exported(checkout)) == versions(checkout) == {"0.7.0"}
    commit(checkout)
    shutil.rmtree(checkout.with_name("tree"))
    [here], [there] = versions(checkout), versions(exported(checkout))
    assert Version(here).public == Version(there).public == "0.7.1.dev1"
    assert Version(there).local and Version(there).local[:7] == Version(here).local[:7]


def test_a_tree_that_knows_nothing_claims_no_release_and_takes_one_that_is_given(checkout):
    tree = exported(checkout)  # of a repository without tags
    [found] = versions(tree)
    assert Version(found).is_devrelease
    [dated] = versions(checkout)
    assert Version(found) < Version(dated) and Version(found).release == Version(dated).release
    shutil.copy(ROOT / ".git_archival.txt", tree)  # as a plain copy of a checkout has it
    assert versions(tree) == {found}
    assert versions(tree, **{OVERRIDE: "0.3.1"}) == {"0.3.1"}


@pytest.mark.slow  # builds twice
def test_a_wheel_from_a_source_distribution_or_an_exported_tree_has_its_version(checkout):
    git(checkout, "tag", "v0.7.0")
    for name in ("sat_retriever", "integrations/langchain-sat/langchain_sat"):
        (checkout / name).mkdir()
        (checkout / name / "__init__.py").touch()
    commit(checkout)
    tree, built = exported(checkout), checkout.with_name("built")
    for folder in (tree, tree / "integrations" / "langchain-sat"):
        line = [sys.executable, "-m", "build", "--no-isolation", "--outdir", built, folder]
        subprocess.run(line, check=True, capture_output=True)  # the wheel is made of the sdist
    names = {each.name.split("-")[0]: each.name.split("-")[1] for each in built.glob("*.whl")}
    assert {*names} == {"sat_retriever", "langchain_sat"}
    assert {Version(each).public for each in names.values()} == {"0.7.1.dev1"}
