"""`sat permissions`, and who asks on the command line."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading

import pytest

from sat_retriever import SheetIndex, index_paths
from tests.cli.conftest import command

RULES = """
[[rule]]
paths = "staff.csv"
groups = ["hr"]

[[rule]]
paths = "sales/*"
sheets = "Plan*"
groups = ["board"]

[[rule]]
paths = "*"
groups = ["*"]
"""
PLAN, STAFF = "sales/2024.xlsx#Plan #1", "staff.csv#staff"


@pytest.fixture
def rules(tmp_path):
    file = tmp_path / "rules.toml"
    file.write_text(RULES)
    return file


@pytest.fixture
def ruled(index_file, tmp_path, rules, sat):
    """A copy of the index, with permissions."""
    copy = tmp_path / "copy.sat"
    shutil.copy(index_file, copy)
    assert sat("permissions", "--index", copy, "--rules", rules).code == 0
    return copy


def seen(sat, file, *who):
    run = sat("search", "region name revenue", "--index", file, "-k", 20, "--json", *who)
    return {hit["sheet_id"] for hit in json.loads(run.out)["hits"]} if run.code == 0 else run.err


def test_commands_show_what_is_for_the_one_who_asks(ruled, sat):
    everyone, hr = seen(sat, ruled, "--as", "nobody"), seen(sat, ruled, "--as", "hr")
    owner = seen(sat, ruled, "--as-owner")
    assert hr - everyone == {STAFF} and owner - everyone == {PLAN, STAFF}
    assert seen(sat, ruled, "--as", "hr", "--as", "board") == owner
    assert "say who asks" in seen(sat, ruled)
    assert "exclude each other" in seen(sat, ruled, "--as", "hr", "--as-owner")


@pytest.mark.parametrize(
    "command",
    [("show", STAFF), ("why", "names", STAFF), ("export", STAFF), ("show", PLAN)],
    ids=lambda command: command[0],
)
def test_a_hidden_sheet_is_as_one_that_does_not_exist(ruled, sat, command):
    run = sat(*command, "--index", ruled, "--as", "nobody")
    assert run.code == 2 and run.out == ""
    unknown = [part.replace("staff", "stall").replace("Plan #1", "Plon #1") for part in command]
    other = sat(*unknown, "--index", ruled, "--as", "nobody")
    plain = run.err.replace("stall", "staff").replace("Plon", "Plan")
    assert other.err.replace("stall", "staff").replace("Plon", "Plan") == plain
    assert "say who asks" in sat(*command, "--index", ruled).err


def test_status_and_graph_count_visible_sheets_alone(ruled, sat, tmp_path):
    counts = [
        json.loads(sat("status", "--index", ruled, "--json", *who).out)["sheets"]
        for who in (("--as", "nobody"), ("--as", "hr"), ("--as-owner",))
    ]
    assert counts[0] + 2 == counts[1] + 1 == counts[2]
    page = tmp_path / "links.html"
    assert sat("graph", "--index", ruled, "--out", page, "--as", "nobody").code == 0
    assert "Q1" in page.read_text() and "Plan #1" not in page.read_text()


def test_groups_are_counted_and_changes_tried_before_they_are_made(ruled, sat, tmp_path):
    run = sat("permissions", "--index", ruled, "--json")
    told = json.loads(run.out)
    assert told["restricted"] and told["groups"]["hr"] == 1 and told["changed"] == []
    other = tmp_path / "other.toml"
    other.write_text('[[rule]]\npaths = "*"\ngroups = ["*"]\n')
    with SheetIndex.open(ruled) as index:
        before = index.generation
        run = sat("permissions", "--index", ruled, "--rules", other, "--dry-run")
        assert "2 sheets would get other groups" in run.out
        assert f"hr -> everyone  1\n  {STAFF}\n" in run.out and index.generation == before
    assert STAFF not in seen(sat, ruled, "--as", "x")
    run = sat("permissions", "--index", ruled, "--rules", other)
    assert "2 sheets got other groups" in run.out and "everyone" in run.out
    assert STAFF in seen(sat, ruled, "--as", "x")
    run = sat("permissions", "--index", ruled, "--open-to-all")
    assert "everyone sees" in run.out and STAFF in seen(sat, ruled)


def test_few_sheets_that_change_are_listed_before_many_that_change_otherwise(
    sat, tmp_path, encoder
):
    (tmp_path / "all").mkdir()
    for number in range(30):
        (tmp_path / f"all/{number:02}.csv").write_text("Name,Salary\nAda,41\n")
    file, rules = tmp_path / "all.sat", tmp_path / "rules.toml"
    index_paths(tmp_path / "all", file, encoder=encoder).close()
    rules.write_text(
        '[[rule]]\npaths = "29.csv"\ngroups = ["hr"]\n[[rule]]\npaths = "*"\ngroups = ["all"]\n'
    )
    run = sat("permissions", "--index", file, "--rules", rules, "--dry-run")
    few, many = run.out.index("-> hr  1\n"), run.out.index("-> all  29\n")
    assert few < run.out.index("29.csv#29") < many
    assert "18.csv#18" in run.out and "and 9 more; --json lists all" in run.out


def test_rules_that_are_wrong_are_refused_and_change_nothing(ruled, sat, tmp_path):
    file = tmp_path / "wrong.toml"
    for text, says in (
        ("rules = 1", "write rules"), ('[[rule]]\npaths = "*"', "lacks groups"),
        ('[[rule]]\npath = "*"\ngroups = []', "rule 1"), ("[[rule", "cannot read"),
        ('[[rule]]\npaths = "*"\ngroups = ["a\\u0007"]', "a group is called"),
    ):  # fmt: skip
        file.write_text(text)
        run = sat("permissions", "--index", ruled, "--rules", file)
        assert run.code == 2 and says in run.err
    assert sat("permissions", "--index", ruled, "--rules", tmp_path / "none").code == 2
    assert STAFF not in seen(sat, ruled, "--as", "x")


def test_indexing_takes_rules_and_later_runs_go_on_with_them(
    workbooks, encoder, rules, sat, tmp_path
):
    folder, file = tmp_path / "books", tmp_path / "new.sat"
    shutil.copytree(workbooks, folder)
    run = sat("index", folder, "--index", file, "--encoder", encoder, "--permissions", rules)
    assert run.code == 0 and STAFF not in seen(sat, file, "--as", "x")
    (folder / "staff.csv").write_text("Name,Salary\nEve,42\n")
    (folder / "more.csv").write_text("Name,Region\nEve,North\n")
    run = sat("index", folder, "--index", file)
    assert run.code == 0
    found = seen(sat, file, "--as", "x")
    assert STAFF not in found and "more.csv#more" in found


def test_a_rule_that_decides_for_no_sheet_is_told_by_every_command(
    workbooks, encoder, sat, tmp_path
):
    rules, file = tmp_path / "rules.toml", tmp_path / "new.sat"
    rule = '[[rule]]\npaths = "{}"\ngroups = ["{}"]\n'
    given = [("STAFF*", "hr"), ("*", "*"), ("sales/*", "board")]  # the first opens what it means
    rules.write_text("".join(rule.format(*each) for each in given))
    told = (
        'warning: rule 1 (paths "STAFF*", sheets "*") decides for no sheet: no sheet matches it',
        'warning: rule 3 (paths "sales/*", sheets "*") decides for no sheet: rules above it match',
    )
    runs = [
        sat("index", workbooks, "--index", file, "--encoder", encoder, "--permissions", rules),
        sat("index", workbooks, "--index", file),  # with the rules that the index notes
        sat("permissions", "--index", file),
    ]
    for run in runs:
        assert run.code == 0 and all(each in run.err for each in told), run.err
    assert STAFF in seen(sat, file, "--as", "x")  # opened by the next rule
    for words in (
        ("serve", "--index", file, "--as", "x", "--port", 0),
        ("mcp", "--transport", "http", "--index", file, "--as", "x", "--port", 0),
        ("watch", workbooks, "--index", file, "--poll", 1),
    ):
        with subprocess.Popen(
            [*command(), *map(str, words)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        ) as process:
            late = threading.Timer(60, process.kill)  # else a line that is missing is waited for
            late.start()
            lines = [process.stderr.readline().decode() for _ in told]
            late.cancel()
            process.kill()
        assert all(each in line for each, line in zip(told, lines, strict=True)), (words, lines)
    rules.write_text(rule.format("staff*", "hr"))
    tried = sat("permissions", "--index", file, "--rules", rules, "--dry-run", "--json")
    assert json.loads(tried.out)["idle_rules"] == [] and "warning" not in tried.err
    assert sat("permissions", "--index", file, "--rules", rules).err == ""


def test_a_server_needs_to_know_who_asks(ruled, sat, tmp_path):
    run = sat("serve", "--index", ruled, "--port", 0)
    assert run.code == 2 and "--tokens FILE" in run.err
    tokens = tmp_path / "tokens.toml"
    tokens.write_text('[[token]]\ntoken = "short"\ngroups = ["hr"]\n')
    tokens.chmod(0o644)
    assert "chmod 600" in sat("serve", "--index", ruled, "--port", 0, "--tokens", tokens).err
    tokens.chmod(0o600)
    assert "16 characters" in sat("serve", "--index", ruled, "--port", 0, "--tokens", tokens).err
