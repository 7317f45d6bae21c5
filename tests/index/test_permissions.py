"""Permissions: what some groups see equals an index of only the sheets they may see."""

import os
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever import (
    OWNER,
    Filters,
    IndexFormatError,
    IndexStorageError,
    InputError,
    Link,
    PermissionsError,
    Rule,
    Rules,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
    SheetTools,
)
from tests.fakes import HashedEncoder
from tests.index.permitted import (
    GROUPS,
    alone,
    assert_equal_views,
    corpus,
    links_among,
    queries,
    visible,
)


@pytest.fixture
def index(tmp_path):
    """Three sheets: of sales, of hr, of everyone."""
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as made:
        made.add_records(
            [SheetRecord("s", "Sales", path="s/Sales.xlsx", workbook="Sales.xlsx"),
             SheetRecord("h", "Wages", path="h/Wages.xlsx", workbook="Wages.xlsx"),
             SheetRecord("e", "Prices", path="e/Prices.xlsx", workbook="Prices.xlsx")],
            [Link("s", "h", "formula", 0.9, "A1"), Link("s", "e", "formula", 0.9, "A1")],
        )  # fmt: skip
        made.permit(lambda record: {"s": ["sales"], "h": ["hr"], "e": ["*"]}[record.sheet_id])
        yield made


@given(st.integers(0, 10_000))
@settings(max_examples=8)
def test_groups_see_what_an_index_of_their_sheets_alone_would_show(tmp_path_factory, seed):
    folder, draw = tmp_path_factory.mktemp("property"), random.Random(seed)
    records, groups = corpus(seed)
    links = links_among(draw, [record.sheet_id for record in records])
    with alone(folder / "all.sat", records, links) as whole:
        whole.permit(lambda record: groups[record.sheet_id])
        for number in range(3):
            principals = draw.sample(GROUPS, draw.randint(0, len(GROUPS)))
            seen = visible(records, groups, principals)
            with alone(folder / f"{number}.sat", seen, links) as only:
                asked = queries(draw, records, 8)
                assert_equal_views(whole.seen_by(principals), only, asked)


@given(st.integers(0, 10_000))
@settings(max_examples=5)
def test_the_owner_sees_what_an_index_without_permissions_shows(tmp_path_factory, seed):
    folder, draw = tmp_path_factory.mktemp("owner"), random.Random(seed)
    records, groups = corpus(seed, 15)
    with alone(folder / "a.sat", records, []) as whole, alone(folder / "b.sat", records, []) as b:
        whole.permit(lambda record: groups[record.sheet_id])
        assert_equal_views(whole.seen_by(OWNER), b, queries(draw, records, 3))


def test_an_index_with_permissions_is_not_read_for_nobody(index):
    for read in (
        lambda: index.candidates("sales"),
        lambda: index.question("sales"),
        lambda: index.records(["s"]),
        lambda: index.links(["s"]),
        lambda: index.copies(["s"]),
        index.search.count,
        lambda: len(index),
        index.status,
        index.workbooks,
        index.sheet_ids,
        lambda: list(index.all_links()),
        lambda: index.search.tokens(["s"]),
        lambda: SheetRetriever(index).retrieve("sales"),
        lambda: SheetRetriever(index).why("sales", "s"),
    ):
        with pytest.raises(PermissionsError, match="say who asks"):
            read()


def test_no_statement_passes_by_the_session_that_looks_for_permissions(index):
    store = index._seen
    for read in (
        lambda: store._rows("SELECT sheet_id FROM sheets"),
        lambda: store.tokens_after(-1, 9, 3, 64),
        lambda: store.tokens_of([1], 64),
        lambda: store.links.of(["s"]),
        lambda: store.copies.families(["s"]),
        store.all_sheet_ids,
        store.meta,
    ):
        with pytest.raises(PermissionsError, match="say who asks"):
            read()
        with pytest.raises(PermissionsError, match="say who asks"), store.reading():
            read()
    assert store.is_restricted()
    index.permit(None)
    with store.reading():
        assert store.all_sheet_ids() == ["e", "h", "s"] and len(store.links.of(["s"])) == 2


