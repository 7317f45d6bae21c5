"""The newest of a group of copies, and the one that a question names."""

import pytest

from sat_retriever.links.copies.versions import PLAIN, Member, named, newest_first, version_of

DAY = 86_400 * 10**9
START = 1_704_700_800 * 10**9  # 2024-01-08, nanoseconds since 1970


def member(name, day=0, tab="Data"):
    return Member(
        f"{name}.xlsx#{tab}", (version_of(name)[1], version_of(tab)[1]), START + day * DAY
    )


def ordered(*members):
    return [each.sheet_id.partition(".xlsx")[0] for each in newest_first(members)]


def test_versions_go_before_the_times_of_files():
    assert ordered(member("Plan_v2", 9), member("Plan_v10", 1)) == ["Plan_v10", "Plan_v2"]


def test_equal_versions_go_by_the_times_of_their_files():
    assert ordered(member("Plan", 5), member("Plan - Copy", 2)) == ["Plan", "Plan - Copy"]


def test_copies_unpacked_together_go_by_their_numbers():
    copies = [member(name, 3) for name in ("Plan", "Plan (3)", "Plan (2)")]
    assert ordered(*copies) == ["Plan (3)", "Plan (2)", "Plan"]


def test_a_file_without_a_date_counts_by_its_time_beside_saved_states():
    states = (member("Plan 2024-01-09"), member("Plan 2024-01-12"))
    assert ordered(*states, member("Plan", 30))[0] == "Plan"
    assert ordered(*states, member("Plan", 2))[0] == "Plan 2024-01-12"


def test_old_states_come_last_however_late_they_were_written():
    assert ordered(member("Plan_backup", 40), member("Plan", 1)) == ["Plan", "Plan_backup"]


def test_the_order_does_not_depend_on_the_order_of_the_members():
    members = [member(f"Plan_v{n}", n % 3) for n in range(6)] + [member("Plan_final")]
    assert newest_first(members) == newest_first(members[::-1])


GROUP = newest_first(
    [
        *(member(name) for name in ("Plan_draft", "Plan_v1.0", "Plan_v2", "Plan_v2.1")),
        *(member(name) for name in ("Plan_final", "Plan_old")),
    ]
)
EXPORTS = newest_first([member(f"Orders 2024-03-{day:02}") for day in (4, 11, 18)])


@pytest.mark.parametrize(
    ("question", "group", "name"),
    [
        ("v2 of the plan", GROUP, "Plan_v2"),
        ("plan version 1", GROUP, "Plan_v1.0"),
        ("the draft plan", GROUP, "Plan_draft"),
        ("old plan", GROUP, "Plan_old"),
        ("final plan by region", GROUP, "Plan_final"),
        ("orders export of 11 March", EXPORTS, "Orders 2024-03-11"),
        ("the copy of March 4", EXPORTS, "Orders 2024-03-04"),
        ("orders on 2024-03-18", EXPORTS, "Orders 2024-03-18"),
        ("the previous version of the orders", EXPORTS, "Orders 2024-03-11"),
        ("oldest export of orders", EXPORTS, "Orders 2024-03-04"),
    ],
)
def test_a_question_that_names_a_version_gets_it(question, group, name):
    found = named(question, group)
    assert found is not None
    assert found.sheet_id == f"{name}.xlsx#Data"


@pytest.mark.parametrize("question", ["plan by region", "orders of old customers", "v7 of orders"])
def test_a_question_that_names_no_version_of_the_group_gets_none(question):
    assert named(question, EXPORTS) is None


def test_a_group_without_versions_has_none_to_name():
    alone = [Member("a", (PLAIN, PLAIN)), Member("b", (PLAIN, PLAIN))]
    assert named("final draft v2", alone) is None
