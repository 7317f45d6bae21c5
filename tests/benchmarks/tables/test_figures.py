"""Figures show the committed results, are equal for equal numbers, and say what was not run."""

from __future__ import annotations

import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from benchmarks import results
from benchmarks.paper.sensitivity import ROWS
from benchmarks.tables import drawing, figure_data, figures
from benchmarks.training.methods import RECIPES
from sat_retriever.encoder.source import MINILM


def trained(method, seed, value, split="standard", **steps):
    return {
        "method": method, "dataset": "industrytab_1k", "split": split, "seed": seed,
        "metrics": {"NDCG@5": value, "steps": steps}, "per_query": [],
    }  # fmt: skip


def curve(*values):
    return {"validation": [[epoch, value] for epoch, value in enumerate(values)]}


def timed(method, value, split="standard"):
    return {
        "method": method, "split": split, "metrics": {"joint_p50_ms": value},
        "provenance": {"hardware": {"cores": 2}},
    }  # fmt: skip


def by_label(points):
    return {point.label: point for point in points}


def text_of(path):
    return " ".join(ElementTree.parse(path).getroot().itertext())


def test_every_setting_has_the_papers_mark_and_ours_where_it_was_run():
    files = [trained("k_10", 42, 0.8), trained("reference", 42, 0.9)]
    pool, *_, channels = figure_data.sensitivity_chart(files)
    assert [(p.label, p.y) for p in pool.ours] == [("10", 0.8), ("20", None), ("50", 0.9)]
    assert [p.y for p in pool.reported] == [0.8577, 0.8877, 0.9155]
    assert pool.lines == channels.lines == (0.9, 0.9155)
    assert (pool.reference, channels.reference) == ("50", "F+S")
    assert all(p.y is None for p in channels.ours if p.label != "F+S")


def test_the_panels_hold_every_row_of_the_sensitivity_table():
    assert {name for rows in figure_data.PANELS.values() for name in rows} == set(ROWS)


def test_every_method_has_a_name_of_its_own_in_the_figures():
    assert list(figure_data.NAMES) == [n for n, one in RECIPES.items() if one.base == MINILM]
    assert len(set(figure_data.NAMES.values())) == len(figure_data.NAMES)
    assert set(figure_data.OF_PAPER) <= set(RECIPES)


def test_curves_are_what_the_trainings_wrote_down():
    files = [
        trained("stage1", 42, 0.9, encoder=curve(0.4, 0.9)),
        trained("graph", 42, 0.9, encoder=curve(0.4, 0.9), graph=curve(0.9, 0.91)),
        trained("ours", 42, 0.9, graph={}),
    ]
    stage1, graph, pool, *_ = figure_data.convergence_chart(
        files, [trained("k_10", 42, 0.8, graph=curve(0.7, 0.8)), trained("k_20", 42, 0.8)]
    )
    assert stage1.curves == (("paper's recipe", ((0.0, 0.4), (1.0, 0.9))),)
    assert graph.curves == (("paper's recipe", ((0.0, 0.9), (1.0, 0.91))),)
    assert pool.curves == (("10", ((0.0, 0.7), (1.0, 0.8))),)


def test_methods_have_their_mean_and_deviation_beside_the_papers():
    files = [trained("graph", 42, 0.9), trained("graph", 43, 0.92), trained("bm25", None, 0.8)]
    standard, grouped = figure_data.comparison_chart(files)
    ours, theirs = by_label(standard.ours), by_label(standard.reported)
    assert (ours["SAT"].y, ours["SAT"].sd) == (0.91, 0.014142)
    assert (ours["BM25"].y, ours["BM25"].sd) == (0.8, None)
    assert (theirs["SAT"].y, theirs["SAT"].sd) == (0.9222, 0.0058)
    assert theirs["BM25"].y is None
    assert by_label(grouped.ours)["SAT"].y is None
    assert by_label(grouped.reported)["Stage 1"].y == 0.9213


