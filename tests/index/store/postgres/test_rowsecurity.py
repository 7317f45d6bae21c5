"""Permissions in PostgreSQL: two roles, row-level security, and the same answers as a file."""

from __future__ import annotations

import random
import uuid

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sat_retriever import (
    OWNER,
    IndexStorageError,
    Link,
    PermissionsError,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
)
from sat_retriever.index.store.opening import migrate_store
from sat_retriever.index.store.place import place_of
from sat_retriever.index.store.postgres import schema
from sat_retriever.index.store.postgres.rowsecurity import FUNCTIONS, SETTING, packed_principals
from sat_retriever.index.store.postgres.schema import PROTECTED, TABLES
from sat_retriever.records.contents import CellText, SheetContents
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

WITHOUT_SHEETS = {"meta", "sat_version"}  # settings of the index, which name no sheet


@pytest.fixture(scope="module")
def role(admin):
    """A role that may only read."""
    name = f"reader_{uuid.uuid4().hex}"
    admin.execute(f"CREATE ROLE {name} LOGIN")
    yield name
    admin.execute(f"DROP OWNED BY {name}")
    admin.execute(f"DROP ROLE {name}")


@pytest.fixture
def reading(postgres, admin, role):
    """Opens an index as that role."""
    opened = []

    def open_index(owned: SheetIndex, encoder=None) -> SheetIndex:
        space = owned.path.namespace
        admin.execute(f"GRANT USAGE ON SCHEMA {space} TO {role}")
        admin.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {space} TO {role}")
        place = postgres.url(space, user=role)
        opened.append(SheetIndex.open(place, encoder or HashedEncoder()))
        return opened[-1]

    yield open_index
    for each in opened:
        each.close()


def sheet(name: str, text: str) -> SheetRecord:
    return SheetRecord(
        name, name.title(), workbook=f"{name}.xlsx", path=f"{name}/{name}.xlsx",
        metadata={name: 1}, contents=SheetContents((CellText("A1", text),)),
    )  # fmt: skip


@pytest.fixture
def index(url):
    """Sheets of sales, of hr, of everyone."""
    with SheetIndex.create(url, HashedEncoder()) as made:
        made.add_records(
            [sheet("sales", "turnover"), sheet("wages", "bonuses"), sheet("prices", "listed")],
            [Link("sales", "wages", "formula", 0.9, "A1"),
             Link("sales", "prices", "formula", 0.9, "A1")],
        )  # fmt: skip
        groups = {"sales": ["sales"], "wages": ["hr"], "prices": ["*"]}
        made.permit(lambda record: groups[record.sheet_id])
        yield made


@given(st.integers(0, 10_000))
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_groups_see_what_an_index_of_their_sheets_alone_would_show(
    tmp_path_factory, postgres, reading, seed
):
    folder, draw = tmp_path_factory.mktemp("property"), random.Random(seed)
    records, groups = corpus(seed)
    links = links_among(draw, [record.sheet_id for record in records])
    with alone(postgres.url(f"t{uuid.uuid4().hex}"), records, links) as owned:
        owned.permit(lambda record: groups[record.sheet_id])
        whole = reading(owned)
        for number in range(2):
            principals = draw.sample(GROUPS, draw.randint(0, len(GROUPS)))
            seen = visible(records, groups, principals)
            with alone(folder / f"{number}.sat", seen, links) as only:
                assert_equal_views(whole.seen_by(principals), only, queries(draw, records, 6))


def rows_seen(connection, space: str) -> dict[str, list]:
    """All rows of all tables and views, as plain SQL reads them."""
    return {
        table: connection.execute(f'SELECT * FROM "{space}".{table}').fetchall()
        for table in (*TABLES, "seen_workbooks")
    }


def test_a_reader_sees_rows_of_visible_sheets_alone_over_plain_sql(index, reading, postgres, role):
    space = reading(index).path.namespace
    with psycopg.connect(postgres.conninfo, user=role, autocommit=True) as plain:
        found = rows_seen(plain, space)
        assert {table for table, rows in found.items() if rows} == WITHOUT_SHEETS
        assert "hr" not in str(found["meta"]) and "permissions" not in dict(found["meta"])

        plain.execute(f"SELECT set_config('{SETTING}', %s, false)",
                      (packed_principals(["sales", "*"]),))  # fmt: skip
        found = rows_seen(plain, space)
        assert {row[2] for row in found["sheets"]} == {"sales", "prices"}
        assert [row[1] for row in found["links"]] == ["prices"]
        for table in ("tokens", "contents", "words", "vectors", "fields"):
            assert len(found[table]) == 2, table
        for table in ("workbooks", "spellings", "key_blocks", "copy_blocks", "stale_copies"):
            assert found[table] == [], table
        assert "wages" not in str(found) and "bonuses" not in str(found)
        for call in ("seen_names('1wage', -1)", "seen_contents('{bonus}', '{bonus}', '[]', 9)"):
            assert plain.execute(f'SELECT "{space}".{call}').fetchall() == [(None,)]
        spelled = f"""SELECT "{space}".seen_spellings('bon', 'boo', 'x', 'y', 'b', 1, 99)"""
        assert plain.execute(spelled).fetchall() == []

        plain.execute(f"SELECT set_config('{SETTING}', 'hr', false)")
        assert plain.execute(spelled).fetchall() == [("bonuses",)]
        for write in ("DELETE FROM {}.sheets", "INSERT INTO {}.permissions VALUES (1, 'hr')",
                      "UPDATE {}.meta SET value = 'x'", "ALTER TABLE {}.sheets DISABLE ROW LEVEL "
                      "SECURITY", "DROP POLICY seen ON {}.sheets"):  # fmt: skip
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                plain.execute(write.format(f'"{space}"'))
    assert len(index.seen_by(OWNER)) == 3


