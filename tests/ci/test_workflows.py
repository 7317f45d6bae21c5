"""The workflows are valid, safe, and call the targets of the Makefile."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.version import Version

from tests.places import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
SCHEMAS = [("vendor.dependabot", GITHUB / "dependabot.yml")]
SCHEMAS += [("vendor.github-workflows", workflow) for workflow in WORKFLOWS]
# The first that run on Node 24, as runners have had no Node 20 since September 2026; and the first
# upload that takes the metadata which hatchling writes (2.5).
OLDEST = {
    "actions/checkout": "5",
    "actions/deploy-pages": "5",
    "actions/download-artifact": "7",
    "actions/setup-python": "6",
    "actions/upload-artifact": "6",
    "actions/upload-pages-artifact": "5",
    "pypa/gh-action-pypi-publish": "1.14.2",
}


def text(workflow: Path) -> str:
    return workflow.read_text(encoding="utf-8")


def jobs(workflow: Path) -> dict:
    return yaml.safe_load(text(workflow))["jobs"]


@pytest.mark.parametrize(("schema", "file"), SCHEMAS, ids=lambda each: Path(str(each)).name)
def test_a_workflow_is_valid(schema, file):
    if importlib.util.find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema is not installed; run: pip install '.[release]'")
    line = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, file]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_check_for_weaknesses_finds_none(tmp_path):
    beside = Path(sys.executable).with_name("zizmor")
    zizmor = str(beside) if beside.exists() else shutil.which("zizmor")
    if zizmor is None:
        pytest.skip("zizmor is not installed; run: pip install '.[release]'")
    line = [zizmor, "--offline", "--no-progress", "--persona=pedantic"]
    done = subprocess.run([*line, GITHUB], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    careless = tmp_path / "careless.yml"
    careless.write_text(text(WORKFLOWS[0]).replace("persist-credentials: false", ""), "utf-8")
    assert subprocess.run([*line, careless], capture_output=True, check=False).returncode


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_runs_targets_that_exist(workflow):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    runs = re.findall(r"run: (.+)", text(workflow))
    targets = [each.split()[1] for each in runs if each.startswith("make ")]
    assert [each for each in runs if not each.startswith("make ")] in ([], ["bash .ci/run"])
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_no_action_is_too_old_for_the_runners_and_for_what_is_built():
    for workflow in WORKFLOWS:
        for name, version in re.findall(r"uses: (\S+)@\w+ # v(\S+)", text(workflow)):
            assert Version(version) >= Version(OLDEST[name]), f"{workflow.name}: {name}"


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_every_action_is_pinned_by_its_whole_hash_and_says_its_version(workflow):
    used = re.findall(r"uses: (.+)", text(workflow))
    assert used
    for each in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each), each


def test_no_workflow_may_write_to_the_repository_and_one_job_alone_uploads():
    for workflow in WORKFLOWS:
        assert yaml.safe_load(text(workflow))["permissions"] == {"contents": "read"}
        for job in jobs(workflow).values():
            assert "contents" not in job.get("permissions", {})
    release = jobs(GITHUB / "workflows" / "release.yml")
    assert not any("permissions" in release[name] for name in ("check", "build"))
    assert release["publish"]["permissions"] == {"id-token": "write"}
    assert not any("run" in step for step in release["publish"]["steps"])


def test_what_is_uploaded_was_tested_and_half_an_upload_can_be_ended():
    release = jobs(GITHUB / "workflows" / "release.yml")
    assert set(release["publish"]["needs"]) == set(release) - {"publish"}
    runs = {step.get("run") for name in ("check", "build") for step in release[name]["steps"]}
    assert {"bash .ci/run", "make release PYTHON=python3.11", "make release-check"} <= runs
    upload = release["publish"]["steps"][-1]
    assert upload["uses"].startswith("pypa/gh-action-pypi-publish@")
    assert upload["with"] == {"skip-existing": True}


def test_every_system_and_every_supported_python_is_tried():
    matrix = jobs(GITHUB / "workflows" / "ci.yml")["test"]["strategy"]["matrix"]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert matrix["python"] == re.findall(r"Python :: (3\.\d+)", project)
    assert matrix["system"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
