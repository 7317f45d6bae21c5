"""The guide on watching a server, and its dashboard, name what the server shows."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
import yaml
from metrics_table import shown

from sat_retriever.stages import Stage
from tests.docs.pages import DOCS, ROOT, blocks

GUIDE = DOCS / "guides" / "watching.md"
DASHBOARD = ROOT / "examples" / "grafana-dashboard.json"
EXPRESSIONS = [
    (panel["title"], target["expr"])
    for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    for target in panel["targets"]
]
SAMPLES = {sample.name: set() for each in shown() for sample in each.samples}
for each in shown():
    for sample in each.samples:
        SAMPLES[sample.name] |= sample.labels.keys()


@pytest.mark.parametrize(("title", "query"), EXPRESSIONS, ids=lambda each: each[:40])
def test_every_query_of_the_dashboard_names_metrics_and_labels_that_exist(title, query):
    names = re.findall(r"\bsat_\w+", query)
    assert names, title
    assert [name for name in names if name not in SAMPLES] == []
    given = {label for name in names for label in SAMPLES[name]} | {"job"}
    asked = re.findall(r"(\w+)=~?\"", query)
    grouped = [
        label.strip() for by in re.findall(r"by \(([^)]*)\)", query) for label in by.split(",")
    ]
    assert [label for label in (*asked, *grouped) if label not in given] == []
    assert query.count("(") == query.count(")")


def test_the_dashboard_shows_every_metric():
    asked = " ".join(query for _, query in EXPRESSIONS)
    missing = [each.name for each in shown() if not re.search(rf"\b{each.name}(_\w+)?\b", asked)]
    assert missing == []


def test_the_guide_names_every_stage_and_its_lines_are_those_of_the_logs():
    text = GUIDE.read_text(encoding="utf-8")
    assert all(f"`sat.{stage}`" in text for stage in Stage)
    access, audit = (json.loads(block.text) for block in blocks(GUIDE) if block.language == "json")
    named = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", text.partition("## The audit log")[2], re.M)
    told = {name for row in named for name in re.findall(r"`(\w+)`", row)}
    came = {"client", "method", "route", "status", "time"}
    assert set(audit) <= told | came
    assert came <= set(access) and came <= set(audit)


def test_what_others_programs_read_is_what_they_can_read(tmp_path):
    of = {block.language: block.text for block in blocks(GUIDE)}
    (job,) = yaml.safe_load(of["yaml"])["scrape_configs"]
    assert job["static_configs"] == [{"targets": ["127.0.0.1:8765"]}]
    if shutil.which("logrotate") is None:
        pytest.skip("logrotate is not installed")
    rules = tmp_path / "sheets"
    rules.write_text(of["logrotate"].replace("    su sheets sheets\n", ""))
    rules.chmod(0o600)
    line = ["logrotate", "--debug", "--state", str(tmp_path / "state"), str(rules)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, "error" in done.stderr) == (0, False), done.stderr
