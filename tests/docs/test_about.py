"""SECURITY.md names tests that exist, and every file of the community profile is valid."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT

SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
SCHEMAS = [
    ("vendor.citation-file-format", ROOT / "CITATION.cff"),
    ("vendor.github-issue-config", ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml"),
    *(("vendor.github-issue-forms", form) for form in FORMS),
]


def defences() -> list[str]:
    """Rows of the tables, each a defence and its tests."""
    rows = re.findall(r"^\| (?!defence|---)(.+) \|$", SECURITY, re.MULTILINE)
    assert len(rows) > 10
    return rows


@pytest.mark.parametrize("row", defences(), ids=lambda row: row[:40])
def test_every_defence_names_tests_that_exist(row):
    text = row.rpartition(" | ")[2]
    files = re.split(r"(?=`tests/)", text)[1:]
    assert files, row
    for part in files:
        file, *names = re.findall(r"`(.+?)`", part)
        code = (ROOT / file).read_text(encoding="utf-8")
        for name in names:
            assert f"def {name}(" in code, f"{file} has no {name}"


def test_documents_that_are_named_exist():
    for name in re.findall(r"`((?:docs/)?[\w/.-]+\.md)`", SECURITY):
        assert (ROOT / name).is_file(), name


def test_the_citation_names_the_licence_and_the_paper_of_the_readme():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    title = re.search(r"title  = \{(.+)\}", readme)
    assert title is not None and f'title: "{title[1]}"' in citation
    assert "license: Apache-2.0" in citation


@pytest.mark.parametrize(("schema", "file"), SCHEMAS, ids=lambda each: Path(str(each)).name)
def test_files_for_the_hosting_service_are_valid(schema, file, tmp_path):
    if importlib.util.find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema is not installed; run: pip install '.[release]'")
    line = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema]
    line += ["--default-filetype", "yaml"]
    done = subprocess.run([*line, file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    broken = tmp_path / file.name
    broken.write_text(file.read_text(encoding="utf-8") + "\nnonsense: 1\n", encoding="utf-8")
    assert subprocess.run([*line, broken], capture_output=True, check=False).returncode == 1


def test_the_form_for_pull_requests_names_what_exists():
    text = (ROOT / ".github" / "pull_request_template.md").read_text(encoding="utf-8")
    for name in re.findall(r"`([\w/.]+(?:\.md|/))`", text):
        assert (ROOT / name).exists(), name
