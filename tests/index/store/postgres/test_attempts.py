"""Attempts of an attacker on an index in PostgreSQL, a table for each way in.

The threat model (docs/about/security.md) has their numbers, which `tests/serve/test_attempts.py`
compares.
"""

from __future__ import annotations

import random
import sqlite3
import string
import uuid
from contextlib import closing
from itertools import pairwise

import psycopg
import pytest
from openpyxl import Workbook

from sat_retriever import (
    OWNER,
    Filters,
    IndexFormatError,
    Link,
    PermissionsError,
    SatError,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
)
from sat_retriever.index.store.opening import migrate_store
from sat_retriever.index.store.place import place_of
from sat_retriever.index.store.postgres.database import connected, exists
from sat_retriever.records.contents import CellText, SheetContents
from sat_retriever.records.sheets import SkipReason
from tests.fakes import HashedEncoder

SECRET = "quixotic"  # a word of the hidden sheet alone
GROUPS = {"sales": ["sales"], "wages": ["hr"], "prices": ["*"]}


def sheet(name: str, text: str) -> SheetRecord:
    return SheetRecord(
        name, name.title(), workbook=f"{name}.xlsx", path=f"{name}/{name}.xlsx",
        metadata={name: 1}, contents=SheetContents((CellText("A1", text),)),
    )  # fmt: skip


@pytest.fixture(scope="module")
def roles(admin):
    """A role that owns indexes, one that may only read them, and one with rights of its own."""
    admin.execute("CREATE EXTENSION IF NOT EXISTS vector")
    names = tuple(f"{kind}_{uuid.uuid4().hex}" for kind in ("owner", "reader", "other"))
    for name in names:
        admin.execute(f"CREATE ROLE {name} LOGIN")
    admin.execute(f"GRANT CREATE ON DATABASE postgres TO {names[0]}")
    yield names
    for name in names:
        admin.execute(f"DROP OWNED BY {name} CASCADE")
        admin.execute(f"DROP ROLE {name}")


def made(postgres, roles, **more) -> SheetIndex:
    """An index of three sheets, each for a group of its own, that the second role may read."""
    owner, reader, _other = roles
    space = f"a{uuid.uuid4().hex}"
    index = SheetIndex.create(postgres.url(space, user=owner, **more), HashedEncoder())
    index.add_records(
        [sheet("sales", "turnover"), sheet("wages", SECRET), sheet("prices", "listed")],
        [Link(a, b, "formula", 0.9, f"{a}!A1") for a in GROUPS for b in GROUPS],
    )
    index.permit(lambda record: GROUPS[record.sheet_id])
    with psycopg.connect(postgres.conninfo, user=owner, autocommit=True) as owned:
        owned.execute(f"GRANT USAGE ON SCHEMA {space} TO {reader}")
        owned.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {space} TO {reader}")
    return index


@pytest.fixture(scope="module")
def own(postgres, admin, roles):
    with made(postgres, roles) as index:
        yield index


@pytest.fixture(scope="module")
def read(own, postgres, roles):
    """The same index, as the role that may only read."""
    with SheetIndex.open(postgres.url(own.path.namespace, user=roles[1]), HashedEncoder()) as index:
        yield index


# ---- whoever has the role that may only read, and plain SQL