def test_permissions_that_another_process_gives_count_with_the_next_question(index, tmp_path):
    index.permit(None)
    with SheetIndex.open(tmp_path / "a.sat", HashedEncoder()) as other:
        assert other.candidates("sales")
        open_to_all = other.seen_by(["sales"])
        assert len(open_to_all) == 3
        index.permit(lambda record: ["hr"])
        for each in (other, open_to_all):
            with pytest.raises(PermissionsError):
                each.candidates("sales")
            with pytest.raises(PermissionsError):
                each.records(["s"])
        assert len(other.seen_by(["sales"])) == 0 and len(other.seen_by(["hr"])) == 3


@pytest.mark.parametrize("principals", [None, ["sales"]])
@pytest.mark.parametrize(
    "read",
    [
        len,
        SheetIndex.status,
        SheetIndex.sheet_ids,
        SheetIndex.workbooks,
        lambda index: index.records(["h"]),
        lambda index: index.links(["h"]),
        lambda index: index.copies(["h"]),
        lambda index: index.file_of("h"),
        lambda index: index.search.tokens(["h"]),
        lambda index: SheetTools(index).describe_sheet("h"),
    ],
)
def test_permissions_that_another_process_gives_count_at_once(index, tmp_path, principals, read):
    """Whoever describes and reads sheets may never search."""
    index.permit(None)
    with SheetIndex.open(tmp_path / "a.sat", HashedEncoder()) as other:
        held = other if principals is None else other.seen_by(principals)
        assert len(held) == 3
        index.permit(lambda record: ["hr"])
        with pytest.raises(PermissionsError, match="say who asks"):
            read(held)


def test_what_somebody_sees_before_there_are_permissions_can_only_be_read(index, tmp_path):
    index.permit(None)
    view = index.seen_by(["sales"])
    changes = (
        lambda: view.add_records([SheetRecord("n", "New")]),
        lambda: view.remove(["s"]),
        lambda: view.sync(tmp_path),
        lambda: view.permit(None),
        lambda: view.copied(tmp_path / "copy.sat"),
        view.delete_if_empty,
    )
    for number, change in enumerate((*changes, *changes)):
        if number == len(changes):  # nor after there are
            index.permit(lambda record: ["hr"])
        with pytest.raises(PermissionsError):
            change()
    assert not (tmp_path / "copy.sat").exists() and len(index.seen_by(OWNER)) == 3


@pytest.mark.parametrize("restricted", [True, False])
@pytest.mark.parametrize("principals", [OWNER, ["sales"], ["unknown"]])
def test_tokens_are_read_once_whoever_asks(index, restricted, principals):
    index.permit((lambda record: ["sales"]) if restricted else None)
    first, second = (index.seen_by(principals).question("sales").scores for _ in range(2))
    assert first.snapshot is second.snapshot


def test_changed_groups_change_what_an_open_view_shows(index):
    view = index.seen_by(["sales"])
    assert view.sheet_ids() == ["e", "s"]
    assert [c.sheet_id for c in view.candidates("wages sales")] == ["s", "e"]
    index.permit(lambda record: ["sales", "hr"] if record.sheet_id == "h" else ["hr"])
    assert view.sheet_ids() == ["h"]
    assert [c.sheet_id for c in view.candidates("wages sales")] == ["h"]


def test_a_group_that_no_rule_named_yet_counts_as_soon_as_one_does(index, tmp_path):
    with SheetIndex.open(tmp_path / "a.sat", HashedEncoder()) as other:
        held = other.seen_by(["new", "unknown"])
        retriever, tools = (
            SheetRetriever(other).seen_by(["new"]),
            SheetTools(other).seen_by(["new"]),
        )
        assert held.sheet_ids() == ["e"] and held.principals == ("new", "unknown")
        assert other.groups_in_force(["new", "hr"]) == ("hr",)
        index.permit(lambda record: ["new"] if record.sheet_id == "h" else ["hr"])
        assert held.sheet_ids() == ["h"] == [c.sheet_id for c in held.candidates("wages sales")]
        assert [hit.sheet_id for hit in retriever.retrieve("wages sales")] == ["h"]
        assert [each.sheet for each in tools.find_sheets("wages sales").sheets] == ["h"]
        assert other.seen_by(["new", "more"]).search is held.search  # both see the same
        assert other.groups_in_force(["new", "sales"]) == ("new",)
        index.permit(lambda record: ["hr"])
        assert held.sheet_ids() == [] and other.groups_in_force(["new"]) == ()
        index.permit(None)
        assert held.sheet_ids() == ["e", "h", "s"] and other.groups_in_force(["new"]) is None


