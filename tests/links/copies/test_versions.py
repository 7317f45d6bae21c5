"""Names of workbooks and sheets: what all versions have in common, and which one it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.links.copies.versions import PLAIN, Version, version_of

SAME = (
    "Budget", "Budget_v3_final (2)", "Budget v1.2 JD", "Budget - Copy", "Copy of Budget",
    "Kopie von Budget", "Budget rev B", "DRAFT Budget", "Budget_final2", "Budget.bak",
    "Budget_old", "Budget latest", "budget 2024-03-04", "Budget 20240304T0930",
    "Budget 04.03.2024 14.30", "Budget_1710000000", "Budget KW12 2024", "Budget 副本",
    "Budget 最终版", "Budget 第3版", "Budget Entwurf", "Budget as of 2024-03-04",
)  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_marks_of_versions_are_no_part_of_the_name(name):
    assert version_of(name)[0] == "budget"


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Sales 2021", "Sales 2022"),
        ("Sales Q1 2024", "Sales Q2 2024"),
        ("Sales March 2024", "Sales April 2024"),
        ("Table 1", "Table 2"),
        ("Plan Berlin", "Plan Lyon"),
    ],
)
def test_names_of_a_series_or_of_several_subjects_stay_apart(name, other):
    assert version_of(name)[0] != version_of(other)[0]


@pytest.mark.parametrize(
    "ascending",
    [
        ("Plan_v2", "Plan_v10"),
        ("Plan_draft", "Plan", "Plan_final"),
        ("Plan_draft", "Plan_draft 2", "Plan_v1", "Plan_v3", "Plan_v3_final", "Plan_v4"),
        ("Plan_v4", "Plan_final", "Plan_final v2"),
        ("Plan_old", "Plan", "Plan (2)"),
        ("Plan_backup", "Plan_v1", "Plan latest"),
        ("Plan 2024-03-04", "Plan 2024-03-11", "Plan 2024-10-01"),
        ("Plan 2024-03-04 0930", "Plan 2024-03-04 1415"),
        ("Plan KW2 2024", "Plan KW12 2024"),
        ("Plan rev A", "Plan rev B"),
        ("Plan v1.2", "Plan v1.10", "Plan v2"),
    ],
)
def test_versions_are_in_the_order_of_their_marks(ascending):
    orders = [version_of(name)[1].order() for name in ascending]
    assert orders == sorted(orders)
    assert len(set(orders)) == len(orders)


def test_numbers_of_a_name_that_are_no_version_say_nothing():
    for name in ("Table 2", "Sales 2021", "Region 12", "Covid-19", "CO2"):
        assert version_of(name)[1] == PLAIN


def test_a_day_and_its_minute_are_read_from_a_time_stamp():
    assert version_of("export_2024-03-11_093015")[1] == Version(date=2024_03_11_09_30)
    assert version_of("export 1710149400")[1] == Version(date=2024_03_11_09_30)


@given(st.text(max_size=80))
def test_any_name_has_a_version_that_can_be_ordered(name):
    key, version = version_of(name)
    assert key == key.strip()
    assert sorted([version.order(), PLAIN.order()])
