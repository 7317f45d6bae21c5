from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest

from sat_retriever import Column, InputError, Serialization, SheetRecord
from sat_retriever.text.serialize import serialize
from tests.places import needs


def _record(**changes: object) -> SheetRecord:
    fields: dict[str, object] = {
        "sheet_id": "0",
        "sheet": "Stock_2025_Q3",
        "columns": tuple(Column(name) for name in ("Date", "Closing Price", "Stock Code")),
        "num_rows": 34,
        "num_cols": 7,
    }
    return SheetRecord(**(fields | changes))


def test_released_form_is_written_as_the_recipe_does():
    expected = "name: Stock_2025_Q3 ; shape: 34 x 7 ; columns: Date | Closing Price | Stock Code"
    assert serialize(_record()) == expected


def test_paper_form_is_equation_one():
    expected = "source: Stock_2025_Q3 ; shape: 34 x 7 ; headers: Date | Closing Price | Stock Code"
    assert serialize(_record(), Serialization(form="paper")) == expected


def test_name_is_workbook_and_tab():
    record = _record(workbook="Sales.xlsx", sheet="Q1", format="xlsx")
    assert serialize(record).startswith("name: Sales__Q1 ; ")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"num_rows": None}, "name: Stock_2025_Q3 ; columns: Date | Closing Price | Stock Code"),
        ({"num_cols": None}, "name: Stock_2025_Q3 ; columns: Date | Closing Price | Stock Code"),
        ({"columns": ()}, "name: Stock_2025_Q3 ; shape: 34 x 7"),
        ({"sheet": ""}, "shape: 34 x 7 ; columns: Date | Closing Price | Stock Code"),
        ({"sheet": "", "columns": (), "num_rows": None}, ""),
        (
            {"columns": (Column(""), Column(" \n"), Column("A"))},
            "name: Stock_2025_Q3 ; shape: 34 x 7 ; columns: A",
        ),
        ({"num_rows": 0, "num_cols": 0, "columns": ()}, "name: Stock_2025_Q3 ; shape: 0 x 0"),
    ],
)
def test_empty_and_unknown_parts_are_left_out(changes, expected):
    assert serialize(_record(**changes)) == expected


def test_twelve_named_headers_are_kept_unless_asked_otherwise():
    record = _record(columns=(Column(""), *(Column(f"h{i}") for i in range(20))))
    twelve = " | ".join(f"h{i}" for i in range(12))
    assert serialize(record).endswith(f"columns: {twelve}")
    assert serialize(record, Serialization(max_headers=None)).endswith(" | h19")
    assert serialize(record, Serialization(max_headers=0)) == "name: Stock_2025_Q3 ; shape: 34 x 7"


def test_identifiers_are_split_only_when_asked():
    record = _record(columns=(Column("netProfit_2021"),))
    assert "netProfit_2021" in serialize(record)
    split = serialize(record, Serialization(split_identifiers=True))
    assert split == "name: Stock 2025 Q3 ; shape: 34 x 7 ; columns: net Profit 2021"


def test_examples_are_written_only_when_asked():
    record = _record(columns=(Column("Date", example="2024-01-05"), Column("Note")))
    assert "2024" not in serialize(record)
    text = serialize(record, Serialization(examples=True))
    assert text.endswith("columns: Date = 2024-01-05 | Note")


def test_other_ways_to_split_give_another_fingerprint_and_texts_without_them_keep_theirs():
    # Another default would make every index written so far unreadable.
    assert Serialization().fingerprint == "1055616f9ac2ef6d"
    first = "bf82886c50de66bb"  # of the first version
    assert Serialization(split_identifiers=True).fingerprint != first


def test_line_breaks_in_headers_become_spaces():
    assert serialize(_record(columns=(Column("Net\n profit"),))).endswith("columns: Net profit")


def test_every_option_changes_the_fingerprint_and_equal_options_do_not():
    variants = [
        Serialization(),
        Serialization(form="paper"),
        Serialization(split_identifiers=True),
        Serialization(max_headers=None),
        Serialization(max_headers=11),
        Serialization(examples=True),
    ]
    assert len({variant.fingerprint for variant in variants}) == len(variants)
    for variant in variants:
        again = Serialization.from_dict(json.loads(json.dumps(variant.to_dict())))
        assert again == variant
        assert again.fingerprint == variant.fingerprint


def test_options_that_mean_nothing_are_refused():
    with pytest.raises(InputError, match=r"unknown serialization form 'prose'.*released, paper"):
        Serialization(form="prose")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="max_headers is -1"):
        Serialization(max_headers=-1)
    with pytest.raises(InputError, match="unknown serialization options colour"):
        Serialization.from_dict({"colour": "red"})
    with pytest.raises(FrozenInstanceError):
        Serialization().form = "paper"  # type: ignore[misc]


def test_published_records_are_serialized_with_all_parts():
    path = needs("data/industrytab_1k/sheets.json")
    sheets = json.loads(path.read_text(encoding="utf-8")).values()
    for sheet in sheets:
        record = SheetRecord(
            str(sheet["sheet_id"]),
            sheet["name"],
            columns=tuple(Column(column["name"]) for column in sheet["columns"]),
            num_rows=sheet["num_rows"],
            num_cols=sheet["num_cols"],
        )
        headers = " | ".join(column["name"] for column in sheet["columns"][:12])
        shape = f"{sheet['num_rows']} x {sheet['num_cols']}"
        # Byte for byte: cleaning white space must change nothing in the published data.
        assert serialize(record) == f"name: {sheet['name']} ; shape: {shape} ; columns: {headers}"