def test_a_time_stands_beside_the_quality_of_its_method():
    files = [trained("graph", 42, 0.9)]
    (panel,) = figure_data.latency_chart(
        files, [timed("graph", 7.5), timed("bm25", 1.0, "grouped")]
    )
    assert panel.title == "2 CPU cores"
    ours = by_label(panel.ours)
    assert (ours["SAT"].x, ours["SAT"].y) == (7.5, 0.9)
    assert ours["BM25"].x is None
    assert by_label(panel.reported)["SAT"].x == 9.24
    assert figure_data.latency_chart([], [])[0].ours[0].x is None


def sized(size, method="sat-retriever", **metrics):
    return {"method": method, "dataset": f"template_{size}", "metrics": metrics}


def test_what_grows_is_measured_by_size_and_drawn_on_by_store():
    million = [
        sized(300_000, add_s=330.0),
        sized(100_000, add_s=90.0),
        sized("1000_contents", add_s=1.0),
        sized(1000, method="another store", add_s=2.0),
    ]
    drawn_on = [sized(10_000_000, "in a file", add_s=12_000.0, default_p50_ms=30.0, file_mib=1.0,
                      first_answer_s=0.1)]  # fmt: skip
    ranked, filling, *_ = figure_data.growth_chart(million, [], drawn_on)
    assert filling.curves == (("in a file", ((100_000.0, 1.5), (300_000.0, 5.5))),)
    assert [(p.label, p.x, p.y) for p in filling.ours] == [("in a file", 1e7, 200.0)]
    assert (ranked.curves, ranked.ours[0].y) == ((), 30.0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where figures go, with no results."""
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    return tmp_path / "figures"


def test_figures_are_stale_until_drawn_and_when_a_number_changes(folder, monkeypatch):
    pytest.importorskip("matplotlib")
    assert figures.figures(check=True, folder=folder) == list(figures.FIGURES)
    assert figures.figures(check=False, folder=folder) == []
    assert figures.figures(check=True, folder=folder) == []
    found = {"train_sensitivity": [trained("k_10", 42, 0.8)]}
    monkeypatch.setattr(figures, "read_results", lambda name: found.get(name, []))
    assert figures.figures(check=True, folder=folder) == ["sensitivity.svg"]


def test_figures_without_any_result_say_not_run(folder):
    pytest.importorskip("matplotlib")
    figures.figures(check=False, folder=folder)
    for name in figures.FIGURES:
        assert "not run" in text_of(folder / name), name


def test_every_drawn_figure_is_small_and_on_a_light_ground(tmp_path):
    pytest.importorskip("matplotlib")
    values = [0.9 + n / 1000 for n in range(21)]
    runs = [trained(name, 42, 0.9, graph=curve(*values)) for name in ROWS]
    drawing.draw_convergence(
        figure_data.convergence_chart([], runs), tmp_path / "convergence.svg", "numbers"
    )
    drawing.draw_sensitivity(
        figure_data.sensitivity_chart(runs), tmp_path / "sensitivity.svg", "numbers"
    )
    for path in tmp_path.iterdir():
        content = path.read_text(encoding="utf-8")
        assert len(content) < 60_000, path.name
        assert "fill: #ffffff" in content
        assert not re.search(r"20\d\d-\d\d-\d\d", content)  # no date of drawing
    assert "not run" not in text_of(tmp_path / "sensitivity.svg")


def test_two_processes_draw_the_same_bytes(tmp_path):
    pytest.importorskip("matplotlib")
    code = (
        "import sys; from pathlib import Path; from benchmarks.tables import drawing, figure_data;"
        "drawing.draw_sensitivity(figure_data.sensitivity_chart([]), Path(sys.argv[1]), 'x')"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.svg")], check=True)
    drawing.draw_sensitivity(figure_data.sensitivity_chart([]), tmp_path / "b.svg", "x")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_file_without_numbers_of_its_own_counts_as_stale(tmp_path):
    (tmp_path / "x.svg").write_text("<svg/>", encoding="utf-8")
    assert figures.shown_hash(tmp_path / "x.svg") is None
    assert figures.shown_hash(tmp_path / "y.svg") is None
