"""`make demo`, end to end: what a newcomer sees first."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sat_retriever import SheetIndex, SheetRetriever
from sat_retriever.datasets.dataset import load_industrytab
from sat_retriever.records.hits import NOTHING
from tests.places import EXAMPLES
from tests.saved_encoder import save_bag_of_words

WINNERS = {
    "How much did we sell in the South in February?": ("February", "sales/Sales South 2024.xlsx"),
    "Where did actual cost exceed the budget in 2024?": (
        "Budget vs actual",
        "finance/Budget 2024.xlsx",
    ),
    "What does a ball valve cost, and how long is the delivery?": (
        "Price list",
        "warehouse/Suppliers.xlsx",
    ),
    "Which assumptions does the budget rest on?": ("Assumptions", "finance/Budget 2024.xlsx"),
    "bearing temperature of the pumps": ("sensor_readings", "exports/sensor_readings.tsv"),
    "Resturlaub pro Mitarbeiter": ("Urlaubskonto 2024", "hr/Urlaubskonto 2024.csv"),
    "三月 出库 数量": ("三月", "warehouse/库存台账 2024.xlsx"),
}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = "".join(file.read_text(encoding="utf-8") for file in EXAMPLES.glob("*.py"))
    words = re.findall(r"[^\W\d_]+", source)
    return save_bag_of_words(tmp_path_factory.mktemp("demo") / "bag", words)


def demo(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EXAMPLES / "demo.py", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def shown(encoder: Path) -> str:
    """What the demo prints into a pipe."""
    done = demo("--model", encoder, "--work", encoder.parent / "work")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("question", WINNERS)
def test_each_question_finds_its_sheet_first(question, shown):
    told = [line for line in shown.splitlines() if line != NOTHING]  # the encoder knows few words
    best = told[[line.split("  ")[0] for line in told].index(question) + 1]
    sheet, path = WINNERS[question]
    assert re.search(rf"━ +{re.escape(sheet)} +{re.escape(path)} ", best)


def test_every_question_asked_is_checked_here(shown):
    assert set(re.findall(r"^(.+?)  \d+ ms$", shown, re.MULTILINE)) == set(WINNERS)


def test_a_made_question_of_each_type_has_its_true_sheets_marked(shown):
    parts = re.findall(r"^([a-z ]+): (\d) of (\d) found in the first 5\n((?:.+\n)+)", shown, re.M)
    assert sorted(kind for kind, *_ in parts) == [
        "aggregation",
        "comparison",
        "formula tracing",
        "join key reasoning",
        "semantic lookup",
        "summary source",
    ]
    for _, found, true, rows in parts:
        marked = len(re.findall(r"^✓ 0\.\d\d ", rows, re.MULTILINE))
        assert marked == int(found)
        assert marked + len(re.findall("^– later ", rows, re.MULTILINE)) == int(true)


def test_made_questions_are_scored_over_all_of_them(shown, encoder):
    [(number, recall, gain)] = re.findall(
        r"^All (\d+) made questions\nrecall@10 (0\.\d\d), nDCG@10 (0\.\d\d)", shown, re.M
    )
    corpus = load_industrytab(encoder.parent / "work" / "made")
    assert int(number) == len(corpus.queries) == 180
    names = {r.sheet_id: f"{r.path}#{r.sheet}" for r in corpus.records}
    with SheetIndex.open(encoder.parent / "work" / "demo.sat") as index:
        retriever = SheetRetriever(index)
        ranked = [[h.sheet_id for h in retriever.retrieve(q.text, 10)] for q in corpus.queries]
    true = [{names[sheet] for sheet in query.positives} for query in corpus.queries]
    hits = [len(gold & set(sheets)) / len(gold) for sheets, gold in zip(ranked, true, strict=True)]
    assert f"{sum(hits) / len(hits):.2f}" == recall
    assert 0 < float(gain) < 1


LAYOUTS = [
    "Budget vs actual +finance/Budget 2024.xlsx +A3:G10 +header in rows 3 to 4",
    "Assumptions +finance/Budget 2024.xlsx +A1:C5 +hidden sheet",
    "Form +hr/Employee form Lena Brandt.xlsx +A1:B8 +headers in the first column",
    r"\w.* +\S.*\.xlsx +[A-C]\d+:\w+ +header in row \d+ *$",
    r"\w+ +warehouse/Stock movements.xlsx +\S+, \S+ +2 tables",
]


@pytest.mark.parametrize("line", LAYOUTS)
def test_what_the_reader_noticed_is_told(line, shown):
    assert re.search(f"^{line}", shown, re.MULTILINE)


def test_what_was_skipped_is_told_with_the_reason(shown):
    assert re.search(r"^damaged +archive/Sales 2019 \(download\).xlsx ", shown, re.MULTILINE)
    assert re.search(r"^empty_file +archive/Price list 2020.xls ", shown, re.MULTILINE)
    assert "1 file of other kinds ignored" in shown


def test_a_pipe_gets_plain_text_of_at_most_100_columns(shown):
    assert "\x1b" not in shown
    assert max(len(line.rstrip()) for line in shown.splitlines()) <= 100


@pytest.mark.slow
def test_a_second_run_says_the_same(encoder, shown):
    again = demo("--model", encoder, "--work", encoder.parent / "work").stdout
    assert _without_times(again) == _without_times(shown)


def test_a_folder_of_ones_own_gets_questions_of_its_own(encoder, tmp_path):
    (tmp_path / "staff [x].csv").write_text("Surname,Salary\nAda,1\n", encoding="utf-8")
    done = demo(tmp_path, "--model", encoder, "--work", tmp_path / "work")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Surname and Salary in staff [x]" in done.stdout
    asked = demo(tmp_path, "--ask", "the salary", "--model", encoder, "--work", tmp_path / "work")
    assert re.search(
        r"^the salary  \d+ ms\n(?:Nothing .+\n)?0\.\d\d ━+ +staff \[x\] ",
        asked.stdout,
        re.MULTILINE,
    )


def test_a_question_that_nothing_answers_is_told(encoder, tmp_path):
    (tmp_path / "staff.csv").write_text("Surname,Salary\nAda,1\n", encoding="utf-8")
    done = demo(tmp_path, "--ask", "lunar tides", "--model", encoder, "--work", tmp_path / "work")
    assert re.search(r"^lunar tides  \d+ ms\nNothing here seems to answer this", done.stdout, re.M)


def test_a_missing_folder_is_an_error_in_one_line(encoder, tmp_path):
    done = demo(tmp_path / "nowhere", "--model", encoder, "--work", tmp_path / "work")
    assert done.returncode == 1
    assert done.stderr.startswith("demo: ")
    assert len(done.stderr.splitlines()) == 1


def _without_times(text: str) -> str:
    return re.sub(r"\d+ ms|\d+\.\d s", "", text)


def test_links_are_shown_with_their_evidence(shown):
    assert re.search(r"^Links between sheets  [\d,]+ found", shown, re.MULTILINE)
    section = shown.partition("Links between sheets")[2].partition("\nscore ")[0]
    for kind in ("formula_reference", "aggregation", "summary_source", "join_key"):
        assert re.search(rf"^{kind} +\w.* → ", section, re.MULTILINE)
    assert re.search(r"![A-Z]+\d+\b", section)  # a cell
    assert re.search(r"=\w+\(", section)  # and its formula