LEAK = (
    "CREATE FUNCTION pg_temp.leak(text) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS "
    "$$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$"
)
STATEMENTS = (
    *(f"SELECT * FROM {table} t WHERE pg_temp.leak(t::text)" for table in (
        "sheets", "fields", "tokens", "contents", "words", "vectors", "links", "permissions",
        "external_references", "periods", "key_columns", "copies", "workbooks", "spellings",
        "seen_workbooks", "unsettled", "stale_copies", "key_blocks", "copy_blocks",
    )),
    "SELECT * FROM sheets WHERE sheet_id::int = 1", "SELECT 1 / (id - 2) FROM sheets",
    "SELECT * FROM seen_workbooks WHERE path::int = 1", "SELECT sheet_id::xml FROM sheets",
    "COPY words TO PROGRAM 'cat'",
    "COPY sheets TO '/tmp/sheets'", "SELECT pg_read_file('postgresql.conf')",
    "SELECT pg_ls_dir('.')", "SELECT lo_import('/etc/passwd')", "CREATE EXTENSION dblink",
    "SET row_security = off; SELECT * FROM sheets", "SET ROLE postgres", "SET ROLE {owner}",
    "SET SESSION AUTHORIZATION {owner}", "SELECT * FROM sheets TABLESAMPLE SYSTEM (100)",
    "SELECT * FROM sheets WHERE ctid = '(0,2)'", "SELECT * FROM ONLY sheets FOR UPDATE",
    "SELECT * FROM sheets LEFT JOIN words USING (id)", "TABLE words",
    "SELECT count(*) FROM sheets HAVING count(*) > 2",
    "WITH RECURSIVE r AS (SELECT target FROM links UNION SELECT l.target FROM links l, r "
    "WHERE l.source = r.target) SELECT * FROM r WHERE target = 'wages'",
    "SELECT * FROM vectors ORDER BY token::text LIMIT 9 OFFSET 2",
    "LOCK TABLE sheets IN EXCLUSIVE MODE", "SELECT nextval('stored_keys')",
    "SELECT last_value FROM sheets_id_seq", "SELECT last_value FROM pg_sequences "
    "WHERE schemaname = current_schema() AND last_value IS NOT NULL",
    "SELECT * FROM pg_stats WHERE schemaname = current_schema()",
    "SELECT * FROM pg_statistic", "SELECT * FROM pg_authid", "SELECT * FROM pg_hba_file_rules",
    "CREATE TABLE mine (a bigint)", "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE TEMP TABLE t (a bigint REFERENCES sheets (id))", "CREATE INDEX ON sheets (id)",
    "CREATE TRIGGER t BEFORE INSERT ON sheets EXECUTE FUNCTION pg_temp.leak()",
    "CREATE RULE r AS ON INSERT TO sheets DO NOTHING", "CREATE POLICY p ON sheets USING (true)",
    "ALTER TABLE sheets NO FORCE ROW LEVEL SECURITY", "ALTER FUNCTION known_groups RESET ALL",
    "ALTER ROLE {reader} BYPASSRLS", "GRANT {owner} TO {reader}",
    "CREATE PUBLICATION p FOR TABLE sheets",
    "TRUNCATE stale_copies", "UPDATE meta SET value = ''", "DELETE FROM links",
    "INSERT INTO permissions VALUES (2, 'sales')", "MERGE INTO meta m USING sheets s ON true "
    "WHEN MATCHED THEN DELETE", "COMMENT ON TABLE sheets IS 'x'",
    "SELECT seen_names('1wage', -1) WHERE seen_names('1wage', -1) IS NOT NULL",
    "SELECT f FROM seen_contents('{{quixot}}', '{{quixot}}', '[]', NULL) f WHERE f IS NOT NULL",
    "SELECT seen_contents('{{quixot}}', '{{quixot}}', '{{}}', 9)",
    "SELECT seen_spellings('', '~', '', '~', 'q', 0, 99)",
    "SELECT value FROM meta WHERE key = 'permissions'",
    "SELECT query FROM pg_stat_activity WHERE query LIKE '%wages%' AND pid <> pg_backend_pid()",
)  # fmt: skip


def test_sql_of_a_role_that_may_only_read_tells_nothing_of_a_hidden_sheet(own, postgres, roles):
    owner, reader, _other = roles
    told = []
    with psycopg.connect(postgres.conninfo, user=reader, autocommit=True) as plain:
        plain.add_notice_handler(lambda notice: told.append(notice.message_primary))
        plain.execute(f"SET search_path = {own.path.namespace}")
        plain.execute(LEAK)
        plain.execute("SELECT set_config('sat.principals', 'sales' || chr(31) || '*', false)")
        for sql in STATEMENTS:
            told.append(sql.replace(SECRET[:6], "").replace("wage", "").replace("hr", ""))
            try:
                cursor = plain.execute(sql.format(owner=owner, reader=reader))
                told += map(str, cursor.fetchall() if cursor.description else ["done"])
            except psycopg.Error as error:
                told.append(str(error))
            plain.execute("SET row_security = on")
    for each, said in pairwise(told):
        assert "wages" not in said and SECRET[:6] not in said and "hr'" not in said, each
    assert "done" not in told


