import pytest

from benchmarks.real import sources, without
from benchmarks.real.cost import Timed, beside, code_lines
from benchmarks.real.real import climbed
from benchmarks.real.rungs import RUNGS
from benchmarks.real.systems import GENERAL, Searched
from benchmarks.results import read_results, write_result
from benchmarks.tables.ladder import ladder_tables
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import unsupported
from sat_retriever.rank.links import linkrank, reading
from tests.builders import save_book
from tests.fakes import HashedEncoder

BOOK = "EV Charging Availability Parameters.xlsx"
ABOUT, MAIN, DATA, OTHER = (
    *(f"{BOOK}#{tab}" for tab in ("About", "EVCAP", "Chargers")),
    "Prices.xlsx#Diesel",
)
QUESTIONS = {
    "ev charging availability parameters": MAIN,  # initials, main sheet
    "diesel price of the northern valley": OTHER,  # words of cells
}


@pytest.fixture
def on(tmp_path):
    root = tmp_path / "workbooks"
    root.mkdir()
    save_book(
        root / BOOK,
        About=[
            ["About this workbook and where its figures come from"],
            ["The chargers of every borough were counted by volunteers in the spring."],
            ["Ask the office of the survey for the forms that they filled in."],
        ],
        EVCAP=[["Charging", "Availability"], ["fast", 0.5], ["slow", 0.25]],
        Chargers=[["Borough", "Number"], ["Northern", 12], ["Southern", 7]],
    )
    save_book(
        root / "Prices.xlsx",
        Diesel=[["Place", "Price"], ["the northern valley", 1.5], ["the coast", 1.25]],
    )
    queries = tuple(Query(text, (right,)) for text, right in QUESTIONS.items())
    dataset = Dataset("toy", (), queries, root=root)
    parts = {"all": (0, 1), "first": (0,)}
    source = sources.Source("toy", "validation", dataset, parts)
    (tmp_path / "work").mkdir()
    found = Searched(source, {GENERAL: HashedEncoder(384)}, str, tmp_path / "work", hits=10)
    yield found
    found.close()


def scores(index, text):
    """Scores of each sheet by its id."""
    with index:
        question = index.question(text)
        found = index.search.score_sheets(question, [ABOUT, MAIN, DATA, OTHER])
    return {each.sheet_id: each for each in found}


@pytest.fixture
def both(on):
    def scored(change, text):
        return scores(on.index(), text), scores(on.changed_index(change), text)

    return scored


def test_without_main_sheets_none_is_held_back_beside_one(both):
    before, after = both(without.no_main_sheets, "ev charging availability parameters")
    assert before[DATA].role < 1
    assert after[DATA].role == 1
    assert before[ABOUT].role < after[ABOUT].role < 1  # it is documentation, too
    assert before[MAIN] == after[MAIN]


def test_silent_documentation_gives_no_other_sheet_its_words(both):
    before, after = both(without.silent_documentation, "volunteers in the spring")
    assert before[ABOUT].contents == after[ABOUT].contents > 0
    assert before[DATA].contents == before[ABOUT].contents
    assert after[DATA].contents == 0
    assert before[DATA].together > after[DATA].together
    assert before[ABOUT].role == after[ABOUT].role < 1


def test_free_documentation_is_not_held_back_and_still_speaks(both):
    before, after = both(without.free_documentation, "volunteers in the spring")
    assert before[ABOUT].role < after[ABOUT].role == 1
    assert before[DATA].contents == after[DATA].contents > 0


def test_without_words_of_names_those_of_cells_score_and_names_still_tell(both):
    before, after = both(without.no_name_words, "diesel price of the northern valley")
    assert before[OTHER].together > after[OTHER].together > 0
    assert before[OTHER].lexical == after[OTHER].lexical > 0
    assert before[OTHER].contents == after[OTHER].contents


def test_without_words_of_cells_those_of_names_score(both):
    before, after = both(without.no_cell_words, "diesel price of the northern valley")
    assert before[OTHER].contents > after[OTHER].contents == 0
    assert after[OTHER].together > 0
    assert before[OTHER].lexical == after[OTHER].lexical