def test_a_question_of_one_view_brings_no_sheet_into_another(index):
    asked = index.seen_by(OWNER).question("wages")
    view = index.seen_by(["sales"])
    assert {c.sheet_id for c in view.candidates(asked, 9)} == {"s", "e"}
    again = view.question("wages")
    assert view.candidates(asked, 9) == view.candidates(again, 9)
    assert view.search.evidence(asked) == view.search.evidence(again)
    assert view.search.score_sheets(asked, ["h"]) == [] and view.search.standing(asked, "h") == ()


def test_a_hidden_sheet_is_as_one_that_does_not_exist(index):
    view = index.seen_by(["sales"])
    retriever = SheetRetriever(view)
    for ask in (
        view.search.tokens,
        lambda ids: view.table(ids[0]),
        lambda ids: view.file_of(ids[0]),
        lambda ids: retriever.why("wages", ids[0]),
    ):
        said = []
        for name in ("h", "?"):
            with pytest.raises(InputError) as refused:
                ask([name])
            said.append(str(refused.value).replace(repr(name), "X"))
        assert said[0] == said[1]
    assert view.records(["h"]) == {} and view.workbook_of(["h"]) == {}
    assert [link.target for link in view.links(["s"])] == ["e"] and view.links(["h"]) == []
    assert [hit.sheet_id for hit in retriever.retrieve("wages")] == ["e", "s"]


def test_retrievers_search_for_whom_they_are_told(index):
    retriever = SheetRetriever(index)
    for principals, seen in ((["sales"], {"s", "e"}), (["hr"], {"h", "e"}), ([], {"e"})):
        for find in (retriever.retrieve, retriever.retrieve_set):
            hits = find("sales wages prices", 9, principals=principals)
            assert {hit.sheet_id for hit in hits} <= seen
        hits = retriever.retrieve("sales wages prices", 9, principals=principals)
        assert {hit.sheet_id for hit in hits} == seen
        assert not any(repr(each) in repr(hits) for each in {"s", "h", "e"} - seen)
    assert len(retriever.retrieve("sales", 9, principals=OWNER)) == 3
    with pytest.raises(InputError, match="give a list of names"):
        retriever.retrieve("sales", principals="sales")