def test_what_is_copied_out_is_what_may_be_seen(own, postgres, roles):
    with psycopg.connect(postgres.conninfo, user=roles[1], autocommit=True) as plain:
        plain.execute(f"SET search_path = {own.path.namespace}")
        plain.execute("SET sat.principals = 'sales'")
        for copied in ("COPY sheets TO STDOUT", "COPY (SELECT * FROM words) TO STDOUT"):
            with plain.cursor().copy(copied) as rows:
                assert [b"wage" in bytes(row) for row in rows] == [False]


# ---- whoever may create beside the index

OPERATOR = (
    "CREATE FUNCTION {place}.trap(text[], text[]) RETURNS bool LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE 'run as %', current_user; END $$",
    "CREATE OPERATOR {place}.@> (LEFTARG = text[], RIGHTARG = text[], FUNCTION = {place}.trap)",
    "CREATE OPERATOR {place}.&& (LEFTARG = text[], RIGHTARG = text[], FUNCTION = {place}.trap)",
)


def test_an_operator_beside_pgvector_is_not_run_by_whoever_searches(postgres, admin, roles):
    """It fits words better than the server's own, and would have the rights of who searches."""
    owner, _reader, other = roles
    beside = "public"
    admin.execute(f"GRANT CREATE ON SCHEMA {beside} TO {other}")
    with (
        psycopg.connect(postgres.conninfo, user=other, autocommit=True) as hostile,
        made(postgres, roles) as index,
    ):
        try:
            for each in OPERATOR:
                hostile.execute(each.format(place=beside))
            hostile.execute(f"SET search_path = {beside}")
            with pytest.raises(psycopg.Error, match="run as other"):
                hostile.execute("SELECT ARRAY['a'] @> ARRAY['a']")  # that is how it would be run
            index.seen_by(OWNER).reencode(HashedEncoder(32))
            place = postgres.url(index.path.namespace, user=owner)
            with SheetIndex.open(place, HashedEncoder(32)) as again:
                found = SheetRetriever(again).retrieve(f"{SECRET} listed", principals=OWNER)
                assert len(found) == 3
                again.seen_by(OWNER).remove(["sales"])
        finally:
            admin.execute(f"DROP FUNCTION {beside}.trap CASCADE")
            admin.execute(f"REVOKE CREATE ON SCHEMA {beside} FROM {other}")


@pytest.mark.parametrize("grantee", ["PUBLIC", "{other}"])
def test_a_schema_in_which_others_may_create_is_refused(postgres, roles, admin, grantee):
    with made(postgres, roles) as index:
        space = index.path.namespace
        admin.execute(f"GRANT CREATE ON SCHEMA {space} TO {grantee.format(other=roles[2])}")
        with pytest.raises(IndexFormatError, match="may create in the schema"):
            SheetIndex.open(postgres.url(space, user=roles[1]))
        with pytest.raises(IndexFormatError, match="may create in the schema"):
            index.seen_by(OWNER).remove(["sales"])
        admin.execute(f"REVOKE CREATE ON SCHEMA {space} FROM {grantee.format(other=roles[2])}")
        assert index.seen_by(OWNER).remove(["sales"]) == 1


# ---- whoever hands over a dump