def test_a_changed_index_keeps_links_copies_and_the_order_of_what_did_not_change(on):
    same = on.changed_index(lambda snapshot: snapshot)
    questions = range(len(QUESTIONS))
    default, changed = on.asking(on.index()), on.asking(same)
    assert [default(place) for place in questions] == [changed(place) for place in questions]


def test_initials_and_reading_are_left_out_for_one_question_at_a_time(on, monkeypatch):
    called = []
    for name in ("raise_abbreviations", "read_closely"):
        own = getattr(linkrank, name)

        def noted(*given, own=own, name=name):
            called.append(name)
            return own(*given)

        monkeypatch.setattr(linkrank, name, noted)
    asked = {}
    for rung in RUNGS:
        if rung.name in ("default", "no_initials", "no_reading"):
            called.clear()
            rung.rank(on)
            asked[rung.name] = set(called)
    assert asked == {
        "default": {"raise_abbreviations", "read_closely"},
        "no_initials": {"read_closely"},
        "no_reading": {"raise_abbreviations"},
    }


def test_documentation_that_is_not_held_back_is_read_as_other_sheets_are(on, monkeypatch):
    shares = []
    own = linkrank.read_closely

    def noted(*given):
        shares.append(reading.NGRAM_OF_DOCUMENTATION)
        return own(*given)

    monkeypatch.setattr(linkrank, "read_closely", noted)
    for rung in RUNGS:
        if rung.name in ("default", "free_documentation"):
            rung.asking(on)(1)
    assert shares == [reading.NGRAM_OF_DOCUMENTATION, 1.0]
    assert reading.NGRAM_OF_DOCUMENTATION < 1


def test_a_replaced_name_comes_back_after_an_error_and_must_be_there():
    before = reading.NGRAM_OF_DOCUMENTATION
    with pytest.raises(ZeroDivisionError), without.replaced(reading, NGRAM_OF_DOCUMENTATION=1.0):
        assert reading.NGRAM_OF_DOCUMENTATION == 1.0
        raise ZeroDivisionError
    assert before == reading.NGRAM_OF_DOCUMENTATION
    with (
        pytest.raises(AttributeError, match="GONE"),
        without.replaced(reading, NGRAM_OF_DOCUMENTATION=1.0, GONE=0),
    ):
        pass
    assert before == reading.NGRAM_OF_DOCUMENTATION


def test_default_and_rung_are_asked_each_question_in_turn_and_first_by_turns():
    order, now = [], [0.0]

    def asking(name, seconds):
        def ask(place):
            order.append(f"{name}{place}")
            now[0] += seconds[place]
            return [f"{name} {place}"]

        return ask

    default, other = asking("a", [0.003, 0.005, 0.004]), asking("b", [0.001, 0.006, 0.002])
    found = beside(default, other, 3, clock=lambda: now[0])
    assert order == ["a0", "b0", "b1", "a1", "a2", "b2"]
    assert found.rankings == [["b 0"], ["b 1"], ["b 2"]]
    assert found.ms == pytest.approx([1, 6, 2])
    assert found.default_ms == pytest.approx([3, 5, 4])


def test_what_is_saved_is_the_median_of_the_differences_not_of_the_times():
    timed = Timed([], ms=[1, 0, 10, 0, 2], default_ms=[2, 0, 9, 0, 12])
    assert timed.metrics([0, 2, 4]) == {"ms": 2, "ms_saved": 1}
    assert timed.metrics([2, 4]) == {"ms": 6, "ms_saved": 4.5}


def test_that_the_first_who_is_asked_pays_more_does_not_count():
    first, saved = 4, 0.5
    default = [10 + first * (place % 2 == 0) for place in range(5)]
    other = [10 - saved + first * (place % 2 == 1) for place in range(5)]
    assert Timed([], ms=other, default_ms=default).metrics(range(5))["ms_saved"] == saved


SOURCE = '''"""A module
of two lines."""

import os  # one

LIMIT = (
    2,  # three to five

)


@property
def first(
    x: int,
) -> str:
    """Says nothing."""
    # why
    return """a text

    that counts"""


class Second:
    """Nothing."""

    size: int = 3
    """What it is."""

    def method(self) -> int:
        return 1
'''


