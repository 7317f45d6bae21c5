"""`sat ask`: with a server of either form, without one, and without a model."""

import json

import openpyxl
import pytest

from tests.modelserver import Reaction, always, ollama, one_by_one, openai

QUESTION = "salary of the staff"
RIGHT = "```sql\nSELECT name, salary FROM staff\n```"
WRONG = "SELECT name, wage FROM staff"


def served(*lines):
    return ollama(one_by_one(*map(Reaction, lines)), models=("small",))


def test_sheets_queries_rows_words_and_citations_are_shown_in_turn(index_file, sat):
    with served(WRONG, RIGHT, "Ada earns 41.\n") as server:
        run = sat("ask", QUESTION, "--llm", "small", "--llm-url", server.host, "-i", index_file)
    assert run.code == 0
    parts = [
        "1  staff.csv#staff!A1:B2",
        WRONG,
        "There is no column 'wage'",
        "SELECT name, salary FROM staff",
        "name  salary\nAda   41",
        "Ada earns 41.",
        "From staff.csv#staff!A2:B2",
    ]
    places = [run.out.find(part) for part in parts]
    assert -1 not in places and places == sorted(places), run.out
    assert [chat["stream"] for chat in server.chats] == [True] * 3
    assert [chat["options"]["num_ctx"] for chat in server.chats] == [8192] * 3
    assert server.chats[0]["truncate"] is False


def test_a_server_of_the_openai_form_answers_as_well(index_file, sat):
    with openai(one_by_one(Reaction(RIGHT), Reaction("Ada earns 41."))) as server:
        run = sat("ask", QUESTION, "--llm", "openai:small", "--llm-url", server.host, "-i",
                  index_file)  # fmt: skip
    assert run.code == 0, run.err
    assert "Ada earns 41.\n\nFrom staff.csv#staff!A2:B2" in run.out
    assert server.paths == ["/v1/chat/completions"] * 2


def test_json_has_the_whole_answer(index_file, sat):
    with served(RIGHT, "Ada earns 41.") as server:
        run = sat("ask", QUESTION, "--llm", "small", "--llm-url", server.host, "-i", index_file,
                  "--json")  # fmt: skip
    told = json.loads(run.out)
    assert (told["answer"], told["kind"]) == ("Ada earns 41.", "sql")
    assert told["citations"] == ["staff.csv#staff!A2:B2"]
    assert told["hits"][0]["sheet_id"] == "staff.csv#staff"


def test_without_words_the_rows_stand_in(index_file, sat):
    with served(RIGHT, "") as server:
        run = sat("ask", QUESTION, "--llm", "small", "--llm-url", server.host, "-i", index_file)
    assert "The language model gave no answer. The query gives:" in run.out
    assert "| Ada | 41 |" in run.out


def test_control_characters_of_a_model_do_not_reach_the_terminal(index_file, sat):
    with served("NO SQL", "Red \x1b[31m [1]") as server:
        run = sat("ask", QUESTION, "--llm", "small", "--llm-url", server.host, "-i", index_file)
    assert "\x1b" not in run.out
    assert "Red  [31m [1]" in run.out


@pytest.mark.parametrize("as_json", [False, True])
def test_without_a_server_the_prompt_is_printed_and_what_is_missing_is_said(
    index_file, sat, as_json
):
    more = ["--json"] if as_json else []
    told = ("--llm", "small", "--llm-url", "http://127.0.0.1:1", "-i", index_file, *more)
    run = sat("ask", QUESTION, *told)
    assert run.code == 1
    assert "no Ollama server answers at http://127.0.0.1:1; start it with: ollama serve" in run.err
    assert "Question: salary of the staff" in run.out
    assert "salary number: Salary" in run.out
    if as_json:
        assert json.loads(run.out)["prompt"]["system"].startswith("You write SQL")
    else:
        assert "run a query: sat sql 'SELECT …' -s 'staff.csv#staff!A1:B2'" in run.err


