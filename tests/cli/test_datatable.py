"""Rows of data on the terminal: every column and value is there, at any width."""

import io
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever.cli import terminal
from sat_retriever.cli.terminal import _Console, print_rows
from tests.builders import save_book
from tests.cli.conftest import run_sat
from tests.cli.terminals import in_terminal

WORDS = st.text("abcdefghijklmnopqrstuvwxyzä漢", min_size=1, max_size=60)


def shown(width, *given):
    out = io.StringIO()
    console = _Console(highlight=False, width=width, file=out)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terminal, "stdout", lambda: console)
        print_rows(*given)
    return out.getvalue()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(40, 220),
    st.lists(WORDS, min_size=1, max_size=40).flatmap(
        lambda names: st.tuples(
            st.just(names),
            st.lists(
                st.lists(WORDS, min_size=len(names), max_size=len(names)), min_size=1, max_size=4
            ),
        )
    ),
    st.booleans(),
)
def test_no_letter_of_a_name_or_value_is_left_out_at_any_width(width, table, labelled):
    names, rows = table
    labels = [str(number) for number in range(7, 7 + len(rows))] if labelled else []
    text = shown(width, names, rows, labels)
    wanted = Counter("".join([*names, *(cell for row in rows for cell in row)]))
    missing = wanted - Counter(text)
    assert not missing, text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width


def test_rows_that_fit_are_one_table_and_others_come_in_parts_with_their_rows_numbered():
    names, rows = ["name", "city"], [["Ada", None], ["Bob", "Oslo"]]
    assert [line.split() for line in shown(40, names, rows).splitlines()] == [
        ["name", "city"],
        ["Ada"],
        ["Bob", "Oslo"],
    ]
    wide = shown(40, [f"column_{n}" for n in range(6)], [[n * 1000 for n in range(6)]])
    assert [line.split() for line in wide.splitlines()] == [
        ["columns", "1", "to", "3", "of", "6:"],
        ["column_0", "column_1", "column_2"],
        ["1", "0", "1000", "2000"],
        [],
        ["columns", "4", "to", "6", "of", "6:"],
        ["column_3", "column_4", "column_5"],
        ["1", "3000", "4000", "5000"],
    ]


def test_markup_in_a_name_or_value_is_shown_as_it_is():
    text = shown(80, ["[red]name", "b"], [["[bold]x", "\x1b[31my"]])
    assert [line.split() for line in text.splitlines()] == [
        ["[red]name", "b"],
        ["[bold]x", "[31my"],
    ]


@pytest.fixture(scope="module")
def wide_file(tmp_path_factory, encoder):
    folder = tmp_path_factory.mktemp("wide")
    lines = (",".join(f"{word}{n}" for n in range(60)) for word in ("place", "first", "second"))
    (folder / "wide.csv").write_text("\n".join(lines), encoding="utf-8")
    file = folder / "wide.sat"
    run_sat("index", str(folder), "--index", str(file), "--model", str(encoder))
    return file


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        (20, ("cells", "wide.csv")),
        (200, ("cells", "wide.csv")),
        (80, ("sql", "SELECT * FROM wide", "-s", "wide.csv")),
    ],
)
def test_every_cell_of_a_wide_table_is_on_the_terminal(columns, asked, wide_file):
    run = in_terminal(*asked, "--index", wide_file, columns=columns, output=True)
    words = set(run.out.split())
    assert words >= {f"{word}{n}" for word in ("first", "second") for n in range(60)}
    if asked[0] == "sql":
        assert "place59" in run.out


def test_columns_beyond_the_limit_are_said_and_can_be_asked_for(wide_file, sat):
    sql = ("sql", "SELECT * FROM wide", "-s", "wide.csv", "--index", wide_file)
    cut = sat(*sql, "--columns", 5)
    assert "Only the first 5 of 61 columns are shown, up to place4;" in cut.err
    assert "first5" not in cut.out
    named = sat("sql", "-s", "wide.csv", "--index", wide_file, "--columns", 5)
    assert "  and 55 more columns; find others by a part of their names with SELECT" in named.out
    found = sat("sql", "SELECT COLUMNS('59') FROM wide", *sql[2:], "--columns", 5)
    assert found.out.split() == ["place59", "first59", "second59"]


def test_the_columns_of_a_workbooks_sheets_that_are_not_listed_are_counted(tmp_path, encoder, sat):
    rows = [[f"c{n}" for n in range(11)], list(range(11))]
    save_book(tmp_path / "book.xlsx", One=rows, Two=rows)
    file = tmp_path / "x.sat"
    sat("index", tmp_path, "--index", file, "--model", encoder)
    assert "c7 +3" in " ".join(sat("show", "book.xlsx", "--index", file).out.split())


def test_cells_that_do_not_fit_are_told_by_the_range_that_does(tmp_path, encoder, sat):
    (tmp_path / "long.csv").write_text("a,b,c\n" + "1,2,3\n" * 9_000, encoding="utf-8")
    file = tmp_path / "x.sat"
    sat("index", tmp_path, "--index", file, "--model", encoder)
    run = sat("cells", "long.csv", "--index", file)
    assert run.err == "only A1:C6666 fits; ask for the other cells next\n"
    assert len(run.out.splitlines()) == 6_668