RUN = "CREATE FUNCTION far.run() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'run'; END $$"
DUMPS = {
    "an operator": [*OPERATOR],
    "a function": ["CREATE FUNCTION length(text) RETURNS int LANGUAGE sql AS 'SELECT 1'"],
    "a function with the name of one of ours": [
        "CREATE OR REPLACE FUNCTION known_groups(text[]) RETURNS SETOF text LANGUAGE sql "
        "SECURITY DEFINER AS 'SELECT current_user::text'",
    ],
    "an overload of one of ours": [
        "CREATE FUNCTION seen_names(text, int) RETURNS bytea LANGUAGE sql AS 'SELECT NULL::bytea'"
    ],
    "an aggregate": ["CREATE AGGREGATE string_agg(text) (SFUNC = textcat, STYPE = text)"],
    "a policy": [RUN, "CREATE POLICY p ON meta USING (far.run())"],
    "a changed policy": [RUN, "ALTER POLICY seen ON words USING (far.run())"],
    "a default": [RUN, "ALTER TABLE tokens ALTER COLUMN name SET DEFAULT far.run()::text"],
    "a condition": [RUN, "ALTER TABLE links ADD CHECK (far.run()) NOT VALID"],
    "a view": [
        RUN, "CREATE OR REPLACE VIEW seen_workbooks AS SELECT * FROM workbooks WHERE far.run()"
    ],
    "an index": [
        "CREATE FUNCTION far.key(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS "
        "$$ BEGIN RETURN $1; END $$", "CREATE INDEX ON sheets (far.key(sheet_id))",
    ],
    "an operator of a policy": [
        RUN, "CREATE FUNCTION far.is(text, text) RETURNS bool LANGUAGE sql AS 'SELECT far.run()'",
        "CREATE OPERATOR far.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = far.is)",
        "CREATE POLICY p ON sheets USING (sheet_id OPERATOR(far.===) 'x')",
    ],
    "a trigger on no row": [
        "CREATE FUNCTION far.t() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "CREATE TRIGGER t AFTER TRUNCATE ON links EXECUTE FUNCTION far.t()",
    ],
    "a rule": ["CREATE RULE r AS ON INSERT TO permissions DO ALSO DELETE FROM links"],
    "a partition": [
        "ALTER TABLE unsettled RENAME TO u", "CREATE TABLE unsettled (kind text, name text) "
        "PARTITION BY LIST (kind)",
    ],
}  # fmt: skip


@pytest.mark.parametrize("changes", DUMPS.values(), ids=DUMPS)
def test_a_dump_with_what_no_index_has_is_refused_before_it_runs(changes, postgres, admin):
    url = postgres.url(f"a{uuid.uuid4().hex}")
    space = place_of(url).namespace
    SheetIndex.create(url, HashedEncoder()).close()
    admin.execute("CREATE SCHEMA far")
    try:
        admin.execute(f"SET search_path = {space}")
        for each in changes:
            admin.execute(each.replace("{place}", space))
        with pytest.raises(IndexFormatError, match="which no index of this package"):
            SheetIndex.open(url)
    finally:
        admin.execute(f"RESET search_path; DROP SCHEMA {space}, far CASCADE")


@pytest.mark.parametrize("table", ["contents", "links", "words", "permissions", "meta"])
def test_a_table_that_lost_its_protection_is_not_read_for_groups(table, postgres, roles):
    """As after a restore of single tables, or without policies."""
    with made(postgres, roles) as index:
        space = index.path.namespace
        with psycopg.connect(postgres.conninfo, user=roles[0], autocommit=True) as owned:
            owned.execute(f"ALTER TABLE {space}.{table} DISABLE ROW LEVEL SECURITY")
        with (
            SheetIndex.open(postgres.url(space, user=roles[1]), HashedEncoder()) as whole,
            pytest.raises(PermissionsError, match="free of row-level security"),
        ):
            whole.seen_by(["sales"])


@pytest.mark.parametrize("note", ["x", "9" * 5_000, "", "1.5"])
def test_a_number_of_writes_that_is_none_is_told(note, postgres, admin, roles):
    with made(postgres, roles) as index:
        admin.execute(
            f"UPDATE {index.path.namespace}.meta SET value = '{note}' WHERE key = 'generation'"
        )
        with pytest.raises(IndexFormatError, match="number of its writes"):
            SheetRetriever(index).retrieve("listed", principals=OWNER)


