"""A small repository with two distributions, like the real one."""

from __future__ import annotations

from pathlib import Path

from release import git

SETTINGS = """
[build-system]
requires = ["hatchling", "hatch-vcs"]
build-backend = "hatchling.build"

[project]
name = "{name}"
requires-python = ">=3.11"
readme = "README.md"
dynamic = ["version"]
dependencies = [{dependencies}]

[tool.hatch.version]
source = "vcs"
fallback-version = "0.1.1.dev0"
{rest}
"""
LOG = """# Changelog

## [Unreleased]

### Added

- The first thing.
"""


def repository(root: Path) -> Path:
    """Write and commit it."""
    core = SETTINGS.format(name="sat-retriever", dependencies='"numpy>=1.26"', rest="")
    tie = '"sat-retriever[sql]>=0.1,<0.2"'
    rest = 'raw-options = { root = "../.." }'
    adapter = SETTINGS.format(name="sat-retriever-adapter", dependencies=tie, rest=rest)
    for folder, settings, package in (
        (root, core, "sat_retriever"),
        (root / "integrations" / "adapter", adapter, "sat_retriever_adapter"),
    ):
        (folder / package).mkdir(parents=True)
        (folder / package / "__init__.py").write_text("ONE = 1\n", encoding="utf-8")
        (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
        (folder / "README.md").write_text("# A name\n\nthe text\n", encoding="utf-8")
    (root / "CHANGELOG.md").write_text(LOG, encoding="utf-8")
    git(root, "init", "--quiet")
    name_author(root)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "All")
    return root


def name_author(root: Path) -> None:
    """Say who commits, as not every machine does."""
    for key, value in (("user.name", "A"), ("user.email", "a@example.org")):
        git(root, "config", key, value)
