"""Words of a user's own: few, odd or in other scripts; every category still holds together."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest

from sat_retriever.synth.categories import CATEGORIES, category
from sat_retriever.synth.house.house import House
from sat_retriever.synth.plan.plan import house_names
from sat_retriever.synth.words.vocabulary import PACKAGED, Vocabulary
from tests.synth.categories.checks import check_references, grids

ODD = {
    "companies": ['O\'Brien & Söhne / GmbH: "Ltd"?', "株式会社山田製作所", "A" * 180, "CON"],
    "markets": ["Börse 'Süd'"],
    "institutions": ["Банк/1"],
    "sources": ["源"],
    "materials": ["Wash*er~|x?|pcs", "ボルト|M8|pcs"],
    "regions": ["Nord/Ost", "O'Süd", "北", "R1C1", "true", "A1"],
    "warehouses": ["[Lager]", "*"],
    "departments": ["F&E", "007", "1e3"],
    "sentiments": ["very good", "very bad"],
    "given_names": ["Zoë"],
    "family_names": ["D'Arc"],
    "indices": ["TSX/60", "日経"],
    "projects": ["P?1", "P*2"],
}


def one_each(content: dict) -> dict:
    """A category's words with a single variant of everything."""
    content["names"], content["asked"] = content["names"][:1], content["asked"][:1]
    for kind in content["kinds"].values():
        kind["names"], kind["asked"] = kind["names"][:1], kind["asked"][:1]
        kind["columns"] = {column: headers[:1] for column, headers in kind["columns"].items()}
    return content


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    """Odd lists, all others of one entry; one variant of every category."""
    folder: Path = tmp_path_factory.mktemp("words")
    for path in PACKAGED.glob("category_*.json"):
        content = one_each(json.loads(path.read_text("utf-8")))
        (folder / path.name).write_text(json.dumps(content), encoding="utf-8")
    packaged = json.loads((PACKAGED / "lists.json").read_text("utf-8"))
    lists = {name: entries[:1] for name, entries in packaged.items()} | ODD
    (folder / "lists.json").write_text(json.dumps(lists), encoding="utf-8")
    return Vocabulary.load(folder)


@pytest.mark.parametrize("name", CATEGORIES)
@pytest.mark.parametrize("seed", range(4))
def test_all_cells_are_calculated_and_owners_of_keys_have_each_once(name, seed, words):
    owner = category(name).owner
    house = House([*islice(house_names(owner, words), 4)][seed], seed, words)
    books = list(category(name).books(house, (2023, 2024)))
    assert len({book.path.casefold() for book in books}) == len(books)
    check_references(books)
    cells = grids(books)
    for book in books:
        for sheet in book.sheets:
            assert 0 < len(sheet.name) <= 31
            for column in (column for column in sheet.columns if column.unique):
                values = [v for v in cells[book.path, sheet.name][column.id] if v is not None]
                assert len(values) == len(set(values)), (book.path, sheet.name, column.id)