def test_lines_of_code_are_those_without_docstrings_comments_and_blanks(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "one.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "package" / "two.py").write_text("x = 1\n", encoding="utf-8")

    def lines(*parts):
        return code_lines(parts, tmp_path)

    assert lines("package.one:LIMIT") == 3
    assert lines("package.one:first") == 7
    assert lines("package.one:Second") == 4
    assert lines("package.one:Second.method") == 2
    assert lines("package.one:Second.size") == 1
    assert lines("package.one") == 1 + 3 + 7 + 4
    assert lines("package") == lines("package.one") + 1
    assert lines("package.one:first", "package", "package.two") == lines("package")


@pytest.mark.parametrize(
    "part", ["package.gone", "package.one:gone", "package.one:Second.gone", "gone"]
)
def test_code_that_moved_is_told(tmp_path, part):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "one.py").write_text(SOURCE, encoding="utf-8")
    with pytest.raises(LookupError, match=f"{part} is not there"):
        code_lines([part], tmp_path)


@pytest.mark.parametrize("rung", RUNGS[1:], ids=lambda each: each.name)
def test_the_code_of_every_rung_is_there(rung):
    assert code_lines(rung.code) > 0
    for part in rung.code:
        assert code_lines([part]) > 0, part


def test_a_rung_has_metrics_of_its_rows_and_its_costs_on_each_part(on, tmp_path):
    default, rung = RUNGS[0], next(each for each in RUNGS if each.name == "no_main_sheets")
    for system in (default, rung):
        for result in climbed(on, system, ["all", "first"]):
            assert not unsupported(result.metrics, result.per_query)
            assert result.metrics["ms"] > 0
            assert len(result.per_query) == len(on.source.parts[result.split])
            write_result("ladder", result, folder=tmp_path / "out")
    files = read_results("ladder", tmp_path / "out")
    lines = {file["method"]: file["metrics"].get("lines") for file in files}
    assert lines == {"default": None, "no_main_sheets": code_lines(rung.code)}
    table = ladder_tables(files)
    assert "| left out | gain on `toy`, all | gain on `toy`, first |" in table
    assert "**`toy`, first**: 1 questions" in table
    assert "not measured" not in table


def file(method, dataset="toy", role="validation", **costs):
    metrics = {
        "NDCG@10": 1.0, "Hit@1": 1.0, "Recall@10": 1.0, "role": role, "queries": 1, "sheets": 2,
    }  # fmt: skip
    row = {"query": 0, "relevant": 1, "hits": [1 if method == "default" else 2], "hard": None}
    return {
        "method": method, "dataset": dataset, "split": "all", "metrics": metrics | costs,
        "per_query": [row],
    }  # fmt: skip


def test_the_table_of_rungs_shows_gains_the_time_saved_from_least_to_most_and_lines():
    table = ladder_tables(
        [
            file("default", ms=3.0, ms_saved=0.0),
            file("no_reading", ms=2.0, ms_saved=1.0, lines=40),
            file("default", "other", ms=6.0, ms_saved=0.0),
            file("no_reading", "other", ms=7.0, ms_saved=-0.5, lines=41),
            file("default", "learnt_by", "train", ms=3.0, ms_saved=0.0),
            file("no_reading", "learnt_by", "train", ms=1.0, ms_saved=9.0, lines=40),
        ]
    )
    gain = "+0.369 [+0.369, +0.369]"
    row = f"| without reading the best sheets | {gain} | {gain} | -0.50 to +1.00 | 41 |"
    assert row in table.splitlines()
    assert (
        "| without reading the best sheets | 1.000 | 1.000 | 1.000 | "
        f"{gain} | 2.00 | +1.00 |" in table
    )


def test_a_result_without_costs_is_shown_as_not_measured():
    table = ladder_tables([file("default"), file("no_reading"), file("default", "other")])
    gain = "+0.369 [+0.369, +0.369]"
    row = (
        f"| without reading the best sheets | {gain} | not measured | not measured | not measured |"
    )
    assert row in table.splitlines()
    assert f"| 1.000 | {gain} | not measured | not measured |" in table


def test_a_snapshot_is_changed_once_and_not_for_each_question(on):
    changed = []

    def change(snapshot):
        changed.append(snapshot)
        return without.no_main_sheets(snapshot)

    on.asking(on.changed_index(change))(0)
    on.asking(on.changed_index(change))(1)
    assert len(changed) == 2