ROWS = (
    "UPDATE meta SET value = 'x' WHERE key = 'width'", "UPDATE sheets SET record = '{'",
    "UPDATE sheets SET record = '5'", "UPDATE sheets SET record = '{\"role\": [1]}'",
    "UPDATE sheets SET metadata = '['", "UPDATE sheets SET metadata = '[1]'",
    "UPDATE sheets SET metadata = '{\"a\": {\"b\": 1}}'", "UPDATE sheets SET path = x'ff'",
    "UPDATE sheets SET sheet_id = 'a' || char(0)", "UPDATE tokens SET words = 1.5",
    "UPDATE tokens SET token = 'x'", "UPDATE tokens SET token = x'000000'",
    "UPDATE contents SET packed = x'00'", "INSERT INTO permissions VALUES (99, 'x')",
    "UPDATE links SET weight = 'x'", "DELETE FROM meta",
    "UPDATE sheets SET metadata = replace(printf('%.*c', 9999, '['), ' ', '[')",
)  # fmt: skip


@pytest.mark.parametrize("change", ROWS)
def test_a_file_with_rows_of_others_is_refused_and_leaves_nothing(change, postgres, tmp_path):
    file, place = tmp_path / "a.sat", place_of(postgres.url(f"a{uuid.uuid4().hex}"))
    with SheetIndex.create(file, HashedEncoder()) as index:
        index.add_records([sheet("sales", "turnover")], [Link("sales", "sales", "formula", 0.9)])
        index.permit(lambda record: ["sales"])
    with closing(sqlite3.connect(file)) as changed:
        changed.execute(change)
        changed.commit()
    with pytest.raises(SatError):
        migrate_store(file, place)
    assert not exists(place)


def test_a_workbook_with_names_too_long_keeps_no_other_from_being_indexed(url, tmp_path):
    def random_text(size: int) -> str:  # an index of the server would take a repeated one
        return "".join(random.Random(size).choices(string.ascii_letters, k=size))

    for size in (1_400, 5_000):
        book = Workbook()
        with pytest.warns(UserWarning, match="31"):
            book.active.title = random_text(size)
        book.active.append(["rent", "region"])
        book.active.append([1, "North"])
        book.save(tmp_path / f"{size}.xlsx")
    deep = tmp_path.joinpath(*map(random_text, range(200, 215)))
    deep.mkdir(parents=True)
    (deep / "deep.csv").write_text("rent,region\n1,North\n")
    (tmp_path / "good.csv").write_text("rent,region\n1,North\n")
    with SheetIndex.create(url, HashedEncoder()) as index:
        for _again in range(2):
            report = index.sync(tmp_path)
            told = [each.path.rpartition("/")[2] for each in report.skipped]
            assert sorted(told) == ["1400.xlsx", "5000.xlsx", "deep.csv"]
            assert {each.reason for each in report.skipped} == {SkipReason.BAD_NAME}
            assert index.sheet_ids() == ["good.csv#good"]
            assert not _again or report.sheets == 0


# ---- whoever asks for a group

FILTERS = (
    *(Filters(path=path) for path in (
        "wages*", "*wages*", "wages/wages.xlsx", "[w]ages*", "*" * 5_000, "(?i)WAGES*", "***:x",
        "x)|(.*", "%", "?" * 16, "*?" * 2_000, "\0", "[[:alpha:]]*/w*", "'||(SELECT 1)--",
    )),
    Filters(workbook="wages.xlsx"), Filters(metadata={"wages": 1}),
    Filters(metadata={"wages": "1"}),
    Filters(metadata={"wages": float("nan")}), Filters(metadata={"w\0": 1}),
    Filters(workbook="' OR true --"), Filters(metadata={"wages": 10**400}),
)  # fmt: skip
QUESTIONS = (SECRET, "quixotik", "quixotics", "wages", "\0", "%s ? $1 {}", "'" * 500, "q" * 5_000)
NAMES = ("wages", " wages", "wages\0", "w" * 3_000, "' OR true --", "WAGES", "%", "$1", "?")
PEOPLE = (["sales\x1fhr"], ["\x1fhr"], ["hr\0"], ["hr "], ["HR"], ["*hr"], ["{hr}"], ["hr,sales"],
          ["%"], ["' OR true"], [], ["x" * 9_000])  # fmt: skip