def test_temporary_tables_of_a_reader_are_none_of_the_index(index, reading, postgres, role):
    """The functions run as the owner: they must not see, and thereby run, what a reader made."""
    space = reading(index).path.namespace
    with psycopg.connect(postgres.conninfo, user=role, autocommit=True) as plain:
        for sql in (
            "CREATE FUNCTION pg_temp.who() RETURNS text LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'run as %', current_user; END $$",
            "CREATE TEMP TABLE permissions AS "
            "SELECT n::bigint AS sheet, 'x'::text AS name FROM generate_series(1, 99) n",
            "CREATE TEMP VIEW words AS SELECT n::bigint AS id, ARRAY[pg_temp.who()] AS names, "
            "ARRAY['bonus'] AS contents FROM generate_series(1, 9) n",
            "GRANT SELECT ON permissions, words TO PUBLIC",
        ):
            plain.execute(sql)
        plain.execute(f"SELECT set_config('{SETTING}', 'x', false)")
        for call in ("seen_names('1wage', -1)", "seen_contents('{bonus}', '{bonus}', '[]', 9)"):
            assert plain.execute(f'SELECT "{space}".{call}').fetchall() == [(None,)]
        spelled = f"""SELECT "{space}".seen_spellings('bon', 'boo', 'x', 'y', 'b', 1, 99)"""
        assert plain.execute(spelled).fetchall() == []


def test_functions_of_an_earlier_index_look_in_its_schema_alone_as_well(url, admin, monkeypatch):
    def paths():
        found = admin.execute(
            "SELECT setting FROM pg_proc, unnest(proconfig) AS setting WHERE prosecdef AND "
            "pronamespace = %s::regnamespace AND setting LIKE 'search_path=%%'", (space,)
        )  # fmt: skip
        return {setting for (setting,) in found.fetchall()}

    space = place_of(url).namespace
    with monkeypatch.context() as earlier:
        earlier.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:3])
        SheetIndex.create(url, HashedEncoder()).close()
        assert not any("pg_temp" in path for path in paths())
    SheetIndex.open(url, HashedEncoder()).close()
    assert paths() == {f"search_path={space}, pg_temp"}


def test_every_function_that_runs_as_the_owner_looks_in_its_schema_alone(index, admin):
    found = admin.execute(
        "SELECT proconfig FROM pg_proc WHERE prosecdef AND pronamespace = %s::regnamespace",
        (index.path.namespace,),
    ).fetchall()
    assert len(found) == len(FUNCTIONS)
    assert all(f"search_path={index.path.namespace}, pg_temp" in own for (own,) in found)


def test_every_table_is_protected(index, admin):
    """A table of a later version must not be readable because somebody forgot its policy."""
    found = admin.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r' "
        "AND relrowsecurity", (index.path.namespace,)
    )  # fmt: skip
    assert {row[0] for row in found.fetchall()} == set(PROTECTED) == set(TABLES) - {"sat_version"}


def test_a_reader_searches_for_groups_and_cannot_be_the_owner(index, reading, tmp_path):
    whole = reading(index)
    retriever = SheetRetriever(whole)
    for principals, seen in (
        (["sales"], ["prices", "sales"]), (["hr"], ["prices", "wages"]), ([], ["prices"]),
    ):  # fmt: skip
        view = whole.seen_by(principals)
        assert view.sheet_ids() == seen and view.status()["sheets"] == len(seen)
        hits = retriever.retrieve("sales wages prices", 9, principals=principals)
        assert sorted(hit.sheet_id for hit in hits) == seen
    with pytest.raises(PermissionsError, match="does not see all sheets"):
        whole.seen_by(OWNER)
    with pytest.raises(PermissionsError, match="say who asks"):
        whole.candidates("sales")
    for change in (lambda: view.remove(["sales"]), lambda: view.copied(tmp_path / "a.sat"),
                   lambda: view.permit(None), view.delete_if_empty):  # fmt: skip
        with pytest.raises(PermissionsError):
            change()
    with pytest.raises(IndexStorageError):
        whole.permit(None)


