"""Reported figures are those that the paper's own text holds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from benchmarks.paper import paper
from benchmarks.paper.sensitivity import ROWS
from tests.places import needs

NUMBER = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d*\.\d+|\d+)")


@pytest.fixture(scope="module")
def tex() -> str:
    path = needs("paper/sheet_as_token.tex")
    return path.read_text(encoding="utf-8").replace("{,}", ",").replace("--", " to ")


def numbers(text: str) -> list[float]:
    """Numbers of a text in order; "± .01" as 0.01, "2.37 s" also as 2370 (ms)."""
    text = re.sub(r"([\d.]+)\\times\s*10\^\{-(\d)\}", r" \g<1>e-\2 ", text)
    found = [float(n) for n in re.findall(r"[\d.]+e-\d", text)]
    found += [float(n.replace(",", "")) for n in NUMBER.findall(text)]
    return found + [float(n) * 1000 for n in re.findall(r"(\d+\.\d+)\\,s", text)]


def leaves(value: object) -> Iterator[float]:
    if isinstance(value, dict):
        for each in value.values():
            yield from leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each)
    elif isinstance(value, int | float):
        yield float(value)


def table_of(tex: str, label: str) -> list[list[float]]:
    """Numbers of each row of a table, method and group names left out."""
    end = tex.index(r"\end{tabular}", tex.index(rf"\label{{{label}}}"))
    body = tex[tex.index(r"\midrule", tex.index(rf"\label{{{label}}}")) : end]
    rows = []
    for row in body.split(r"\\"):
        cells = row.split("&")
        first = next((n for n, cell in enumerate(cells) if re.search(r"0\.\d{4}", cell)), None)
        if first is not None:
            rows.append([float(n) for n in re.findall(r"(?:\d*\.\d+)", "&".join(cells[first:]))])
    return rows


def test_every_figure_stands_in_the_papers_text(tex):
    known = {round(number, 6) for number in numbers(tex)}
    stored = paper.content()
    later = set(stored["later"])
    sections = [name for name in stored if name not in later]
    missing = [
        (name, value)
        for name in sections
        for value in leaves(stored[name])
        if round(value, 6) not in known
    ]
    assert not missing
    assert sum(1 for name in sections for _ in leaves(stored[name])) > 200


def test_each_row_of_the_main_table_is_the_papers_row(tex):
    stored = [
        [*row.values(), paper.Reported(paper.latency_ms(dataset)[method])]
        for dataset in ("industrytab_614", "industrytab_1k")
        for method, row in paper.full_corpus(dataset).items()
    ]
    printed = table_of(tex, "tab:two_dataset_full_corpus")
    assert len(printed) == len(stored) == 11
    for row, cells in zip(printed, stored, strict=True):
        flat = [n for cell in cells for n in (cell.mean, cell.sd) if n is not None]
        flat[-1] /= 1000 if flat[-1] >= 1000 else 1  # printed in seconds
        assert row == flat


def test_each_row_of_the_sensitivity_table_is_the_papers_row(tex):
    printed = table_of(tex, "tab:bge_sensitivity")
    assert printed == [list(row.values()) for row in paper.sensitivity().values()]


def test_later_figures_are_those_of_the_method_notes():
    path = needs("design/method.md")
    known = set(re.findall(r"\d*\.\d+", path.read_text(encoding="utf-8")))
    known = {round(float(n), 4) for n in known}
    stored = paper.content()
    found = [round(n, 4) for name in stored["later"] for n in leaves(stored[name])]
    assert len(found) == 13
    assert set(found) <= known


def test_every_section_says_where_it_stands():
    stored = paper.content()
    for name in stored:
        if name not in ("about", "later", "industrytab_1k", "main"):
            assert len(paper.source(name)) > 20


def test_accessors_give_what_the_file_holds():
    stored = json.loads(paper.PAPER.read_text(encoding="utf-8"))
    assert paper.full_corpus("industrytab_614")["RAG"]["Hit@5"] == paper.Reported(0.8667, 0.0105)
    assert paper.full_corpus("industrytab_1k")["LLM-only"]["MRR@5"] == paper.Reported(0.6253)
    assert paper.latency_ms("industrytab_1k")["LLM-only"] == 2370
    assert paper.stage_latencies()["Cross-Encoder"]["stage2_ms"] == 24.91
    assert paper.prompt_tokens() == {"LLM-only": 24603, "RAG + LLM": 2830}
    assert list(paper.grouped()) == ["RAG", "Stage 1", "SAT"]
    assert paper.candidates()["OracleRecall@5"] == 0.7898
    assert paper.graph_over_base()["standard"].high == 0.0097
    assert paper.training().rows["learning rate"] == stored["training"]["rows"]["learning rate"]
    assert all(
        len(row) == len(grid.columns)
        for grid in (paper.compared(), paper.training())
        for row in grid.rows.values()
    )


def test_sums_of_the_corpora_agree_with_their_parts():
    for name in ("industrytab_1k", "industrytab_614"):
        found = paper.corpus(name)
        assert sum(found["query_types"].values()) == found["queries"]
        assert sum(found["splits"]["standard"].values()) == found["queries"]
    assert sum(paper.corpus("industrytab_1k")["categories"].values()) == 1002
    assert sum(paper.corpus("industrytab_1k")["primary_links"].values()) == 19850
    assert sum(paper.corpus("industrytab_614")["category_pairs"].values()) == 307


def test_our_sensitivity_runs_have_the_papers_rows():
    assert list(paper.sensitivity()) == list(ROWS)