def test_a_model_that_is_not_there_is_named(index_file, sat):
    with ollama(always(Reaction())) as server:
        run = sat("ask", QUESTION, "--llm", "none", "--llm-url", server.host, "-i", index_file)
    assert run.code == 1
    assert "ollama pull none" in run.err
    assert "Question: salary of the staff" in run.out


def test_without_a_model_the_prompt_is_printed(index_file, sat):
    run = sat("ask", QUESTION, "-i", index_file, "--tables", 0)
    assert run.code == 0
    assert "[1] staff.csv#staff!A1:B2" in run.out
    assert "| 2 | Ada | 41 |" in run.out
    assert "no language model is named" in run.err
    assert "sat sql" not in run.err


@pytest.mark.parametrize("model", [[], ["--llm", "small", "--llm-url", "http://127.0.0.1:9"]])
def test_json_of_a_question_without_a_sheet_is_json(index_file, sat, model):
    run = sat("ask", QUESTION, "-i", index_file, "--path", "nowhere/*", "--json", *model)
    assert (run.code, run.err) == (0, "")
    told = json.loads(run.out)
    assert (told["question"], told["hits"]) == (QUESTION, [])
    assert told.get("prompt") is None


def test_a_slow_or_cut_answer_is_an_error_in_words(index_file, sat):
    cut = one_by_one(Reaction(RIGHT), Reaction("Ada ear", reason="length"))
    with ollama(cut, models=("small",)) as server:
        run = sat("ask", QUESTION, "--llm", "small", "--llm-url", server.host, "-i", index_file)
    assert (run.code, "Ada ear" in run.out) == (1, True)
    assert "did not finish its answer within 2048 tokens" in run.err


def test_an_answer_is_saved_as_an_excel_file_with_the_cells_it_cites(index_file, sat, tmp_path):
    out = tmp_path / "answer.xlsx"
    with served(RIGHT, "Ada earns 41.") as server:
        asked = ("ask", QUESTION, "--llm", "small", "--llm-url", server.host, "-i", index_file)
        run = sat(*asked, "--out", out)
    assert run.code == 0, run.err
    book = openpyxl.load_workbook(out)
    told = dict(book["Answer"].iter_rows(min_row=2, values_only=True))
    assert (told["Question"], told["Answer"]) == (QUESTION, "Ada earns 41.")
    assert told["SQL"] == "SELECT name, salary FROM staff"
    assert list(book["Rows"].values) == [("name", "salary"), ("Ada", 41)]
    assert list(book["Citations"].values)[1:] == [
        (1, "staff.csv", "staff", "A2", "Name", "Ada"),
        (1, "staff.csv", "staff", "B2", "Salary", 41),
    ]
    assert book["Citations"]["D3"].hyperlink.target.endswith("staff.csv")
    assert book["Citations"]["D3"].hyperlink.location == "'staff'!B2"
    run = sat(*asked, "--out", out)
    assert run.code == 2 and "--force" in run.err and len(server.chats) == 2


def test_an_answer_from_text_is_saved_with_the_cells_that_hold_it(index_file, sat, tmp_path):
    out = tmp_path / "answer.xlsx"
    with served("NO SQL", "Ada earns 41 [1].") as server:
        asked = ("ask", QUESTION, "--llm", "small", "--llm-url", server.host, "-i", index_file)
        assert sat(*asked, "--out", out).code == 0
    book = openpyxl.load_workbook(out)
    assert book.sheetnames == ["Answer", "Citations"]
    lines = list(book["Citations"].values)[1:]
    assert (None, "staff.csv", "staff", "B2", None, 41) in lines


@pytest.mark.parametrize("option", ["--llm-url", "--out"])
def test_options_of_a_model_are_refused_without_one(index_file, sat, option, tmp_path):
    run = sat("ask", QUESTION, "-i", index_file, option, tmp_path / "x.xlsx")
    assert run.code == 2
    assert f"{option} needs a language model; name one with --llm" in run.err