def test_a_role_that_sees_all_sheets_is_refused_as_a_group(index):
    with pytest.raises(PermissionsError, match="as a role that may only read"):
        index.seen_by(["sales"])
    assert len(index.seen_by(OWNER)) == 3


def test_groups_of_one_search_do_not_stay_for_the_next(index, reading):
    whole = reading(index)
    assert len(whole.seen_by(["hr"])) == 2
    assert whole._store._rows("SELECT * FROM sheets") == []
    assert len(whole.seen_by(["sales"])) == 2 and len(whole.seen_by([])) == 1


def test_a_group_that_no_rule_named_yet_counts_as_soon_as_one_does(index, reading):
    held = reading(index).seen_by(["new"])
    before = len(held)
    index.permit(lambda record: ["new"])
    assert before < len(held) == 3 == len(held.candidates("wages"))


def test_without_permissions_a_reader_sees_all_as_before(index, reading):
    index.permit(None)
    whole = reading(index)
    assert len(whole) == 3 and len(whole.candidates("wages")) == 3
    assert len(whole.seen_by(["sales"])) == 3
    index.permit(lambda record: ["sales"])
    with pytest.raises(PermissionsError):
        whole.candidates("wages")
    assert len(whole.seen_by(["sales"])) == 3 and len(whole.seen_by([])) == 0


def test_tokens_of_another_encoder_are_protected_as_well(index, reading):
    index.seen_by(OWNER).reencode(HashedEncoder(32))
    whole = reading(index, HashedEncoder(32))
    assert whole._store._rows("SELECT * FROM vectors") == []


def test_groups_move_from_a_file_to_the_database_and_back(url, reading, tmp_path):
    records, groups = corpus(3, 20)
    with alone(tmp_path / "a.sat", records, []) as file:
        file.permit(lambda record: groups[record.sheet_id])
        migrate_store(tmp_path / "a.sat", place_of(url))
        with SheetIndex.open(url, HashedEncoder()) as owned:
            whole = reading(owned)
            asked = queries(random.Random(1), records, 4)
            assert_equal_views(whole.seen_by(["hr"]), file.seen_by(["hr"]), asked)
            with owned.seen_by(OWNER).copied(tmp_path / "b.sat") as back:
                assert_equal_views(back.seen_by(["hr"]), file.seen_by(["hr"]), asked)


@pytest.mark.parametrize(
    ("function", "values", "used"),
    [
        ("seen_names", ("'0w77'", "-1"), ("words_of_names",)),
        ("seen_contents", ("'{w77}'::text[]", "'{w78}'::text[]", "'[]'::jsonb", "9"),
         ("words_of_contents",)),
        ("seen_spellings", ("'w77'", "'w78'", "'77w'", "'77x'", "'w'", "1", "9"),
         ("words_of_names", "words_of_contents", "spellings_pkey", "spellings_reversed")),
    ],
)  # fmt: skip
def test_words_are_found_by_their_indexes(index, admin, function, values, used):
    """A policy would keep those from being used, since operators of arrays may leak."""
    space = index.path.namespace
    with admin.transaction():
        admin.execute(f'SET LOCAL search_path = "{space}"')
        for sql in (
            "INSERT INTO sheets OVERRIDING SYSTEM VALUE SELECT 1000 + n, 1000 + n, 's' || n, "
            "NULL, '', '', '', '', '', '', '', '', 0 FROM generate_series(1, 5000) n",
            "INSERT INTO words SELECT 1000 + n, ARRAY['0w' || n], ARRAY['w' || n, 'w' || n + 1] "
            "FROM generate_series(1, 5000) n",
            "INSERT INTO spellings SELECT 'w' || n, reverse('w' || n), 'w' || n "
            "FROM generate_series(1, 5000) n",
            "INSERT INTO permissions SELECT 1000 + n, 'sales' FROM generate_series(1, 5000) n",
            "ANALYZE sheets, words, spellings, permissions",
        ):
            admin.execute(sql)
        found = admin.execute(
            "SELECT prosrc, proconfig FROM pg_proc WHERE proname = %s "
            "AND pronamespace = %s::regnamespace",
            (function, space),
        )
        asked, own_settings = found.fetchone()
        for setting in own_settings:
            if not setting.startswith("search_path"):
                admin.execute(f"SET LOCAL {setting}")
        for number, value in enumerate(values, start=1):
            asked = asked.replace(f"${number}", value)
        plan = "\n".join(row[0] for row in admin.execute(f"EXPLAIN {asked}").fetchall())
        assert all(name in plan for name in used), plan
