import json

import numpy as np
import pytest

from benchmarks.real import plain, sources
from benchmarks.real.real import measured
from benchmarks.real.rungs import RUNGS
from benchmarks.real.systems import ARCTIC, COMPARED, GENERAL, MINILM, Searched
from benchmarks.results import read_results, write_result
from benchmarks.tables.real import real_tables
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.metrics.rows import unsupported
from sat_retriever.errors import CorpusError
from tests.builders import save_book
from tests.fakes import HashedEncoder
from tests.places import needs

QUERIES = [
    {
        "query": "trucks by region",
        "relevant": ["fleet/Vehicles.xlsx#Trucks"],
        "query_type": "commit",
    },
    {"query": "price of diesel", "relevant": ["Fuels.xlsx#Prices"], "query_type": "commit"},
]


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data" / "real_lists" / "toy"
    (folder / "workbooks" / "fleet").mkdir(parents=True)
    save_book(
        folder / "workbooks" / "fleet" / "Vehicles.xlsx",
        Contents=[["Sheet", "About"], ["Trucks", "trucks by region"]],
        Trucks=[["Region", "Number"], ["North", 12], ["South", 7]],
    )
    save_book(
        folder / "workbooks" / "Fuels.xlsx",
        Prices=[["Fuel", "Price"], ["Diesel", 1.5]],
    )
    (folder / "query.json").write_text(json.dumps(QUERIES), encoding="utf-8")
    told = {"role": "validation", "excluded": ["fleet/Vehicles.xlsx#Contents"]}
    (folder / "meta.json").write_text(json.dumps(told), encoding="utf-8")
    return tmp_path / "data"


@pytest.fixture
def on(data, tmp_path):
    encoders = dict.fromkeys((GENERAL, MINILM, ARCTIC), HashedEncoder(384))
    (tmp_path / "work").mkdir()
    found = Searched(sources.read(data, "toy"), encoders, str, tmp_path / "work")
    yield found
    found.close()


# The learnt reranker takes an index of this package's encoder alone, not of small tokens.
EVERY = [system for system in (*COMPARED, *RUNGS) if system.name != "learnt"]


@pytest.mark.parametrize("system", EVERY, ids=lambda each: each.name)
def test_an_excluded_sheet_is_in_no_ranking(on, system):
    rankings = system.rank(on)
    assert len(rankings) == len(QUERIES)
    assert "fleet/Vehicles.xlsx#Contents" not in {each for found in rankings for each in found}
    assert rankings[1][0] == "Fuels.xlsx#Prices"


def test_an_excluded_sheet_says_nothing_of_the_others(on):
    for index in (on.index(), on.changed_index(lambda snapshot: snapshot)):
        assert "fleet/Vehicles.xlsx#Contents" not in index.sheet_ids()
        assert [each.contents for each in index.candidates("about")] == [0, 0]


def test_metrics_follow_from_the_rows_and_the_table_shows_them(on, tmp_path):
    for system in COMPARED[:2]:
        for result in measured(on, system, ["all"]):
            assert not unsupported(result.metrics, result.per_query)
            assert result.metrics["Hit@1"] == 1
            write_result("real", result, folder=tmp_path / "out")
    table = real_tables(read_results("real", tmp_path / "out"))
    assert "**`toy`, all**: 2 questions, 2 sheets" in table
    assert "| as installed, copies folded | 1.000 | 1.000 | 1.000 | +0.000 [" in table


def test_an_index_of_the_same_code_is_taken_up_again(on, tmp_path):
    on.index()
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "work").glob("*.sat")}
    on.index()
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "work").glob("*.sat")} == made
    assert len(made) == 1


def test_sources_for_choices_come_first_and_one_without_workbooks_is_told(data):
    learnt = data / "real_lists" / "bare"
    learnt.mkdir()
    (learnt / "meta.json").write_text('{"role": "train", "excluded": []}', encoding="utf-8")
    assert sources.names(data) == ["toy", "eps", "bare"]
    with pytest.raises(CorpusError, match="bare: there is no folder"):
        sources.read(data, "bare")


def test_plain_words_weigh_as_the_formula_of_bm25_says():
    texts = ["fuel price", "fuel fuel use use use"]
    found = plain.bm25(texts, ["fuel, the fuel", "use"])

    def loop(often, length, having):
        idf = np.log(1 + (2 - having + 0.5) / (having + 0.5))
        return idf * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * length / 3.5))

    assert found[0].tolist() == pytest.approx([loop(1, 2, 2), loop(2, 5, 2)], abs=1e-6)
    assert found[1].tolist() == pytest.approx([0, loop(3, 5, 1)], abs=1e-6)


def test_a_plain_text_has_names_and_a_part_of_the_cells():
    rows = [["Title"], ["Fuel_type", "Price " + 40 * "x"], *([["a", "b"]] * 20)]
    headed = f"Fuels | Prices | Fuel type | Price {34 * 'x'}"
    assert plain.name_text("a/Fuels.xlsx#Prices", rows) == headed
    lines = plain.row_text("a/Fuels.xlsx#Prices", rows).split("\n")
    assert len(lines) == 12
    assert lines[-1] == "a | b"


def test_a_long_text_is_cut_after_the_pieces_that_an_encoder_has_room_for():
    cut = plain.cutter(str(needs("models/arctic-embed-xs/tokenizer.json")))
    assert cut("word " * 300) == ("word " * 254).strip()
    assert cut("two words") == "two words"


def test_of_a_sheet_two_thousand_filled_cells_are_read(tmp_path):
    save_book(tmp_path / "Long.xlsx", Long=[[None, "a", " ", 2.0]] * 1_500)
    source = sources.Source("long", "train", Dataset("long", (), (), root=tmp_path), {})
    assert source.sheets() == {"Long.xlsx#Long": [["a", "2"]] * 1_000}


def test_parts_of_eps_are_those_of_contents():
    parts = sources.read(needs("data"), "eps").parts
    assert {name: len(places) for name, places in parts.items()} == {
        "all": 212, "trans": 136, "test": 76,
    }  # fmt: skip
