"""A README is followed where nothing but its wheel is installed."""

from __future__ import annotations

import sys
from email.message import Message
from pathlib import Path

import pytest
import release_check
from distributions import distributions
from release import build, git
from release_check import interpreters, named, outcome, refused, table

from tests.ci.repository import repository
from tests.ci.test_release import FEBRUARY, needs

CORE = """# A name

<!-- desk: workbooks -->
```python
import sat_retriever
from pathlib import Path
print(sat_retriever.ONE, Path("pyproject.toml").exists(), Path("demo/workbooks/a.csv").exists())
```

```text
1 False True
```
{more}"""
ADAPTER = """
With `sat-retriever-adapter`:

```python
import sat_retriever_adapter
print(sat_retriever_adapter.ONE)
```

```text
{shown}
```
"""


@pytest.fixture
def followed(tmp_path, monkeypatch):
    """Follows the README of the core, whose second part needs the adapter."""
    needs("build", "hatchling", "hatch_vcs")

    def follow(more: str) -> release_check.Outcome:
        root = repository(tmp_path / "checkout")
        (root / "README.md").write_text(CORE.format(more=more), encoding="utf-8")
        for file in root.rglob("pyproject.toml"):  # nothing is to be fetched
            text = file.read_text(encoding="utf-8").replace('"numpy>=1.26"', "")
            file.write_text(text.replace("[sql]", ""), encoding="utf-8")
        git(root, "commit", "--quiet", "--all", "--message", "README")
        build(root, tmp_path / "dist", FEBRUARY)
        (tmp_path / "work" / "workbooks").mkdir(parents=True)
        (tmp_path / "work" / "workbooks" / "a.csv").write_text("a,b\n1,2\n", encoding="utf-8")
        found = distributions(root)
        monkeypatch.setattr(release_check, "DIST", tmp_path / "dist")
        monkeypatch.setattr(release_check, "WORK", tmp_path / "work")
        monkeypatch.setattr(release_check, "WORKBOOKS", tmp_path / "work" / "workbooks")
        monkeypatch.setattr(release_check, "distributions", lambda: found)
        return outcome(sys.executable, "3", found[0])

    return follow


@pytest.mark.slow
def test_what_a_readme_names_is_installed_when_it_names_it(followed):
    found = followed(ADAPTER.format(shown="1"))
    assert (found.said, found.blocks) == ("passed", 2)
    assert found.install_seconds > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "said"),
    [
        (ADAPTER.format(shown="2"), "prints '1\\n'"),
        (ADAPTER.replace("With", "Without").replace("`sat-retriever-adapter`", "it"), "No module"),
    ],
)
def test_a_readme_that_does_not_hold_is_told(followed, more, said):
    found = followed(more)
    assert found.blocks == 1
    assert found.said.startswith("failed in block 2: ") and said in found.said


def test_extras_and_distributions_that_a_text_names_are_wanted(tmp_path, monkeypatch):
    core, adapter = distributions(repository(tmp_path / "checkout"))
    built = tmp_path / "dist"
    built.mkdir()
    for name in ("sat_retriever", "sat_retriever_adapter"):
        (built / f"{name}-1.0-py3-none-any.whl").touch()
    monkeypatch.setattr(release_check, "DIST", built)
    monkeypatch.setattr(release_check, "distributions", lambda: [core, adapter])
    monkeypatch.setattr(release_check, "metadata", said_by)
    assert named("a page", core) == []
    assert named("with `[serve]`, `[sql,unknown]`", core) == [
        [f"sat-retriever[serve,sql] @ {core.wheel(built).as_uri()}"]
    ]
    assert named("install `sat-retriever[sql]`", core) == [
        [f"sat-retriever[sql] @ {core.wheel(built).as_uri()}"]
    ]
    wheel, own = adapter.wheel(built).as_uri(), core.wheel(built).as_uri()
    assert named("add sat-retriever-adapter", core) == [
        [f"sat-retriever-adapter @ {wheel}", f"sat-retriever @ {own}"]
    ]
    assert named("needs `sat-retriever[sql]`", adapter) == [[f"sat-retriever[sql] @ {own}"]]


def said_by(wheel: Path) -> Message:
    """Metadata of a wheel that has extras, and of an adapter that needs the core."""
    about = Message()
    about["Provides-Extra"], about["Requires-Dist"] = "sql", "numpy>=1.26"
    about["Provides-Extra"] = "serve"
    if "adapter" in wheel.name:
        about["Requires-Dist"] = "sat-retriever[sql]<0.2,>=0.1"
    return about


def test_an_interpreter_counts_by_the_version_that_it_says(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    for name in ("python3.11", "python3.12", "python3.13"):
        (tmp_path / name).symlink_to(Path(sys.executable).resolve())
    assert list(dict(interpreters([]))) == [f"3.{sys.version_info[1]}"]


def test_the_interpreter_that_runs_it_is_always_there(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert dict(interpreters([])) == {f"3.{sys.version_info[1]}": sys.executable}


NOT_RUN = "not run: no such interpreter here"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (["passed", NOT_RUN], ""),
        (["passed", "failed in block 1: x"], "does not hold"),
        ([NOT_RUN, NOT_RUN], "nothing was checked"),
        ([], "nothing was checked"),
    ],
)
def test_what_failed_and_what_nobody_checked_is_refused(said, why):
    assert why in refused(said) and bool(refused(said)) is bool(why)


def test_the_report_tells_what_was_not_run():
    text = table([release_check.Outcome("3.13", "x", NOT_RUN)], 1.25)
    assert f"| 3.13 | x | 0 | 0 | 0 | {NOT_RUN} |" in text
    assert text.endswith("1.2 minutes\n")
