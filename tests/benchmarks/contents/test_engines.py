"""Every way to keep an inverted index finds the same sheets, also after a change."""

import itertools

import pytest

from benchmarks.contents.engines import ENGINES, folder_bytes
from benchmarks.contents.made_texts import Shape, made_questions, made_sheets

SHAPE = Shape(9_000, 8)
EXACT = ("fts5_columns", "fts5_contentless", "arrays")


def answers(name, folder):
    """Sheets of the rare questions, and those after two were replaced."""
    engine = ENGINES[name](folder, SHAPE.sheets)
    sheets = list(enumerate(made_sheets(SHAPE)))
    for at in range(0, len(sheets), 1_000):
        engine.add(sheets[at : at + 1_000])
    asked = made_questions(SHAPE, "rare", 12)
    before = [engine.search(words)[:3] for words in asked]
    added = [
        (SHAPE.sheets + n, f) for n, f in enumerate(itertools.islice(made_sheets(SHAPE, 5), 2))
    ]
    engine.replace(sheets[:2], added)
    own = [int(added[0][1][2][-1]), int(added[1][1][2][-1])]
    after = [SHAPE.sheets + n in engine.search([word]) for n, word in enumerate(own)]
    engine.close()
    assert folder_bytes(folder) > 0
    return before, after


@pytest.mark.slow
def test_engines_agree(tmp_path):
    found = {name: answers(name, tmp_path / name) for name in EXACT}
    assert found["fts5_columns"] == found["fts5_contentless"] == found["arrays"]
    assert found["arrays"][1] == [True, True]