def told(call) -> str:
    try:
        return repr(call())
    except SatError as error:
        return str(error)


@pytest.mark.parametrize("filters", FILTERS, ids=lambda x: repr(x)[:60])
def test_a_filter_finds_no_hidden_sheet(filters, read):
    view = read.seen_by(["sales"])
    found = told(lambda: [hit.sheet_id for hit in view.candidates("wages listed", 9, filters)])
    assert "wages" not in found
    assert told(lambda: view.search.count(filters)) not in ("1", "3") or "?" in str(filters)


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda x: repr(x)[:30])
def test_a_question_finds_no_hidden_sheet_and_no_word_of_it(asked, read):
    hits = SheetRetriever(read).retrieve(asked, 9, principals=["sales"])
    assert sorted(hit.sheet_id for hit in hits) == ["prices", "sales"]
    assert "wages.xlsx" not in repr([*hits]) and f"'{SECRET}'" not in repr([*hits])


@pytest.mark.parametrize("name", NAMES, ids=lambda x: repr(x)[:30])
def test_an_id_gives_no_hidden_sheet(name, read):
    view = read.seen_by(["sales"])
    for call in (view.records, view.links, view.places):
        assert SECRET not in told(lambda call=call: call([name]))
        assert "Wages" not in told(lambda call=call: call([name]))


@pytest.mark.parametrize("principals", PEOPLE, ids=lambda x: repr(x)[:30])
def test_a_group_is_no_other_group(principals, read):
    assert "wages" not in told(lambda: read.seen_by(principals).sheet_ids())


def test_a_view_that_is_held_shows_nothing_that_is_hidden_meanwhile(own, read):
    view, listed = read.seen_by(["sales"]), SheetRetriever(read)
    for groups in ({**GROUPS, "prices": ["hr"]}, {**GROUPS, "sales": ["hr"]}, GROUPS):
        own.permit(lambda record, groups=groups: groups[record.sheet_id])
        seen = sorted(x for x, names in groups.items() if {"sales", "*"} & {*names})
        hits = listed.retrieve("turnover listed", 9, principals=["sales"])
        assert view.sheet_ids() == seen == sorted(hit.sheet_id for hit in hits)
        assert view.status()["sheets"] == len(seen)


# ---- the URL

URLS = (
    "postgresql://me:to/HUSH@127.0.0.1:1/d", "postgresql://me:to@HUSH@127.0.0.1:1/d",
    "postgresql://me:to#HUSH@127.0.0.1:1/d", "postgresql://me:to?HUSH@127.0.0.1:1/d",
    "postgresql://me:to:HUSH@127.0.0.1:1/d", "postgresql://me:[HUSH@127.0.0.1:1/d",
    "postgresql://me:HUSH]@127.0.0.1:1/d", "postgresql://me:HUSH%zz@127.0.0.1:1/d",
    "postgresql://a:HUSH@127.0.0.1:1,b:HUSH@127.0.0.1:2/d", "postgresql://127.0.0.1:1/me:HUSH@d",
    "POSTGRES://me:HUSH@127.0.0.1:1/d", "postgresql://me:HUSH\n@127.0.0.1:1/d",
    *(f"postgresql://127.0.0.1:1/d?{name}=HUSH" for name in (
        "password", "PASSWORD", "pass%77ord", "passwd", "pwd", "sslpassword",
        "oauth_client_secret", "scram_client_key", "scram_server_key", "password=a&password",
    )),
    "postgresql://127.0.0.1:1/d?password=HUSH%00",
)  # fmt: skip


@pytest.mark.parametrize("text", URLS)
def test_no_message_has_a_password_however_it_is_written(text):
    with pytest.raises(SatError) as caught:
        connected(place_of(text))
    assert "HUSH" not in f"{caught.value} {caught.value!r}"


COUNTED = (
    len(STATEMENTS) + 2 + 3 + len(DUMPS) + 5 + 4 + 3 + len(ROWS) + len(FILTERS) + len(QUESTIONS)
    + len(NAMES) + len(PEOPLE) + 3 + len(URLS)
)  # fmt: skip
"""Attempts in these tables."""