def test_filters_by_a_hidden_field_are_refused_without_its_name(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records(
            [SheetRecord("a", "A", metadata={"town": "Ulm"}),
             SheetRecord("b", "B", metadata={"secret_field": 1})]
        )  # fmt: skip
        index.permit(lambda record: ["*"] if record.sheet_id == "a" else ["hr"])
        with pytest.raises(InputError, match="town") as refused:
            index.seen_by([]).search.check_filters(Filters(metadata={"x": 1}))
        assert "secret" not in str(refused.value)


def test_a_view_cannot_be_written_copied_or_made_another_view(index, tmp_path):
    view = index.seen_by(["sales"])
    for change in (
        lambda: view.add_records([SheetRecord("n", "New")]),
        lambda: view.remove(["s"]),
        lambda: view.sync(tmp_path),
        lambda: view.reencode(HashedEncoder(32)),
        lambda: view.name_reranker(None),
        lambda: view.permit(None),
        lambda: view.copied(tmp_path / "copy.sat"),
        view.delete_if_empty,
        lambda: view.seen_by(OWNER),
    ):
        with pytest.raises(PermissionsError):
            change()
    assert not (tmp_path / "copy.sat").exists() and len(index.seen_by(OWNER)) == 3


def test_a_statement_that_names_a_table_itself_is_refused(index):
    store = index.seen_by(["sales"])._seen
    for sql in (
        "SELECT sheet_id FROM main.sheets",
        "SELECT name FROM main.permissions",
        "SELECT value FROM main.meta WHERE key = 'permissions'",
        "SELECT rowid FROM main.lexical WHERE lexical MATCH 'wages'",
        "WITH named AS (SELECT sheet_id FROM main.sheets) SELECT sheet_id FROM named",
    ):
        with pytest.raises(IndexFormatError, match="prohibited"):
            store._rows(sql)
    for sql in ("DELETE FROM principals", "INSERT INTO principals VALUES ('hr')",
                "CREATE TABLE more (x)"):  # fmt: skip
        with pytest.raises((IndexFormatError, IndexStorageError)):
            store._rows(sql)
    assert store.all_sheet_ids() == ["e", "s"]


def test_every_table_of_an_index_file_has_a_view(index):
    """A table of a later version must not be readable because somebody forgot its view."""
    store = index.seen_by(["sales"])._seen
    of_kind = "SELECT name FROM {}.sqlite_master WHERE type = '{}'"
    tables = {row[0] for row in store._rows(of_kind.format("main", "table"))}
    views = {row[0] for row in store._rows(of_kind.format("temp", "view"))}
    inner = ("lexical_", "content_words_", "sqlite_")
    assert {name for name in tables if not name.startswith(inner)} <= views


def test_new_sheets_get_their_groups_when_they_are_written(tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[[rule]]\npaths = "h/*"\ngroups = ["hr"]\n[[rule]]\npaths = "*"\nsheets = "S*"\n'
        'groups = ["*"]\n'
    )
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.permit(rules)
        index.add_records([SheetRecord("a", "S1", path="h/x"), SheetRecord("b", "S2", path="y"),
                           SheetRecord("c", "T", path="y")])  # fmt: skip
        assert index.seen_by([]).sheet_ids() == ["b"]
        assert index.seen_by(["hr"]).sheet_ids() == ["a", "b"]
        assert index.seen_by(OWNER).groups() == {"*": 1, "hr": 1}
    with SheetIndex.open(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records([SheetRecord("d", "S3", path="h/z")])
        assert index.seen_by(["hr"]).sheet_ids() == ["a", "b", "d"]


def test_without_the_function_new_sheets_are_nobodys(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.permit(lambda record: ["*"])
        index.add_records([SheetRecord("a", "A")])
        assert index.seen_by([]).sheet_ids() == ["a"]
    with SheetIndex.open(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records([SheetRecord("b", "B")])
        assert index.seen_by([]).sheet_ids() == ["a"]


def test_permitting_says_what_would_change_and_changes_nothing(index):
    before, generation = index.seen_by(OWNER).groups(), index.generation
    changes = index.permitting(lambda record: ["sales"])
    assert {(x.sheet_id, x.before, x.after) for x in changes} == {
        ("h", ("hr",), ("sales",)), ("e", ("*",), ("sales",)),
    }  # fmt: skip
    assert index.seen_by(OWNER).groups() == before and index.generation == generation
    assert index.permit(lambda record: ["sales"]) == changes
    assert index.generation == generation + 1


def test_views_are_let_go_but_work_for_those_who_hold_them(index):
    first = index.seen_by(["sales"])
    index.permit(lambda record: [f"g{n}" for n in range(40)] + ["sales"])
    for number in range(40):
        assert len(index.seen_by([f"g{number}"])) == 3
    assert len(index._views._held) == 16
    assert len(first) == 3


@pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")
def test_damage_is_told_without_the_names_of_hidden_sheets(index):
    index.seen_by(OWNER)._seen._connection.execute("UPDATE sheets SET crc = crc + 1")
    with pytest.raises(IndexFormatError) as told:
        index.seen_by(["sales"]).records(["s"])
    assert "Wages" not in str(told.value) and "'h'" not in str(told.value)


@pytest.mark.parametrize(
    "written", ["Geh\u00e4lter", "Geha\u0308lter"], ids=["one sign", "two signs"]
)
@pytest.mark.parametrize(
    "named", ["Geh\u00e4lter", "Geha\u0308lter"], ids=["one sign", "two signs"]
)
def test_a_rule_is_for_a_name_however_unicode_writes_its_letters(written, named):
    """Else a folder that was packed on macOS would fall to the rules below, for everyone."""
    rules = Rules((Rule(f"{written}/*", ("hr",)), Rule("*", ("hr",), written), Rule("*", ("*",))))
    assert rules.groups_of(SheetRecord("a", "x", path=f"{named}/a.xlsx")) == ("hr",)
    assert rules.groups_of(SheetRecord("a", named, path="a.xlsx")) == ("hr",)
